/** Kinds of events in the audit log, with their descriptions. */

export const EVENT_KINDS = {
  SIGNED_IN: 'Somebody signed in with name and password.',
  SIGN_IN_FAILED: 'Somebody tried to sign in with a wrong password, or to an account that is locked.',
  PASSWORD_CHANGED: 'The password was changed: all tokens are new, and all other browsers are signed out.',
  PASSWORD_REFUSED: 'Somebody who was signed in named a wrong password when they wanted to change it.',
  API_KEY_REPLACED: 'The API key was replaced.',
  API_KEY_SHOWN: 'An operator had the API key printed.',
  ACCESS_TOKEN_CREATED: 'An access token was made.',
  ACCESS_TOKEN_REVOKED: 'An access token was revoked.',
  SESSIONS_ENDED: 'All browsers were signed out.',
  ACCOUNT_CREATED: 'The account was made.',
  ACCOUNT_LOCKED: 'The account was locked: nothing signs in any more.',
  ACCOUNT_UNLOCKED: 'The account was unlocked.',
  ACCOUNT_DELETED: 'An operator deleted the account with everything of it.',
  IMPORTED: 'An operator imported data.',
  COMMAND: 'An operator ran another command that changes data.',
} as const;

export type EventKind = keyof typeof EVENT_KINDS;
export const isEventKind = (text: string): text is EventKind => Object.hasOwn(EVENT_KINDS, text);
