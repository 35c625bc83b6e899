/** Routes of the landing page, the registration page, login, logout and the API key page. All work without JavaScript. */
import type { IncomingMessage } from 'node:http';
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import { GraphQLError } from 'graphql';
import { HTTP_STATUS_BY_ERROR_CODE } from '../contract/errorcodes';
import { isTransientError } from '../core/model/errors';
import type { Config } from '../platform/config';
import { limitBodySize } from '../platform/bodylimit';
import { sendPage, submittedText } from './htmlresponse';
import type { PrepareOperation } from '../rest/endpoints';
import { COPY_SCRIPT_PATH, COPY_SCRIPT } from './copybutton';
import { exampleLoader } from './examples';
import { API_KEY_PAGE_PATH } from './apikeypath';
import type { RequestContext } from '../request/requestcontext';
import { addKeyRoutes } from './apikeyroutes';
import { renderLandingPage } from './landing';
import type { Visitor } from './layout';
import { renderLoginPage } from './login';
import {
  isSameLoginCsrfToken,
  loginCsrfCookie,
  loginCsrfTokenOf,
  newLoginCsrfToken,
} from './logincsrf';
import { localRedirectPath } from './loginredirect';
import { renderErrorPage } from './errorpage';
import { PAGE_HEADERS } from './securityheaders';
import { renderRegisterPage } from './register';

const MAX_FORM_BYTES = 10 * 1024;
const statusOf = (error: GraphQLError) =>
  HTTP_STATUS_BY_ERROR_CODE[String(error.extensions.code)] ?? 400;

const renderRejectionPage = ({ path }: Request, message: string, visitor: Visitor): string =>
  renderErrorPage(
    {
      title: 'Request rejected',
      message,
      link: { href: path === '/logout' ? '/' : path, label: 'Reload the page' },
    },
    visitor,
  );

const parseUrlencodedForm = limitBodySize(
  MAX_FORM_BYTES,
  express.urlencoded({ extended: false, limit: MAX_FORM_BYTES }),
  (request, response) =>
    sendPage(
      response,
      413,
      renderRejectionPage(request, `The form is larger than ${MAX_FORM_BYTES} bytes.`, {}),
    ),
);
const parseForm: RequestHandler = (request, response, next) =>
  request.is('urlencoded') ? parseUrlencodedForm(request, response, next) : next();

export function signInRoutes(
  contextOf: (request: IncomingMessage) => RequestContext,
  prepareOperation: PrepareOperation,
  { createsDemoAccount }: Pick<Config, 'createsDemoAccount'>,
): Router {
  const router = express.Router({ caseSensitive: true });
  const loadRequestExamples = exampleLoader(prepareOperation);
  const authenticate = (request: Request): Promise<boolean> =>
    contextOf(request).authentication.authenticate(async () =>
      submittedText(request.body, 'csrfToken'),
    );

  router.get('/', async (request, response) => {
    await authenticate(request);
    const { authentication, resolverContext, requestInfo } = contextOf(request);
    const requestExamples = await loadRequestExamples(resolverContext, requestInfo.baseUrl);
    sendPage(
      response,
      200,
      renderLandingPage(authentication.pageVisitor(), requestExamples, createsDemoAccount),
    );
  });

  router.get('/register', async (request, response) => {
    await authenticate(request);
    sendPage(response, 200, renderRegisterPage(contextOf(request).authentication.pageVisitor()));
  });

  router.get(COPY_SCRIPT_PATH, (_request, response) => {
    response
      .set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
      .type('js')
      .send(COPY_SCRIPT);
  });

  router.get('/login', async (request, response) => {
    const next = localRedirectPath(submittedText(request.query, 'next'));
    if (await authenticate(request))
      return response.set(PAGE_HEADERS).redirect(303, next ?? API_KEY_PAGE_PATH);
    // An existing CSRF token is kept, so that login forms open in other tabs stay valid.
    const csrfToken = loginCsrfTokenOf(request.headers.cookie) ?? newLoginCsrfToken();
    response.append(
      'Set-Cookie',
      loginCsrfCookie(csrfToken, contextOf(request).authentication.usesSecureCookies),
    );
    sendPage(response, 200, renderLoginPage({ next, csrfToken }));
  });

  router.post('/login', parseForm, async (request, response) => {
    const next = localRedirectPath(submittedText(request.body, 'next'));
    const csrfToken = loginCsrfTokenOf(request.headers.cookie);
    if (
      csrfToken === undefined ||
      !isSameLoginCsrfToken(csrfToken, submittedText(request.body, 'csrfToken'))
    )
      return sendFormExpiredPage(response, next);
    const { account, authentication } = contextOf(request);
    // Whitespace around the user name and the password is ignored, as in the login of REST and GraphQL.
    const username = (submittedText(request.body, 'username') ?? '').trim();
    const password = (submittedText(request.body, 'password') ?? '').trim();
    try {
      const cookie = await account.startSession(username, password);
      response
        .append('Set-Cookie', cookie)
        .append('Set-Cookie', loginCsrfCookie(undefined, authentication.usesSecureCookies));
    } catch (error) {
      if (!(error instanceof GraphQLError) || isTransientError(error)) throw error;
      const { retryAfter } = error.extensions;
      if (retryAfter !== undefined) response.set('Retry-After', String(retryAfter));
      return sendPage(
        response,
        statusOf(error),
        renderLoginPage({
          username,
          next,
          csrfToken,
          errorMessage: `${error.message.replace(/\.$/, '')}.`,
        }),
      );
    }
    response.set(PAGE_HEADERS).redirect(303, next ?? API_KEY_PAGE_PATH);
  });

  router.post('/logout', parseForm, async (request, response) => {
    await authenticate(request);
    response.append('Set-Cookie', await contextOf(request).authentication.endSession());
    response.set(PAGE_HEADERS).redirect(303, '/');
  });

  addKeyRoutes(router, parseForm, async (request, response) => {
    if (await authenticate(request)) return contextOf(request);
    response.set(PAGE_HEADERS).redirect(303, `/login?next=${encodeURIComponent(request.path)}`);
    return undefined;
  });

  const handleError: ErrorRequestHandler = (error, request, response, next) => {
    if (response.headersSent || !(error instanceof GraphQLError) || isTransientError(error))
      return next(error);
    sendPage(
      response,
      statusOf(error),
      renderRejectionPage(request, error.message, contextOf(request).authentication.pageVisitor()),
    );
  };
  router.use(handleError);
  return router;
}

function sendFormExpiredPage(response: Response, next: string | undefined): void {
  const message =
    'The form has expired, or your browser blocks cookies for this site. Please reload the form and try again.';
  const href = `/login${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}`;
  sendPage(
    response,
    403,
    renderErrorPage(
      { title: 'Sign in again', message, link: { href, label: 'Reload the form' } },
      {},
    ),
  );
}
