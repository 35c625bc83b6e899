/**
 * Routes of the landing page, the registration page, login and logout, and of the pages of an
 * account. All work without JavaScript.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import express, {
  type ErrorRequestHandler,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import type { Executor } from '../../engine/execution/executor';
import type { Services } from '../../request/services';
import { limitBodySize } from '../../shared/body-limit';
import { redirect, sendPage, sendRejection, textOf, textParameter } from '../html-response';
import type { PrepareOperation } from '../../rest/endpoints';
import { readBrowserScript } from '../browser-files';
import { COPY_SCRIPT_PATH } from '../copy-button';
import { createExampleLoader } from '../examples';
import { ACCOUNT_PAGE_PATH, DATA_PAGE_PATH, PROVIDER_SIGN_IN_PATH } from './account-paths';
import { addAccountRoutes } from './account-routes';
import { addProviderRoutes, PROVIDER_CALLBACK_PATH } from './provider-routes';
import type { RequestContext } from '../../request/request-context';
import { ADMIN_START } from '../admin/pages';
import { addAdminRoutes } from '../admin/routes';
import { BROWSE_STYLE } from '../browse/style';
import { CATALOGUE_START } from '../catalogue/request';
import { addCatalogueRoutes } from '../catalogue/routes';
import { addApiKeyRoutes } from './api-key-routes';
import { renderLandingPage } from '../landing';
import { loginUrl, type Visitor } from '../layout';
import { renderLoginPage, renderRegisterPage } from './login';
import { addSetPasswordRoutes } from './set-password';
import { userPages } from './user-pages';
import { renderErrorPage } from '../error-page';

const MAX_FORM_BYTES = 10 * 1024;

/** Limit of the forms of the catalogue: an exercise has descriptions in many languages. */
const MAX_CATALOGUE_FORM_BYTES = 200 * 1024;

/** Pages to which the error pages of other paths lead, with the text of the link. */
const PAGE_BY_PATH: Readonly<Record<string, [path: string, label: string]>> = {
  '/logout': ['/', 'Reload the page'],
  [PROVIDER_CALLBACK_PATH]: ['/login', 'Sign in'],
  [PROVIDER_SIGN_IN_PATH]: [ACCOUNT_PAGE_PATH, 'Reload the page'],
};

function renderRejectionPage(
  { path }: Request,
  message: string,
  { authentication }: RequestContext,
): string {
  const [pagePath, label] = PAGE_BY_PATH[path] ?? [path, 'Reload the page'];

  return renderErrorPage(
    { title: 'Request rejected', message, link: { href: pagePath, label } },
    { ...authentication.pageVisitor(), returnUrl: pagePath },
  );
}

function createFormParser(
  contextOf: (request: IncomingMessage) => RequestContext,
  limit = MAX_FORM_BYTES,
): RequestHandler {
  const parseUrlencodedForm = limitBodySize(
    limit,
    express.urlencoded({ extended: false, limit }),
    (request, response) => {
      const message = `The form is larger than ${limit} bytes.`;

      sendPage(response, 413, renderRejectionPage(request, message, contextOf(request)));
    },
  );

  return (request, response, next) =>
    request.is('urlencoded') ? parseUrlencodedForm(request, response, next) : next();
}

/**
 * Double-submit cookie that protects the login form against CSRF, because no session exists yet
 * that could hold the token.
 * (https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html)
 */
const LOGIN_CSRF_COOKIE_NAME = 'fitgraph-login';
const LOGIN_CSRF_COOKIE_SECONDS = 60 * 60;
const LOGIN_CSRF_TOKEN_PATTERN = /^[\w-]{43}$/;

const createLoginCsrfToken = (): string => randomBytes(32).toString('base64url');

function readLoginCsrfToken(cookieHeader: string | undefined): string | undefined {
  if (cookieHeader === undefined) return undefined;
  const token = parseCookie(cookieHeader)[LOGIN_CSRF_COOKIE_NAME];

  return token !== undefined && LOGIN_CSRF_TOKEN_PATTERN.test(token) ? token : undefined;
}

/**
 * Set-Cookie header that stores the CSRF token of the login form. Without a token it deletes the
 * cookie.
 */
const loginCsrfCookie = (token: string | undefined, { authentication, request }: RequestContext) =>
  stringifySetCookie(LOGIN_CSRF_COOKIE_NAME, token ?? '', {
    httpOnly: true,
    sameSite: 'strict',
    path: `${request.basePath}/login`,
    secure: authentication.usesSecureCookies,
    maxAge: token === undefined ? 0 : LOGIN_CSRF_COOKIE_SECONDS,
  });

function tokensMatch(expected: string | undefined, actual: string | undefined): boolean {
  if (expected === undefined || actual === undefined) return false;
  const [a, b] = [Buffer.from(expected), Buffer.from(actual)];

  return a.length === b.length && timingSafeEqual(a, b);
}

const PLACEHOLDER_ORIGIN = 'http://here.invalid';

/**
 * Accepts a redirect target only if it is a path of this site, to prevent open redirects
 * (https://cwe.mitre.org/data/definitions/601.html). Parses it like browsers do
 * (https://url.spec.whatwg.org).
 */
