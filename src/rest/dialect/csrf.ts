/** The CSRF token that a form carries among its fields. Other bodies have none: their sender can set a header. */
import type { Request } from '../request';
import { arrivedOf } from './body';

const FIELD = 'csrfToken';
const FORM = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

/** Asked for where a session is known, whose form this is. */
export async function csrfTokenOf({ message, body: read }: Request): Promise<string | undefined> {
  if (!FORM.test(message.headers['content-type'] ?? '')) return undefined;
  const body = await arrivedOf(read(true));
  const value = body.form ? body.data.get(FIELD)?.at(-1) : undefined;
  return typeof value === 'string' ? value : undefined;
}
