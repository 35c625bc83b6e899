/** Forms of HTML can only POST: hidden fields name the method that is meant, or carry JSON. Honoured for pages alone. */
import type { IncomingMessage } from 'node:http';
import { RestError, unsupported } from '../errors';
import type { Request } from '../request';
import { arrivedOf, type Body } from './body';
import { parseJson } from './json';

/** Texts by key, as a form sends them. */
export type TypedTexts = Readonly<Record<string, readonly string[]>>;

const METHODS = ['PUT', 'PATCH', 'DELETE'];
/** Fields that are about the form and not of the row. */
const ABOUT = ['_method', '_content', '_content_type', 'csrfToken'];

export interface PostedForm {
  method: string;
  body: Body;
  csrfToken?: string;
  values: TypedTexts;
  /** The JSON as it was typed. */
  raw?: string;
  /** Why the JSON is of no use. */
  refused?: RestError;
}

/** Files are taken from people who are signed in only. */
const isForm = ({ headers }: IncomingMessage, signedIn: boolean): boolean => {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  return type === 'application/x-www-form-urlencoded' || (signedIn && type === 'multipart/form-data');
};

/** Takes what the form of a page means by its POST. */
export async function takeForm(request: Request): Promise<void> {
  const { body } = request;
  if (request.method !== 'POST' || !isForm(request.message, request.signedIn)) return;
  const form = (request.form = formOf(await arrivedOf(body())));
  request.method = form.method;
  request.body = async () => {
    // A form too large is refused here, where its fields are known already.
    await body();
    if (form.refused) throw form.refused;
    return form.body;
  };
}

export function formOf(body: Body): PostedForm {
  if (!body.form) return { method: 'POST', body, values: {} };
  const text = (key: string): string | undefined => {
    const value = body.data.get(key)?.at(-1);
    return typeof value === 'string' ? value : undefined;
  };
  const wanted = text('_method')?.toUpperCase() ?? '';
  const fields = new Map([...body.data].filter(([key]) => !ABOUT.includes(key)));
  const values = Object.fromEntries([...fields].map(([key, all]) => [key, all.filter((value) => typeof value === 'string')]));
  const form = { method: METHODS.includes(wanted) ? wanted : 'POST', csrfToken: text('csrfToken'), values };
  const raw = text('_content');
  return raw === undefined ? { ...form, body: { form: true, data: fields } } : { ...form, raw, ...json(raw, text('_content_type')) };
}

function json(raw: string, type = 'application/json'): { body: Body; refused?: RestError } {
  if (type !== 'application/json') return { body: { form: false, data: null }, refused: unsupported(type) };
  try {
    return { body: { form: false, data: raw.trim() ? parseJson(() => raw) : {} } };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return { body: { form: false, data: null }, refused: error };
  }
}
