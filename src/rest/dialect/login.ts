/** `POST /login/`: exchanges a username and a password for an access token. */
import { NOT_BLANK } from '../../contract/messages';
import type { ArgumentLimits } from '../../contract/facts';
import type { Body } from './body';
import { inputOf, notAnObject, objectOf, type Accepted } from './input';
import { refuse } from '../errors';

/** Relative to the base path of the API. */
export const PATH = 'login';
export const TITLE = 'User Api Login';
export const HINT = { message: "You must send a 'username' and 'password' via POST" };
/** The field of the mutation payload that becomes the response body. */
export const ANSWER = 'token';
export const DOCUMENT = `mutation ($username: String!, $password: String!) { login(username: $username, password: $password) { ${ANSWER} errors { message } } }`;

const TEXT_FIELD = {
  kind: 'string',
  null: false,
  blank: false,
  hasDefault: false,
  restReadOnly: false,
  restIgnoredOnCreate: false,
} as const;

/** Returns the variables of the login mutation. Throws a 400 with validation messages per field, including those from `limits`. */
export function credentials(body: Body, limits: ArgumentLimits = {}): Record<string, unknown> {
  if (objectOf(body) === null) notAnObject(body);
  const fields = ['username', 'password'].map((name): Accepted => {
    const check = (text: unknown) => (text === '' ? [NOT_BLANK] : (limits[name]?.(String(text)) ?? []));
    return { ...TEXT_FIELD, name, rest: name, check };
  });
  const { input, errors } = inputOf(fields, body, { partial: false, creating: true, timeZone: '' });
  refuse(errors);
  return input;
}
