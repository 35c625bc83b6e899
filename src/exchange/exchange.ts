/** One HTTP request: its session, its viewer, its context, and the line that the log has of it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkCredentials, hashOfPassword, passwordProblem, renewToken, replacePassword, signIn, viewerOf } from '../auth/accounts';
import { isAccessToken, listOf, type AccessToken, type AccessTokens } from '../auth/accesstokens';
import { OwnCredentials } from '../auth/credentials';
import { tokenOfHeader } from '../auth/header';
import { keyOf, makeKey, replaceKey, type ApiKey } from '../auth/keys';
import { eventsOf, KINDS, note, type By } from '../auth/securityevents';
import { CSRF_HEADER, CsrfError, type Sessions } from '../auth/sessions';
import { digestOf } from '../auth/tokens';
import { demandOwner, lacking } from '../core/access/access';
import type { Context, Viewer } from '../core/context';
import type { Access } from '../core/access/scopes';
import type { Group } from '../contract/facts';
import { InvalidValues, KnownError, notSignedIn, ofDatabase, type Mistakes } from '../core/model/errors';
import { invalidValue } from '../core/model/mistakes';
import { rateLimitHeaders } from './budget';
import type { Attempt, Idempotency } from './idempotency';
import { Loaders } from '../core/read/loaders';
import type { Exposure } from './exposure';
import { REQUEST } from '../platform/logging';
import { REQUEST_ID } from './origin';
import type { Route } from '../rest/routes';
import type { Services } from './services';
import type { Metrics } from '../telemetry/metrics';
import { routeOf } from '../telemetry/routes';
import type { Tracing } from '../telemetry/tracing';

/** What the app makes of the services for itself. */
export interface Means extends Services {
  sessions: Sessions;
  accessTokens: AccessTokens;
  exposure: Exposure;
  idempotency: Idempotency;
  /** Absent: nobody asks for them. */
  metrics?: Metrics;
  tracing?: Tracing;
}

/** Of the latest security events. */
const SHOWN_EVENTS = 10;

/** Methods that change nothing, which other sites' pages may therefore cause. */
const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

/** More of an Accept-Language header is not looked at; browsers send less than a tenth of it. */
const MAX_HEADER = 1000;
const MAX_LANGUAGES = 10;

