/** `POST /login/`: the body's name and password for a token. */
import { NOT_A_STRING, NOT_BLANK, NOT_NULL, REQUIRED } from '../contract/messages';
import type { ArgumentLimits } from '../contract/facts';
import { trimmed } from '../platform/reading';
import type { Body } from './dialect/body';
import { invalid } from './errors';
import { notAnObject, objectOf } from './dialect/input';
import { isNumber, valueOf } from './dialect/json';

/** Below the base of the API. */
export const PATH = 'login';
export const TITLE = 'User Api Login';
export const HINT = { message: "You must send a 'username' and 'password' via POST" };
export const DOCUMENT = 'mutation ($username: String!, $password: String!) { login(username: $username, password: $password) { token } }';

/** The variables of the mutation; 400 with the messages of each field, those of `limits` among them. */
export function credentials(body: Body, limits: ArgumentLimits = {}): { username: string; password: string } {
  const data = objectOf(body) ?? notAnObject(body);
  const errors: Record<string, string[]> = {};
  const read = (key: string): string => {
    const value = body.form ? body.data.get(key)?.at(-1) : data[key];
    const text = trimmed(isNumber(value) ? String(valueOf(value)) : typeof value === 'string' ? value : '');
    if (value === undefined) errors[key] = [REQUIRED];
    else if (value === null) errors[key] = [NOT_NULL];
    else if (typeof value !== 'string' && !isNumber(value)) errors[key] = [NOT_A_STRING];
    else if (text === '') errors[key] = [NOT_BLANK];
    else if (limits[key]?.(text).length) errors[key] = limits[key](text);
    return text;
  };
  const variables = { username: read('username'), password: read('password') };
  if (Object.keys(errors).length) throw invalid(errors);
  return variables;
}
