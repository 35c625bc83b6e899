/** The front door, sign-in and sign-out, and the key page. Everything works without a script. */
import type { IncomingMessage } from 'node:http';
import express, { type ErrorRequestHandler, type Request, type Response, type Router } from 'express';
import { GraphQLError } from 'graphql';
import { isPassing } from '../core/errors';
import { COPY_PATH, COPY_SCRIPT } from './copy';
import { KEY_PATH, keyPage, REPLACE_PATH, replacePage, type KeyAction, type ShownKey } from './key';
import { landingPage } from './landing';
import type { Visitor } from './layout';
import { loginPage } from './login';
import { isLoginToken, loginTokenCookie, loginTokenOf, newLoginToken } from './logintoken';
import { ownPath } from './next';
import { problemPage } from './problem';
import { PAGE_HEADERS } from './protection';
import { registerPage } from './register';

/** One request, as the application sees it. */
export interface PageExchange {
  baseUrl: string;
  /** Whether cookies are to be Secure. */
  secure: boolean;
  /** Whether somebody is signed in; throws a GraphQLError where the CSRF token is missing. */
  authenticate(formToken?: () => Promise<string | undefined>): Promise<boolean>;
  visitor(): Visitor;
  /** Answers a Set-Cookie header; throws a GraphQLError for a wrong name or password, or too many tries. */
  startSession(username: string, password: string): Promise<string>;
  /** Answers a Set-Cookie header. */
  endSession(): Promise<string>;
  key(): Promise<ShownKey | undefined>;
  renewKey(replaced?: string): Promise<void>;
}

const MAX_FORM = '10kb';
const HTTP_STATUS: Record<string, number> = { UNAUTHENTICATED: 401, FORBIDDEN: 403, TOO_MANY_REQUESTS: 429, OVERLOADED: 503 };
const NOTICES: Partial<Record<KeyAction, string>> = {
  make: 'Your key was made.',
  replace: 'This is your new key. The one before it no longer works.',
};

/** A field of a form, or a parameter of the address; the last one if there are several. */
function text(values: Record<string, unknown> | undefined, name: string): string | undefined {
  const value = values?.[name];
  const one: unknown = Array.isArray(value) ? value.at(-1) : value;
  return typeof one === 'string' ? one : undefined;
}

const statusOf = (error: GraphQLError) => HTTP_STATUS[String(error.extensions.code)] ?? 400;

function answer(response: Response, status: number, page: string): void {
  response.status(status).set(PAGE_HEADERS).type('html').send(page);
}

export function signInPages(exchangeOf: (request: IncomingMessage) => PageExchange): Router {
  const router = express.Router();
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
    answer(response, 200, landingPage(exchange.visitor(), exchange.baseUrl));
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

  router.get(KEY_PATH, async (request, response) => {
    const exchange = await signedIn(request, response);
    if (!exchange) return;
    const key = await exchange.key();
    answer(response, 200, keyPage({ visitor: exchange.visitor(), baseUrl: exchange.baseUrl, key, revealed: false }));
  });

  router.post(KEY_PATH, form, async (request, response) => {
    const exchange = await signedIn(request, response);
    if (!exchange) return;
    const action = text(request.body, 'action') as KeyAction | undefined;
    const before = await exchange.key();
    if (action === 'make' && !before) await exchange.renewKey();
    if (action === 'replace') await exchange.renewKey(text(request.body, 'replaced') ?? '');
    const key = await exchange.key();
    const notice = key?.id === before?.id ? undefined : action && NOTICES[action];
    answer(response, 200, keyPage({ visitor: exchange.visitor(), baseUrl: exchange.baseUrl, key, revealed: true, notice }));
  });

  router.get(REPLACE_PATH, async (request, response) => {
    const exchange = await signedIn(request, response);
    if (!exchange) return;
    const key = await exchange.key();
    if (!key) return response.set(PAGE_HEADERS).redirect(303, KEY_PATH);
    answer(response, 200, replacePage(exchange.visitor(), key));
  });

  const refused: ErrorRequestHandler = (error, request, response, next) => {
    if (response.headersSent || !(error instanceof GraphQLError) || isPassing(error)) return next(error);
    const link = { href: request.path === '/logout' ? '/' : request.path, label: 'Load the page again' };
    answer(response, statusOf(error), problemPage({ title: 'Refused', message: error.message, link }, exchangeOf(request).visitor()));
  };
  router.use(refused);
  return router;
}