function localRedirectPath(next: string | undefined): string | undefined {
  if (!next?.startsWith('/') || !URL.canParse(next, PLACEHOLDER_ORIGIN)) return undefined;
  const { origin, pathname, search, hash } = new URL(next, PLACEHOLDER_ORIGIN);

  // `/.//other.example` is a path of this site, but its normalized form `//other.example` is a URL
  // of another host.
  if (origin !== PLACEHOLDER_ORIGIN || pathname.startsWith('//')) return undefined;

  return pathname + search + hash;
}

export function signInRoutes(
  contextOf: (request: IncomingMessage) => RequestContext,
  prepareOperation: PrepareOperation,
  executor: Executor,
  { config: { createsDemoAccount, oidcLabel }, openIdProvider }: Services,
): Router {
  const router = express.Router({ caseSensitive: true });
  const parseForm = createFormParser(contextOf);
  const loadRequestExamples = createExampleLoader(prepareOperation);
  const authenticate = (request: Request): Promise<boolean> =>
    contextOf(request).authentication.authenticate(async () =>
      textParameter(request.body, 'csrfToken'),
    );

  router.get('/', async (request, response) => {
    await authenticate(request);
    const context = contextOf(request);
    const requestExamples = await loadRequestExamples(context, context.request.baseUrl);

    sendPage(
      response,
      200,
      renderLandingPage(context.authentication.pageVisitor(), requestExamples, createsDemoAccount),
    );
  });

  router.get('/register', async (request, response) => {
    await authenticate(request);
    sendPage(response, 200, renderRegisterPage(contextOf(request).authentication.pageVisitor()));
  });

  const copyScript = readBrowserScript('copy.js');

  router.get(COPY_SCRIPT_PATH, (_request, response) => {
    response
      .set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' })
      .type('js')
      .send(copyScript);
  });

  router.get('/login', async (request, response) => {
    const context = contextOf(request);
    const next = localRedirectPath(textParameter(request.query, 'next'));

    if (await authenticate(request)) {
      return redirect(response, next ?? DATA_PAGE_PATH);
    }

    // Keeps an existing CSRF token, so that login forms in other tabs stay valid.
    const csrfToken = readLoginCsrfToken(request.headers.cookie) ?? createLoginCsrfToken();

    response.append('Set-Cookie', loginCsrfCookie(csrfToken, context));
    sendPage(
      response,
      200,
      renderLoginPage({
        visitor: loginVisitor(context, next),
        next,
        csrfToken,
        providerLabel: oidcLabel,
      }),
    );
  });

  router.post('/login', parseForm, async (request, response) => {
    const context = contextOf(request);
    const next = localRedirectPath(textParameter(request.body, 'next'));
    const visitor = loginVisitor(context, next);
    const csrfToken = readLoginCsrfToken(request.headers.cookie);

    if (
      csrfToken === undefined ||
      !tokensMatch(csrfToken, textParameter(request.body, 'csrfToken'))
    ) {
      return sendFormExpiredPage(response, visitor, next);
    }

    const { account } = context;
    // Trims the user name and the password, as the login over REST and GraphQL does.
    const username = textOf(request.body, 'username');
    const password = textOf(request.body, 'password');

    try {
      const cookie = await account.startSession(username, password);

      response
        .append('Set-Cookie', cookie)
        .append('Set-Cookie', loginCsrfCookie(undefined, context));
    } catch (error) {
      return sendRejection(error, response, (message) =>
        renderLoginPage({
          visitor,
          username,
          next,
          csrfToken,
          providerLabel: oidcLabel,
          errorMessage: `${message.replace(/\.$/, '')}.`,
        }),
      );
    }

    redirect(response, next ?? DATA_PAGE_PATH);
  });

  router.post('/logout', parseForm, async (request, response) => {
    await authenticate(request);
    response.append('Set-Cookie', await contextOf(request).authentication.endSession());
    redirect(response, '/');
  });

  const pagesOf = userPages(authenticate, contextOf, executor);
  const accountPages = pagesOf({ label: 'Account', href: ACCOUNT_PAGE_PATH });

  addAccountRoutes(router, parseForm, accountPages);
  addApiKeyRoutes(router, parseForm, accountPages);
  addSetPasswordRoutes(router, parseForm, contextOf);
  addAdminRoutes(router, parseForm, pagesOf(ADMIN_START));
  addCatalogueRoutes(
    router,
    createFormParser(contextOf, MAX_CATALOGUE_FORM_BYTES),
    pagesOf(CATALOGUE_START, BROWSE_STYLE),
  );

  if (openIdProvider) {
    addProviderRoutes(router, {
      provider: openIdProvider,
      parseForm,
      contextOf,
      authenticate,
      localRedirectPath,
    });
  }

  const handleError: ErrorRequestHandler = (error, request, response, _next) =>
    sendRejection(error, response, (message) =>
      renderRejectionPage(request, message, contextOf(request)),
    );

  router.use(handleError);
  return router;
}

/** Visitor of the login page, whose link to itself keeps the page to return to. */
const loginVisitor = ({ request: { basePath } }: RequestContext, next?: string): Visitor => ({
  basePath,
  returnUrl: next,
});

function sendFormExpiredPage(response: Response, visitor: Visitor, next: string | undefined): void {
  const message =
    'The form has expired, or your browser blocks cookies for this site. Please reload the form and try again.';
  const href = loginUrl(next);

  sendPage(
    response,
    403,
    renderErrorPage(
      { title: 'Sign in again', message, link: { href, label: 'Reload the form' } },
      visitor,
    ),
  );
}
