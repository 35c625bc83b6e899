/** Routes of the account page and of the deletion of the account. Works without JavaScript. */
import type { RequestHandler, Router } from 'express';
import { InvalidInput, type InputIssue } from '../../engine/declare/errors';
import { labelFor } from '../../engine/declare/inflection';
import { accountPage, deletionPage, type ActionResult } from './account-page';
import { ACCOUNT_PAGE_PATH, DELETE_ACCOUNT_PATH } from './account-paths';
import { textOf } from '../html-response';
import type { Answer, ForUsers, UserRequest } from './user-pages';

const USER_FIELDS = ['firstName', 'lastName', 'email'];
const PREFERENCES = ['unitSystem', 'preferredLanguageId', 'timeZone'];

const SAVE_MUTATION = `mutation ($user: UserPatch!, $profile: UserProfilePatch!) @atomic {
  updateUser(input: $user) { errors { path message } }
  updateProfile(input: $profile) { errors { path message } }
}`;

/** Messages of issues, with the labels of their fields. */
const issueMessages = (issues: readonly Pick<InputIssue, 'path' | 'message'>[]) =>
  issues.map(({ path, message }) => `${labelFor(path.at(-1) ?? 'form')}: ${message}`);

async function saveProfile(request: UserRequest): Promise<Answer> {
  const textsOf = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, textOf(request.body, name)]));
  const user = textsOf(USER_FIELDS);
  const texts = textsOf(PREFERENCES);
  const profile = Object.fromEntries(PREFERENCES.map((name) => [name, texts[name] || null]));
  const { data, errors } = await request.execute(SAVE_MUTATION, { user, profile });
  const payloads = Object.values(data ?? {}) as ({ errors: InputIssue[] } | null)[];
  const messages = issueMessages(payloads.flatMap((payload) => payload?.errors ?? []));

  if (!messages.length && errors) messages.push(...errors.map(({ message }) => message));

  // A new request uses the new time zone and language.
  if (!messages.length) return `${ACCOUNT_PAGE_PATH}?saved`;

  return accountPage(request, { errors: messages, profile: { ...user, ...texts } });
}

async function changePassword({ body, context }: UserRequest): Promise<ActionResult> {
  try {
    await context.account.changePassword(textOf(body, 'oldPassword'), textOf(body, 'newPassword'));
    return { notice: 'Your password was changed.' };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;

    return { errors: issueMessages(error.issues) };
  }
}

async function changeAccount(request: UserRequest): Promise<Answer> {
  const { body, response } = request;
  const { account, authentication } = request.context;

  switch (textOf(body, 'action')) {
    case 'save-profile':
      return saveProfile(request);
    case 'change-password':
      return accountPage(request, await changePassword(request));
    case 'end-session':
      await account.endSessions(textOf(body, 'id'));
      break;
    case 'disconnect':
      await account.disconnectIdentities();
      break;
    case 'end-sessions':
      await account.endSessions();
      response.append('Set-Cookie', await authentication.endSession());
      return '/login';
  }

  return accountPage(request);
}

async function deleteAccount(request: UserRequest): Promise<Answer> {
  const { account, authentication } = request.context;

  if (textOf(request.body, 'username') !== request.visitor.username) {
    return deletionPage(request, 'This is not your user name.');
  }

  await account.deleteAccount();
  request.response.append('Set-Cookie', await authentication.endSession());
  return '/';
}

export function addAccountRoutes(
  router: Router,
  parseForm: RequestHandler,
  forUsers: ForUsers,
): void {
  router.get(
    ACCOUNT_PAGE_PATH,
    forUsers((request) =>
      accountPage(request, { notice: 'saved' in request.query! ? 'Saved.' : undefined }),
    ),
  );
  router.post(ACCOUNT_PAGE_PATH, parseForm, forUsers(changeAccount));
  router.get(
    DELETE_ACCOUNT_PATH,
    forUsers((request) => deletionPage(request)),
  );
  router.post(DELETE_ACCOUNT_PATH, parseForm, forUsers(deleteAccount));
}