/** A language as `de`, `de-AT` or `de_AT`, with its quality if it is not 1; what cannot be read counts as absent. */
const LANGUAGE = /^([a-z]{1,8})(?:[-_][a-z0-9]{1,8})*(?: ?; ?q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/** Codes of languages, without countries, in the order of preference. */
function languagesOf(header: string | undefined): string[] {
  if (!header) return [];
  const end = header.length > MAX_HEADER ? header.lastIndexOf(',', MAX_HEADER) : header.length;
  return header
    .slice(0, Math.max(end, 0))
    .split(',')
    .map((part, index) => {
      const [, code, quality = '1'] = LANGUAGE.exec(part.trim().replace(/[ \t]+/g, ' ')) ?? [];
      return { code: code?.toLowerCase(), quality: code === undefined ? 0 : Number(quality), index };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.index - b.index)
    .slice(0, MAX_LANGUAGES)
    .map(({ code }) => code!);
}

/** Of a path and of an operation's name, as the log has them; clients choose both. */
const MAX_LOGGED = 200;
/** The longest IPv6 address; a zone, which follows it, may have any length. */
const MAX_ADDRESS = 45;

export class HttpExchange {
  /** What the request is called in its answer and in the log. */
  readonly id: string;
  /** Name of the operation of GraphQL that was found in the request; null where it has none. */
  operation?: string | null;
  /** Of REST. */
  route?: Route;
  private readonly began = performance.now();
  private readonly full: Context;
  /** Where it comes from. */
  private readonly address: string;
  private readonly network: string;
  /** Of the browser: the session that its cookie names, once it is known to be one. */
  private browser?: { sessionId: string; username: string };

  private identifying?: Promise<boolean>;

  /** Id of the user whose credentials these are, known before a form is read that may lack its token. */
  sender?: number;

  constructor(
    private readonly request: IncomingMessage,
    private readonly services: Means,
    /** Of the Authorization header, in lower case. */
    private readonly schemes: readonly string[],
    api: Context['api'],
  ) {
    const { config, database, reference, memory, names, changes, vault, origin, media } = services;
    const session = database.session();
    this.id = request.headers[REQUEST_ID] as string;
    this.address = origin.address(request);
    this.network = origin.network(request, this.address);
    session.asks('strangers', this.network);
    const log = services.log;
    this.full = {
      requestId: this.id,
      told: services.metrics && ((code) => services.metrics!.told(api, code)),
      viewer: null,
      api,
      session,
      began: this.began,
      loaders: new Loaders(),
      reference,
      memory,
      names,
      changes,
      media,
      timeZone: config.timeZone,
      baseUrl: origin.baseUrl(request),
      languages: languagesOf(request.headers['accept-language']),
      log,
      signIn: (username, password) => this.loginAttempt(username, () => signIn(username, password, session, vault, this.by)),
      credentials: () => this.credentials(),
      changePassword: (oldPassword, newPassword) => this.changePassword(oldPassword, newPassword),
      replaceToken: () => this.replaceToken(),
      confirm: async () => {
        if (!(await this.authenticate())) throw notSignedIn();
      },
    };
    this.full.spending = services.budgets.of(this.full, () => this.network);
  }

  get context(): Context & never {
    return this.full as Context & never;
  }

  get baseUrl(): string {
    return this.full.baseUrl;
  }

  /** Cookies of this exchange are Secure, and no others are believed. */
  get secure(): boolean {
    return this.services.config.production || this.baseUrl.startsWith('https:');
  }

  /**
   * Whether somebody is signed in: by the Authorization header or, without one of a scheme that is known, by the cookie of a session. Then an
   * unsafe method needs the CSRF token, from the header `X-CSRFToken` or from `formToken`, which is asked only if it matters.
   */
  async authenticate(formToken?: () => Promise<string | undefined>): Promise<boolean> {
    try {
      const viewer = await this.viewer(formToken);
      if (viewer) this.full.session.asks('users', viewer.id);
      return viewer !== undefined;
    } catch (error) {
      throw ofDatabase(error, this.services.log, this.id) ?? error;
    }
  }

  private async viewer(formToken?: () => Promise<string | undefined>): Promise<Viewer | undefined> {
    const { sessions, exposure } = this.services;
    const { session } = this.full;
    const { authorization, cookie } = this.request.headers;
    const token = tokenOfHeader(authorization, this.schemes);
    if (token !== undefined) {
      exposure.check(this.request);
      // Whoever comes with a key does not wait behind those who have none.
      session.asks('users', this.network);
      const viewer = await (isAccessToken(token) ? this.services.accessTokens.viewerOf(token, session) : viewerOf(token, session));
      this.sender = viewer.id;
      return (this.full.viewer = viewer);
    }
    const sessionId = sessions.idOf(cookie, this.secure);
    if (!sessionId) return undefined;
    session.asks('users', this.network);
    const viewer = await sessions.viewerOf(sessionId, session);
    if (!viewer) {
      session.asks('strangers', this.network);
      return undefined;
    }
    this.browser = { sessionId, username: viewer.username };
    this.sender = viewer.id;
    if (!SAFE.includes(this.request.method ?? '')) {
      const csrfToken = this.request.headers[CSRF_HEADER.toLowerCase()] ?? (await formToken?.());
      if (!sessions.isCsrfToken(sessionId, csrfToken?.toString())) throw new CsrfError();
    }
    return (this.full.viewer = viewer);
  }

  /** As `authenticate`, asked once: before a body is read, and again for whoever answers it. */
  identified(): Promise<boolean> {
    return (this.identifying ??= this.authenticate());
  }

  /** Whether the sender is signed in; wrong credentials are told later. */
  isKnown(): Promise<boolean> {
    return this.identified().catch(() => false);
  }

  /** Who looks at the page that is answered, and the token for its forms. */
  visitor(): { username?: string; csrfToken?: string } {
    if (!this.browser) return { username: this.full.viewer?.username };
    return { username: this.browser.username, csrfToken: this.services.sessions.csrfToken(this.browser.sessionId) };
  }

  /** A change about to be made, if its sender is signed in and has named it by an Idempotency-Key; `body` is what was sent. */
  async attempt(body: unknown): Promise<Attempt | undefined> {
    const { method, url, headers } = this.request;
    const key = headers['idempotency-key'];
    if (key === undefined || !this.full.viewer) return undefined;
    // What was answered is for whoever may do the same.
    const { id, scopes } = this.full.viewer;
    // Who lost the connection sends it again to hear what became of it.
    this.full.session.last();
    return this.services.idempotency
      .attempt(id, key.toString(), [method, url, body, ...(scopes ? [[...scopes].sort()] : [])], this.full.session)
      .catch((error: unknown) => {
        throw ofDatabase(error, this.services.log, this.id) ?? error;
      });
  }

  private loginAttempt<T>(username: string, work: () => Promise<T>): Promise<T> {
    const { exposure, limit } = this.services;
    exposure.check(this.request);
    return limit.attempt(this.network, username, work).catch((error: unknown) => {
      this.loginRefused(error);
      throw error;
    });
  }

  /** Who guesses passwords is to be seen. Not by the name that was typed, in whose place many a user has typed a password. */
  private loginRefused(error: unknown): void {
    const code = error instanceof KnownError ? error.extensions.code : error instanceof InvalidValues ? 'WRONG_PASSWORD' : undefined;
    if (code === undefined) return;
    const { viewer } = this.full;
    const known = { id: this.id, address: this.address.slice(0, MAX_ADDRESS), user: viewer?.id };
    this.services.log.warn({ ...known, code }, code === 'TOO_MANY_REQUESTS' ? 'too many logins' : 'login failed');
  }

  /** The session of the request stays, whoever else was signed in is signed out, and the token is a new one. */
  private async changePassword(oldPassword: string, newPassword: string): Promise<string> {
    const { session } = this.full;
    const viewer = demandOwner(this.full);
    const problem = passwordProblem(newPassword);
    const weak: Mistakes = problem ? { newPassword: [invalidValue(problem)] } : {};
    const wrong = () => new InvalidValues({ oldPassword: [invalidValue('This is not your password.')], ...weak });
    const stored = await this.loginAttempt(viewer.username, async () => {
      const found = await hashOfPassword(viewer.id, oldPassword, session);
      if (found === undefined) {
        await note({ kind: 'PASSWORD_REFUSED', userId: viewer.id, ...this.by }, (text, values) => session.query(text, values));
        throw wrong();
      }
      return found;
    });
    if (problem) throw new InvalidValues(weak);
    const token = await replacePassword(viewer.id, stored, newPassword, this.browser?.sessionId, session, this.services.vault, this.by);
    if (token === undefined) throw wrong();
    return token;
  }

  private async replaceToken(): Promise<string> {
    const { session } = this.full;
    const viewer = demandOwner(this.full);
    const old = tokenOfHeader(this.request.headers.authorization, this.schemes);
    const token = await renewToken(viewer.id, old === undefined ? undefined : digestOf(old), session, this.services.vault, this.by);
    // Another request with the same token was faster.
    if (token === undefined) throw notSignedIn('Invalid token.');
    return token;
  }

  /** Signs the browser in, in a session of its own; answers the Set-Cookie header. */
  async startSession(username: string, password: string): Promise<string> {
    const { sessions } = this.services;
    const { session } = this.full;
    const userId = await this.loginAttempt(username, () => checkCredentials(username, password, session, this.by));
    await this.endSession();
    return sessions.cookie(await sessions.start(userId, session), this.secure);
  }

  /** Ends the session that the cookie names, if any; answers the Set-Cookie header that takes the cookie away. */
  async endSession(): Promise<string> {
    const { sessions } = this.services;
    const sessionId = sessions.idOf(this.request.headers.cookie, this.secure);
    if (sessionId !== undefined) await sessions.end(sessionId, this.full.session);
    return sessions.cookie(undefined, this.secure);
  }

  /** The API key of whoever is signed in. */
  key(): Promise<ApiKey | undefined> {
    return keyOf(demandOwner(this.full).id, this.full.session, this.services.vault);
  }

  /** The access tokens of whoever is signed in. */
  async accessTokens(): Promise<AccessToken[]> {
    return (await listOf([demandOwner(this.full).id], this.full.session))[0]!;
  }

  /** What happened to their account lately. */
  async events(): Promise<{ at: string; what: string; address: string | null; detail: string | null }[]> {
    const noted = await eventsOf(demandOwner(this.full).id, { limit: SHOWN_EVENTS }, this.full.session);
    return noted.map(({ at, kind, address, detail }) => ({ at, what: KINDS[kind], address, detail }));
  }

  /** What they do about them and about their sessions. */
  credentials(): OwnCredentials {
    return new OwnCredentials(demandOwner(this.full).id, this.network, this.full.session, this.services.accessTokens);
  }

  /** As the audit log names it. */
  private get by(): By {
    return { address: this.network };
  }

  /** Why the sender is not for rows of this group; undefined if they are. */
  lacking(group: Group, access: Access): KnownError | undefined {
    return lacking(group, access, this.full);
  }

  /** Makes a key, or a new one in place of the one with this id. */
  async renewKey(replaced?: string): Promise<void> {
    const { session } = this.full;
    const { id } = demandOwner(this.full);
    if (replaced === undefined) await makeKey(id, session, this.services.vault);
    else await replaceKey(id, replaced, session, this.services.vault, this.by);
  }

  headers(): Record<string, string> {
    return { ...(this.services.config.serverTiming && this.timing()), ...rateLimitHeaders(this.full.spending) };
  }

  private timing(): Record<string, string> {
    const { milliseconds, statements } = this.full.session;
    return { 'Server-Timing': `db;dur=${milliseconds.toFixed(1)};desc="${statements} statements"` };
  }

  /** Nobody waits for the answer once its connection is closed. */
  watch(response: ServerResponse): void {
    response.once('close', () => {
      if (!response.writableFinished) this.full.session.abandon();
    });
  }

  /** One line a request; never a header, a body or a query, which may hold secrets. And what metrics count. */
  watched(response: ServerResponse): void {
    const { log, metrics, tracing } = this.services;
    const isLogged = log.isLevelEnabled('info');
    const trace = tracing?.begin(this.request);
    this.full.trace = this.full.session.trace = trace;
    if (!isLogged && !metrics && !trace) return;
    // express rewrites the URL while it looks for a handler.
    const path = this.request.url!.split('?', 1)[0]!.slice(0, MAX_LOGGED);
    const line = (ms: number) => {
      const { viewer, session } = this.full;
      log.info(
        {
          id: this.id,
          method: this.request.method,
          path,
          status: response.statusCode,
          user: viewer?.id ?? null,
          address: this.address.slice(0, MAX_ADDRESS),
          operation: this.operation?.slice(0, MAX_LOGGED),
          ms: Math.round(ms * 10) / 10,
          statements: session.statements,
        },
        REQUEST,
      );
    };
    response.once('close', () => {
      const ms = performance.now() - this.began;
      if (isLogged) line(ms);
      trace?.end({
        method: this.request.method!,
        route: routeOf(this.request, this.route),
        status: response.statusCode,
        attributes: {
          'url.path': path,
          'client.address': this.address.slice(0, MAX_ADDRESS),
          'user.id': this.full.viewer?.id,
          'fitgraph.request.id': this.id,
        },
      });
      metrics?.answered({ request: this.request, response, context: this.full, rest: this.route, operation: this.operation, ms });
    });
  }
}
