/** Reads the CSRF token from the fields of an HTML form. Clients that send JSON put the token into a header instead. */
import type { RestRequest } from '../request';
import { receivedBody } from './body';

const CSRF_FIELD = 'csrfToken';
const FORM_TYPE = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

export async function readCsrfToken({ message, body: readBody }: RestRequest): Promise<string | undefined> {
  if (!FORM_TYPE.test(message.headers['content-type'] ?? '')) return undefined;
  const body = await receivedBody(readBody(true));
  const value = body.form ? body.data.get(CSRF_FIELD)?.at(-1) : undefined;
  return typeof value === 'string' ? value : undefined;
}
