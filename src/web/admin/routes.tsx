/** Routes of the pages of superusers. All work without JavaScript. */
import type { RequestHandler, Router } from 'express';
import { Administration } from '../../accounts/administration';
import { invalidArgumentError, notFoundError } from '../../engine/declare/errors';
import type { Answer, ForUsers, UserHandler } from '../account/user-pages';
import { textOf } from '../html-response';
import {
  ACCOUNT_ACTIONS,
  accountPage,
  ACCOUNTS_PATH,
  ADMIN_PAGES,
  ADMIN_PATH,
  ADMIN_START,
  StartPage,
  type AdminRequest,
} from './pages';

async function createAccount({ administration, body }: AdminRequest): Promise<Answer> {
  const { id } = await administration.createUser({
    username: textOf(body, 'username'),
    email: textOf(body, 'email'),
  });

  return `${ACCOUNTS_PATH}/${id}`;
}

async function showAccount(request: AdminRequest): Promise<Answer> {
  return accountPage(request, await request.administration.findAccount(request.params.id!));
}

async function changeAccount(request: AdminRequest): Promise<Answer> {
  const { administration, body, params } = request;
  const account = await administration.findAccount(params.id!);
  const { id, username } = account;
  const action = textOf(body, 'action');

  switch (action) {
    case 'create-link':
      return accountPage(request, account, await administration.createPasswordLink(id));
    case 'end-session':
      await administration.endSession(id, textOf(body, 'id'));
      break;
    case 'revoke-token':
      await administration.revokeAccessToken(id, textOf(body, 'id'));
      break;
    case 'delete':
      if (textOf(body, 'confirmation') !== username) {
        throw invalidArgumentError('confirmation', 'The name does not match. Nothing was deleted.');
      }

      await administration.deleteUser(id);
      return ACCOUNTS_PATH;
    default:
      if (Object.hasOwn(ACCOUNT_ACTIONS, action)) {
        await ACCOUNT_ACTIONS[action]!.run(administration, id);
      }
  }

  return `${ACCOUNTS_PATH}/${id}`;
}

export function addAdminRoutes(
  router: Router,
  parseForm: RequestHandler,
  forUsers: ForUsers,
): void {
  /** Handles requests of superusers with a session. For others, the pages do not exist. */
  const forSuperusers = (handle: UserHandler<AdminRequest>) =>
    forUsers((request) => {
      const { authentication, viewer } = request.context;

      if (!viewer!.isSuperuser || authentication.sessionId === undefined) throw notFoundError();

      return handle({ ...request, administration: new Administration(request.context) });
    });

  router.get(
    ADMIN_PATH,
    forSuperusers(() => ({ title: ADMIN_START.label, content: <StartPage /> })),
  );

  for (const [path, { title, render }] of Object.entries(ADMIN_PAGES)) {
    router.get(
      path,
      forSuperusers(async (request) => ({
        title,
        content: await render(request),
        hasTimes: true,
      })),
    );
  }

  router.get(`${ACCOUNTS_PATH}/:id`, forSuperusers(showAccount));
  router.post(ACCOUNTS_PATH, parseForm, forSuperusers(createAccount));
  router.post(`${ACCOUNTS_PATH}/:id`, parseForm, forSuperusers(changeAccount));
}
