/** One HTTP request: its session, its viewer, its context, and the line that the log has of it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { viewerOf } from '../auth/accounts';
import { isAccessToken, type AccessTokens } from '../auth/accesstokens';
import { tokenOfHeader } from '../auth/header';
import { CSRF_HEADER, CsrfError, type Sessions } from '../auth/sessions';
import { lacking } from '../core/access/access';
import type { Context, Viewer } from '../core/context';
import type { Access } from '../core/access/scopes';
import type { Group } from '../contract/facts';
import { notSignedIn, ofDatabase, type KnownError } from '../core/model/errors';
import { Account } from './account';
import { rateLimitHeaders } from './budget';
import type { Attempt, Idempotency, KeptAnswer } from './idempotency';
import { Loaders } from '../core/read/loaders';
import type { Exposure } from './exposure';
import { languagesOf } from './languages';
import { observe } from './observation';
import { REQUEST_ID } from './origin';
import type { Route } from '../rest/routes';
import type { Services } from './services';
import type { Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';

export interface Dependencies extends Services {
  sessions: Sessions;
  accessTokens: AccessTokens;
  exposure: Exposure;
  idempotency: Idempotency;
  /** Absent: nobody asks for them. */
  metrics?: Metrics;
  tracing?: Tracing;
}

/** Methods that change nothing, which other sites' pages may therefore cause. */
const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

export class HttpExchange {
  /** What the request is called in its answer and in the log. */
  readonly id: string;
  /** Name of the operation of GraphQL that was found in the request; null where it has none. */
  operation?: string | null;
  route?: Route;
  private readonly began = performance.now();
  private readonly full: Context;
  private readonly address: string;
  private readonly network: string;
  /** Of the browser: the session that its cookie names, once it is known to be one. */
  private browser?: { sessionId: string; username: string };

  private own?: Account;
  private identifying?: Promise<boolean>;

  /** Id of the user whose credentials these are, known before a form is read that may lack its token. */
  sender?: number;

  constructor(
    private readonly request: IncomingMessage,
    private readonly services: Dependencies,
    /** Of the Authorization header, in lower case. */
    private readonly schemes: readonly string[],
    api: Context['api'],
  ) {
    const { config, database, reference, memory, names, changes, origin, media } = services;
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
      signIn: (username, password) => this.account.signIn(username, password),
      credentials: () => this.account.credentials(),
      changePassword: (oldPassword, newPassword) => this.account.changePassword(oldPassword, newPassword),
      replaceToken: () => this.account.replaceToken(),
      confirm: async () => {
        if (!(await this.authenticate())) throw notSignedIn();
      },
    };
    this.full.spending = services.budgets.of(this.full, () => this.network);
  }

  get context(): Context {
    return this.full;
  }

  get account(): Account {
    const { request, services, full, id, address, network } = this;
    const token = () => tokenOfHeader(request.headers.authorization, this.schemes);
    return (this.own ??= new Account({
      request,
      services,
      context: full,
      id,
      address,
      network,
      token,
      browser: () => this.browser?.sessionId,
    }));
  }

  get languages(): readonly string[] {
    return this.full.languages;
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
      this.full.session.asks('strangers', this.network);
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

  /** Makes a change, unless it was made before with the same Idempotency-Key: then its answer is given again. */
  async once(body: unknown, make: () => Promise<KeptAnswer>): Promise<KeptAnswer> {
    const attempt = await this.attempt(body);
    if (!attempt) return make();
    if ('kept' in attempt) return attempt.kept;
    const { claim } = attempt;
    const answer = await make().catch(async (error: unknown) => {
      await claim.release();
      throw error;
    });
    await claim.settle(answer);
    return answer;
  }

  /** Signs the browser in, in a session of its own; answers the Set-Cookie header. */
  async startSession(username: string, password: string): Promise<string> {
    const { sessions } = this.services;
    const { session } = this.full;
    const userId = await this.account.checkCredentials(username, password);
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

  /** Why the sender is not for rows of this group; undefined if they are. */
  lacking(group: Group, access: Access): KnownError | undefined {
    return lacking(group, access, this.full);
  }

  sent(bytes: number): void {
    this.full.spending?.sent(bytes);
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

  /** What the log, metrics and traces have of it. */
  watched(response: ServerResponse): void {
    const { request, services, full, began, address } = this;
    observe(response, { request, services, context: full, began, address, told: this });
  }
}
