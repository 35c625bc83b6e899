/** Method override for HTML forms, which can only POST: special form fields contain the method or a JSON body. Used only for HTML pages. */
import type { IncomingMessage } from 'node:http';
import { RestError, unsupportedMediaTypeError } from '../errors';
import type { RestRequest } from '../request';
import { bodyOrPartsOfOversizedForm, type ParsedBody } from './body';
import { parseJson } from './jsonparser';

export type FormTextValues = Readonly<Record<string, readonly string[]>>;

const OVERRIDE_METHODS = ['PUT', 'PATCH', 'DELETE'];
/** Hidden field with the single-use key of a form, which works like an Idempotency-Key. */
export const IDEMPOTENCY_KEY_FORM_FIELD = '_key';
/** Hidden field with the row version that a form shows, which works like `If-Match`. */
export const ROW_VERSION_FORM_FIELD = '_version';
const RESERVED_FORM_FIELDS = [
  '_method',
  '_content',
  '_content_type',
  'csrfToken',
  IDEMPOTENCY_KEY_FORM_FIELD,
  ROW_VERSION_FORM_FIELD,
];

export interface PostedForm {
  method: string;
  body: ParsedBody;
  csrfToken?: string;
  formIdempotencyKey?: string;
  rowVersion?: string;
  values: FormTextValues;
  jsonText?: string;
  jsonError?: RestError;
}

/** Whether a request has the media type of an HTML form. Multipart forms, which may contain files, are accepted only from signed-in users. */
const hasFormMediaType = ({ headers }: IncomingMessage, isSignedIn: boolean): boolean => {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  return (
    type === 'application/x-www-form-urlencoded' || (isSignedIn && type === 'multipart/form-data')
  );
};

/** Reads the CSRF token from the fields of an HTML form. Clients that send JSON put the token into a header instead. */
export const readCsrfToken = async ({
  message,
  readBody,
}: RestRequest): Promise<string | undefined> =>
  hasFormMediaType(message, true)
    ? parsePostedForm(await bodyOrPartsOfOversizedForm(readBody(true))).csrfToken
    : undefined;

/** Applies the method override of an HTML form to its POST request: fields of the form determine the method and the body. */
export async function applyMethodOverride(request: RestRequest): Promise<void> {
  const { readBody } = request;
  if (request.method !== 'POST' || !hasFormMediaType(request.message, request.isSignedIn)) return;
  const form = (request.form = parsePostedForm(await bodyOrPartsOfOversizedForm(readBody())));
  request.method = form.method;
  request.readBody = async () => {
    // Throws an error if the form was too large. Its received fields have already been parsed at this point, so that the page can show them again.
    await readBody();
    if (form.jsonError) throw form.jsonError;
    return form.body;
  };
}

export function parsePostedForm(body: ParsedBody): PostedForm {
  if (!body.isForm) return { method: 'POST', body, values: {} };
  const textOfField = (key: string): string | undefined => {
    const value = body.data.get(key)?.at(-1);
    return typeof value === 'string' ? value : undefined;
  };
  const requestedMethod = textOfField('_method')?.toUpperCase() ?? '';
  const fields = new Map([...body.data].filter(([key]) => !RESERVED_FORM_FIELDS.includes(key)));
  const values = Object.fromEntries(
    [...fields].map(([key, fieldValues]) => [
      key,
      fieldValues.filter((value) => typeof value === 'string'),
    ]),
  );
  const form = {
    method: OVERRIDE_METHODS.includes(requestedMethod) ? requestedMethod : 'POST',
    csrfToken: textOfField('csrfToken'),
    formIdempotencyKey: textOfField(IDEMPOTENCY_KEY_FORM_FIELD),
    rowVersion: textOfField(ROW_VERSION_FORM_FIELD),
    values,
  };
  const rawJson = textOfField('_content');
  return rawJson === undefined
    ? { ...form, body: { isForm: true, data: fields } }
    : { ...form, jsonText: rawJson, ...parseRawJson(rawJson, textOfField('_content_type')) };
}

function parseRawJson(
  rawJson: string,
  contentType = 'application/json',
): { body: ParsedBody; jsonError?: RestError } {
  if (contentType !== 'application/json')
    return {
      body: { isForm: false, data: null },
      jsonError: unsupportedMediaTypeError(contentType),
    };
  try {
    return { body: { isForm: false, data: rawJson.trim() ? parseJson(() => rawJson) : {} } };
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return { body: { isForm: false, data: null }, jsonError: error };
  }
}
