/** `POST /login/`: the body's name and password for a token. */
import type { Body } from './body';
import { invalid } from './errors';
import { notAnObject, objectOf } from './input';

/** Below the base of the API. */
export const PATH = 'login';
export const TITLE = 'User Api Login';
export const HINT = { message: "You must send a 'username' and 'password' via POST" };
export const DOCUMENT = 'mutation ($username: String!, $password: String!) { login(username: $username, password: $password) { token } }';

/** The variables of the mutation; 400 with the messages of each field. The length of the password is the mutation's to check. */
export function credentials(body: Body): { username: string; password: string } {
  const data = objectOf(body) ?? notAnObject(body);
  const errors: Record<string, string[]> = {};
  const read = (key: string): string => {
    const value = body.form ? body.data.get(key)?.at(-1) : data[key];
    if (value === undefined) errors[key] = ['This field is required.'];
    else if (value === null) errors[key] = ['This field may not be null.'];
    else if (typeof value !== 'string' && typeof value !== 'number') errors[key] = ['Not a valid string.'];
    else if (String(value).trim() === '') errors[key] = ['This field may not be blank.'];
    return String(value ?? '').trim();
  };
  const variables = { username: read('username'), password: read('password') };
  if (Object.keys(errors).length) throw invalid(errors);
  return variables;
}
