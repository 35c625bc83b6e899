/** Kinds of events in the audit log and their descriptions. */

export const EVENT_KINDS = {
  SIGNED_IN: 'Sign-in with name and password, or as the details say.',
  SIGN_IN_FAILED: 'Failed sign-in with a wrong password, or to a deactivated account.',
  PASSWORD_CHANGED:
    'The password was changed. The token was replaced, all other browsers were signed out, and connected sign-ins removed.',
  PASSWORD_LINK_CREATED: 'A link was created by which the user can set a new password.',
  PASSWORD_REFUSED: 'A signed-in user gave a wrong current password when changing it.',
  API_KEY_REPLACED: 'The API key was replaced.',
  API_KEY_SHOWN: 'An operator displayed the API key.',
  ACCESS_TOKEN_CREATED: 'An access token was created.',
  ACCESS_TOKEN_REVOKED: 'An access token was revoked.',
  CREDENTIALS_REVOKED:
    'All browsers were signed out, all tokens revoked, and connected sign-ins removed.',
  SESSIONS_ENDED: 'Browsers were signed out.',
  ACCOUNT_CREATED: 'The account was created.',
  ACCOUNT_DEACTIVATED: 'The account was deactivated. All sign-ins are rejected.',
  ACCOUNT_ACTIVATED: 'The account was activated.',
  ACCOUNT_LOCKED: 'The account was deactivated (name of the event up to version 0.4).',
  ACCOUNT_UNLOCKED: 'The account was activated (name of the event up to version 0.4).',
  ROLE_GRANTED: 'A role was granted: curator or superuser.',
  ROLE_REVOKED: 'A role was revoked: curator or superuser.',
  IDENTITY_CONNECTED: 'A sign-in at an OpenID Connect provider was connected.',
  IDENTITY_DISCONNECTED: 'A sign-in at an OpenID Connect provider was disconnected.',
  ACCOUNT_DELETED: 'The account and all its data were deleted.',
  IMPORTED: 'An operator imported data.',
  COMMAND: 'An operator ran another command that changes data.',
} as const;

export type EventKind = keyof typeof EVENT_KINDS;
export const isEventKind = (text: string): text is EventKind => Object.hasOwn(EVENT_KINDS, text);
