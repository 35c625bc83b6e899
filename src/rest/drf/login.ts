/** `POST /login/`: exchanges a username and a password for the API key of the user. */
import { NOT_BLANK_MESSAGE } from '../../shared/messages';
import type { ArgumentValidators } from '../../shared/metadata';
import type { ParsedBody } from './body';
import { coerceInput, rejectNonObject, bodyAsObject, type InputField } from './input';
import { throwIfInvalidFields } from '../errors';

/** Path of the login endpoint, relative to the base path of the API. */
export const LOGIN_PATH = 'login';
export const LOGIN_TITLE = 'User Api Login';
export const LOGIN_HINT = { message: "You must send a 'username' and 'password' via POST" };

/** Field of the `login` mutation's payload that becomes a key of the REST response. */
export const LOGIN_RESPONSE_FIELD = 'token';
export const LOGIN_MUTATION = `mutation ($username: String!, $password: String!) { login(username: $username, password: $password) { ${LOGIN_RESPONSE_FIELD} errors { message } } }`;

const CREDENTIAL_FIELD_OPTIONS = {
  kind: 'string',
  allowNull: false,
  allowBlank: false,
  hasDefault: false,
  restReadOnly: false,
  pageReadOnly: false,
  restIgnoredOnCreate: false,
} as const;

/** Parses the variables of the login mutation. Throws a 400 with validation messages per field. */
export function parseCredentials(
  body: ParsedBody,
  argumentValidators: ArgumentValidators = {},
): Record<string, unknown> {
  if (bodyAsObject(body) === null) rejectNonObject(body);
  const fields = ['username', 'password'].map((name): InputField => {
    const check = (text: unknown) =>
      text === '' ? [NOT_BLANK_MESSAGE] : (argumentValidators[name]?.(String(text)) ?? []);

    return { ...CREDENTIAL_FIELD_OPTIONS, name, restKey: name, check };
  });
  const { input, errors } = coerceInput(fields, body, {
    isPartialBody: false,
    isCreation: true,
    isPageForm: false,
    timeZone: '',
  });

  throwIfInvalidFields(errors);
  return input;
}
