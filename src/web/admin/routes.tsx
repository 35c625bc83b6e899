/** Routes of the pages of superusers. All work without JavaScript. */
import type { Request, RequestHandler, Response, Router } from 'express';
import type { ComponentChildren } from 'preact';
import { Administration } from '../../accounts/administration';
import { invalidArgumentError, notFoundError } from '../../engine/declare/errors';
import type { RequireSignIn } from '../account/api-key-routes';
import { sendPage, textParameter, type FormValues } from '../html-response';
import { renderPage } from '../layout';
import { LocalTimesScript, TimeZoneNote } from '../local-times';
import { PAGE_HEADERS } from '../security-headers';
import {
  ACCOUNT_ACTIONS,
  ACCOUNTS_PATH,
  ADMIN_PAGES,
  ADMIN_PATH,
  renderAccount,
  StartPage,
  type AdminRequest,
} from './pages';

const START_TITLE = 'Administration';

/** A page, or the path to which the browser is redirected. */
type Answer = { title: string; content: ComponentChildren } | string;

type Handler = (request: AdminRequest, message: Request) => Promise<Answer> | Answer;

async function createAccount({ administration }: AdminRequest, { body }: Request): Promise<Answer> {
  const { id } = await administration.createUser({
    username: textParameter(body as FormValues, 'username') ?? '',
    email: textParameter(body as FormValues, 'email'),
  });

  return `${ACCOUNTS_PATH}/${id}`;
}

async function showAccount(request: AdminRequest, { params }: Request): Promise<Answer> {
  const account = await request.administration.findAccount(params.id as string);

  return { title: account.username, content: await renderAccount(request, account) };
}

async function changeAccount(request: AdminRequest, { body, params }: Request): Promise<Answer> {
  const { administration } = request;
  const account = await administration.findAccount(params.id as string);
  const { id, username } = account;
  const valueOf = (name: string) => textParameter(body as FormValues, name) ?? '';
  const action = valueOf('action');

  switch (action) {
    case 'create-link': {
      const link = await administration.createPasswordLink(id);

      return { title: username, content: await renderAccount(request, account, link) };
    }
    case 'end-session':
      await administration.endSession(id, valueOf('id'));
      break;
    case 'revoke-token':
      await administration.revokeAccessToken(id, valueOf('id'));
      break;
    case 'delete':
      if (valueOf('confirmation') !== username) {
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

function renderAdminPage(
  { context, visitor }: AdminRequest,
  { title, content }: Exclude<Answer, string>,
): string {
  const startCrumb = { label: START_TITLE, href: ADMIN_PATH };

  return renderPage({
    title,
    visitor,
    crumbs: title === START_TITLE ? [{ label: title }] : [startCrumb, { label: title }],
    children: (
      <>
        <h1>{title}</h1>
        {content}
        <TimeZoneNote timeZone={context.timeZone} />
        <LocalTimesScript />
      </>
    ),
  });
}

export function addAdminRoutes(
  router: Router,
  parseForm: RequestHandler,
  requireSignIn: RequireSignIn,
): void {
  /** Handles requests of superusers with a session. For others, the pages do not exist. */
  const forSuperusers =
    (handle: Handler): RequestHandler =>
    async (message: Request, response: Response): Promise<void> => {
      const context = await requireSignIn(message, response);

      if (!context) return;
      const { authentication, viewer } = context;

      if (!viewer!.isSuperuser || authentication.sessionId === undefined) throw notFoundError();
      const administration = new Administration(context);
      const visitor = authentication.pageVisitor();
      const request = { administration, context, visitor, query: message.query };
      const answer = await handle(request, message);

      if (typeof answer === 'string') response.set(PAGE_HEADERS).redirect(303, answer);
      else sendPage(response, 200, renderAdminPage(request, answer));
    };

  router.get(
    ADMIN_PATH,
    forSuperusers(() => ({ title: START_TITLE, content: <StartPage /> })),
  );

  for (const [path, { title, render }] of Object.entries(ADMIN_PAGES)) {
    router.get(
      path,
      forSuperusers(async (request) => ({ title, content: await render(request) })),
    );
  }

  router.get(`${ACCOUNTS_PATH}/:id`, forSuperusers(showAccount));
  router.post(ACCOUNTS_PATH, parseForm, forSuperusers(createAccount));
  router.post(`${ACCOUNTS_PATH}/:id`, parseForm, forSuperusers(changeAccount));
}
