/** Method override for HTML forms, which can only POST: a form field contains the method. */
import type { IncomingMessage } from 'node:http';
import type { PostedForm, RestRequest } from '../request';
import { bodyOrReceivedParts, type ParsedBody } from './body';

const OVERRIDE_METHODS = ['PUT', 'PATCH', 'DELETE'];

/** Hidden field with the single-use key of a form, which works like an Idempotency-Key. */
export const IDEMPOTENCY_KEY_FORM_FIELD = '_key';

/** Hidden field with the row version that a form shows, which works like `If-Match`. */
export const ROW_VERSION_FORM_FIELD = '_version';
const RESERVED_FORM_FIELDS = [
  '_method',
  'csrfToken',
  IDEMPOTENCY_KEY_FORM_FIELD,
  ROW_VERSION_FORM_FIELD,
];

/**
 * Whether a request has the media type of an HTML form. Only signed-in users may send multipart
 * forms, because they can contain files.
 */
const hasFormMediaType = ({ headers }: IncomingMessage, isSignedIn: boolean): boolean => {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();

  return (
    type === 'application/x-www-form-urlencoded' || (isSignedIn && type === 'multipart/form-data')
  );
};

/**
 * Reads the CSRF token from the fields of an HTML form. Clients that send JSON put the token into a
 * header instead.
 */
export const readCsrfToken = async ({
  message,
  readBody,
}: RestRequest): Promise<string | undefined> => {
  if (hasFormMediaType(message, true)) {
    return parsePostedForm(await bodyOrReceivedParts(readBody(true))).csrfToken;
  }

  return undefined;
};

/**
 * Whether a browser session authenticated the request. The method field of a form is for its pages;
 * programs with a token can send any method.
 */
const hasSession = ({ context }: RestRequest): boolean =>
  context.authentication.pageVisitor().csrfToken !== undefined;

/** Replaces the method of a posted HTML form by the value of its method field. */
export async function applyMethodOverride(request: RestRequest): Promise<void> {
  const { readBody } = request;

  if (request.method !== 'POST' || !hasFormMediaType(request.message, request.isSignedIn)) return;
  const form = (request.form = parsePostedForm(await bodyOrReceivedParts(readBody())));

  if (hasSession(request)) request.method = form.method;

  request.readBody = async () => {
    // Throws an error if the form was too large. Its received fields have already been parsed, so
    // that the page can show them again.
    await readBody();
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

  return {
    method: OVERRIDE_METHODS.includes(requestedMethod) ? requestedMethod : 'POST',
    csrfToken: textOfField('csrfToken'),
    formIdempotencyKey: textOfField(IDEMPOTENCY_KEY_FORM_FIELD),
    rowVersion: textOfField(ROW_VERSION_FORM_FIELD),
    values,
    body: { isForm: true, data: fields },
  };
}
