/** The CSRF token that a form carries among its fields. Other bodies have none: their sender can set a header. */
import type { IncomingMessage } from 'node:http';
import type { Body } from './body';

const FIELD = 'csrfToken';
const FORM = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

export async function csrfTokenOf(request: IncomingMessage, read: () => Promise<Body>): Promise<string | undefined> {
  if (!FORM.test(request.headers['content-type'] ?? '')) return undefined;
  const body = await read();
  const value = body.form ? body.data.get(FIELD)?.at(-1) : undefined;
  return typeof value === 'string' ? value : undefined;
}
