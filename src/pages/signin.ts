/** The front door, sign-in and sign-out, and the key page. Everything works without a script. */
import type { IncomingMessage } from 'node:http';
import express, { type ErrorRequestHandler, type Request, type Response, type Router } from 'express';
import { GraphQLError } from 'graphql';
import { isPassing } from '../core/model/errors';
import { answer, text } from './answer';
import type { Prepare } from '../rest/endpoints';
import { COPY_PATH, COPY_SCRIPT } from './copy';
import { examples } from './examples';
import { KEY_PATH } from './keypath';
import { addKeyPages, type KeyExchange } from './keyroutes';
import { landingPage } from './landing';
import { loginPage } from './login';
import { isLoginToken, loginTokenCookie, loginTokenOf, newLoginToken } from './logintoken';
import { ownPath } from './next';
import { problemPage } from './problem';
import { PAGE_HEADERS } from './protection';
import { registerPage } from './register';

/** One request, as the application sees it. */
export interface PageExchange extends KeyExchange {
  /** For operations. */
  context: object;
  /** Whether cookies are to be Secure. */
  secure: boolean;
  /** Whether somebody is signed in; throws a GraphQLError where the CSRF token is missing. */
  authenticate(formToken?: () => Promise<string | undefined>): Promise<boolean>;
  /** Answers a Set-Cookie header; throws a GraphQLError for a wrong name or password, or too many tries. */
  startSession(username: string, password: string): Promise<string>;
}

const MAX_FORM = '10kb';
const HTTP_STATUS: Record<string, number> = { UNAUTHENTICATED: 401, FORBIDDEN: 403, TOO_MANY_REQUESTS: 429, OVERLOADED: 503 };
const statusOf = (error: GraphQLError) => HTTP_STATUS[String(error.extensions.code)] ?? 400;

export function signInPages(exchangeOf: (request: IncomingMessage) => PageExchange, prepare: Prepare): Router {
  const router = express.Router();
  const shown = examples(prepare);
  const form = express.urlencoded({ extended: false, limit: MAX_FORM });
  const authenticate = (request: Request) => exchangeOf(request).authenticate(async () => text(request.body, 'csrfToken'));

  /** The exchange of somebody who is signed in; others are sent to sign in first. */
  async function signedIn(request: Request, response: Response): Promise<PageExchange | undefined> {
    if (await authenticate(request)) return exchangeOf(request);
    response.set(PAGE_HEADERS).redirect(303, `/login?next=${encodeURIComponent(request.path)}`);
    return undefined;
  }

  router.get('/', async (request, response) => {
    await authenticate(request);
    const exchange = exchangeOf(request);
    answer(response, 200, landingPage(exchange.visitor(), await shown(exchange.context, exchange.baseUrl)));
  });

  router.get('/register', async (request, response) => {
    await authenticate(request);
    answer(response, 200, registerPage(exchangeOf(request).visitor()));
  });

  router.get(COPY_PATH, (_request, response) => {
    response.set({ 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' }).type('js').send(COPY_SCRIPT);
  });

  router.get('/login', async (request, response) => {
    const next = ownPath(text(request.query, 'next'));
    if (await authenticate(request)) return response.set(PAGE_HEADERS).redirect(303, next ?? KEY_PATH);
    // Forms in other tabs stay good.
    const csrfToken = loginTokenOf(request.headers.cookie) ?? newLoginToken();
    response.append('Set-Cookie', loginTokenCookie(csrfToken, exchangeOf(request).secure));
    answer(response, 200, loginPage({ next, csrfToken }));
  });

  router.post('/login', form, async (request, response) => {
    const exchange = exchangeOf(request);
    const next = ownPath(text(request.body, 'next'));
    const csrfToken = loginTokenOf(request.headers.cookie);
    if (csrfToken === undefined || !isLoginToken(csrfToken, text(request.body, 'csrfToken'))) {
      const message = 'The form was too old, or your browser does not keep cookies for this site. Please load the form again.';
      const href = `/login${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}`;
      return answer(response, 403, problemPage({ title: 'Sign in again', message, link: { href, label: 'Load the form' } }, {}));
    }
    // Blanks around them don't count, as over the interfaces.
    const username = (text(request.body, 'username') ?? '').trim();
    const password = (text(request.body, 'password') ?? '').trim();
    try {
      const cookie = await exchange.startSession(username, password);
      response.append('Set-Cookie', cookie).append('Set-Cookie', loginTokenCookie(undefined, exchange.secure));
    } catch (error) {
      if (!(error instanceof GraphQLError) || isPassing(error)) throw error;
      const { retryAfter } = error.extensions;
      if (retryAfter !== undefined) response.set('Retry-After', String(retryAfter));
      return answer(response, statusOf(error), loginPage({ username, next, csrfToken, error: `${error.message.replace(/\.$/, '')}.` }));
    }
    response.set(PAGE_HEADERS).redirect(303, next ?? KEY_PATH);
  });

  router.post('/logout', form, async (request, response) => {
    await authenticate(request);
    response.append('Set-Cookie', await exchangeOf(request).endSession());
    response.set(PAGE_HEADERS).redirect(303, '/');
  });

  addKeyPages(router, { form, signedIn });

  const refused: ErrorRequestHandler = (error, request, response, next) => {
    if (response.headersSent || !(error instanceof GraphQLError) || isPassing(error)) return next(error);
    const link = { href: request.path === '/logout' ? '/' : request.path, label: 'Load the page again' };
    answer(response, statusOf(error), problemPage({ title: 'Refused', message: error.message, link }, exchangeOf(request).visitor()));
  };
  router.use(refused);
  return router;
}
