/** Request context of one HTTP request: client address, authentication, database session, resolver context, idempotency and observability. */
import type { ServerResponse } from 'node:http';
import { viewerOfApiKey } from '../auth/accounts';
import { isAccessToken, type AccessTokens } from '../auth/accesstokens';
import { parseAuthorization } from '../auth/authorization';
import { CSRF_HEADER, CsrfError, type Sessions } from '../auth/sessions';
import { missingScopeError } from '../core/access/access';
import type { Context, Viewer } from '../core/context';
import type { Access } from '../core/access/scopes';
import type { ScopeGroup } from '../contract/facts';
import { unauthenticatedError, toClientError, type ClientError } from '../core/model/errors';
import { AccountService } from './account';
import { rateLimitHeaders } from './costlimit';
import type { ClaimResult, IdempotencyKeys, StoredResponse } from './idempotency';
import { Loaders } from '../core/read/loaders';
import type { ClearTextWarning } from './cleartext';
import { parseAcceptLanguage } from './languages';
import { observeRequest } from './accesslog';
import { REQUEST_ID_HEADER, type RequestHead } from './clientorigin';
import type { Route } from '../rest/routes';
import type { Services } from './services';
import type { Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';

export interface RequestServices extends Services {
  sessions: Sessions;
  accessTokens: AccessTokens;
  exposure: ClearTextWarning;
  idempotency: IdempotencyKeys;
  /** Absent when disabled by the configuration. */
  metrics?: Metrics;
  tracing?: Tracing;
}

/** Safe methods (RFC 9110, section 9.2.1), exempt from CSRF protection. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

export class RequestContext {
  /** X-Request-Id of the response and the log. */
  readonly id: string;
  /** Name of the GraphQL operation; null for an anonymous operation, undefined until the document is parsed. */
  operation?: string | null;
  route?: Route;
  private readonly startedAt = performance.now();
  private readonly resolverContext: Context;
  private readonly address: string;
  private readonly network: string;
  /** Session of a browser that was authenticated by its cookie. */
  private browserSession?: { sessionId: string; username: string };

  private ownAccount?: AccountService;
  private authentication?: Promise<boolean>;

  /** Id of the user whose credentials were sent. Unlike the viewer it is set before the CSRF token is checked. */
  sender?: number;

  constructor(
    private readonly request: RequestHead,
    private readonly services: RequestServices,
    /** Accepted schemes of the Authorization header, in lower case. */
    private readonly schemes: readonly string[],
    api: Context['api'],
  ) {
    const { config, database, reference, memory, names, changes, origin, media } = services;
    const session = database.session();
    this.id = request.headers[REQUEST_ID_HEADER] as string;
    this.address = origin.clientAddress(request);
    this.network = origin.clientNetwork(request, this.address);
    session.setClient('anonymous', this.network);
    const log = services.log;
    this.resolverContext = {
      requestId: this.id,
      countErrorCode: services.metrics && ((code) => services.metrics!.told(api, code)),
      viewer: null,
      api,
      session,
      startedAt: this.startedAt,
      loaders: new Loaders(),
      catalogue: reference,
      derivedValues: memory,
      nameIndexes: names,
      changeLog: changes,
      media,
      timeZone: config.timeZone,
      baseUrl: origin.baseUrl(request),
      languages: parseAcceptLanguage(request.headers['accept-language']),
      log,
      signIn: (username, password) => this.account.signIn(username, password),
      credentials: () => this.account.credentials(),
      changePassword: (oldPassword, newPassword) => this.account.changePassword(oldPassword, newPassword),
      replaceToken: () => this.account.replaceToken(),
      confirmCredentials: async () => {
        if (!(await this.authenticate())) throw unauthenticatedError();
      },
    };
    this.resolverContext.budget = services.budgets.spendingFor(this.resolverContext, () => this.network);
  }

  get context(): Context {
    return this.resolverContext;
  }

  get account(): AccountService {
    const { request, services, resolverContext, id, address, network } = this;
    const token = () => parseAuthorization(request.headers.authorization, this.schemes);
    return (this.ownAccount ??= new AccountService({
      request,
      services,
      context: resolverContext,
      id,
      address,
      network,
      token,
      sessionId: () => this.browserSession?.sessionId,
    }));
  }

  get languages(): readonly string[] {
    return this.resolverContext.languages;
  }

  get baseUrl(): string {
    return this.resolverContext.baseUrl;
  }

  /** Whether session cookies carry the Secure attribute. If so, cookies without it are ignored. */
  get secure(): boolean {
    return this.services.config.production || this.baseUrl.startsWith('https:');
  }

  /**
   * Authenticates by the Authorization header or, without one of an accepted scheme, by the session cookie; returns false for anonymous clients.
   * With a cookie, an unsafe method requires the CSRF token, from the header `X-CSRFToken` or from `formToken`, which is called only then.
   */
  async authenticate(formToken?: () => Promise<string | undefined>): Promise<boolean> {
    try {
      const viewer = await this.viewer(formToken);
      if (viewer) this.resolverContext.session.setClient('users', viewer.id);
      return viewer !== undefined;
    } catch (error) {
      this.resolverContext.session.setClient('anonymous', this.network);
      throw toClientError(error, this.services.log, this.id) ?? error;
    }
  }

  private async viewer(formToken?: () => Promise<string | undefined>): Promise<Viewer | undefined> {
    const { sessions, exposure } = this.services;
    const { session } = this.resolverContext;
    const { authorization, cookie } = this.request.headers;
    const token = parseAuthorization(authorization, this.schemes);
    if (token !== undefined) {
      exposure.check(this.request);
      // A request with a token does not queue behind anonymous clients while the token is verified.
      session.setClient('users', this.network);
      const viewer = await (isAccessToken(token) ? this.services.accessTokens.viewerOf(token, session) : viewerOfApiKey(token, session));
      this.sender = viewer.id;
      return (this.resolverContext.viewer = viewer);
    }
    const sessionId = sessions.idOf(cookie, this.secure);
    if (!sessionId) return undefined;
    session.setClient('users', this.network);
    const viewer = await sessions.viewerOf(sessionId, session);
    if (!viewer) {
      session.setClient('anonymous', this.network);
      return undefined;
    }
    this.browserSession = { sessionId, username: viewer.username };
    this.sender = viewer.id;
    if (!SAFE_METHODS.includes(this.request.method ?? '')) {
      const csrfToken = this.request.headers[CSRF_HEADER.toLowerCase()] ?? (await formToken?.());
      if (!sessions.isCsrfToken(sessionId, csrfToken?.toString())) throw new CsrfError();
    }
    return (this.resolverContext.viewer = viewer);
  }

  /** Authenticates once per request: before the body is read; the handler gets the same result. */
  authenticateOnce(): Promise<boolean> {
    return (this.authentication ??= this.authenticate());
  }

  /** Whether the sender is signed in. Invalid credentials count as no; their error is reported later, by `identified`. */
  isSignedIn(): Promise<boolean> {
    return this.authenticateOnce().catch(() => false);
  }

  /** User name for the page header and CSRF token for its forms. */
  visitor(): { username?: string; csrfToken?: string } {
    if (!this.browserSession) return { username: this.resolverContext.viewer?.username };
    return { username: this.browserSession.username, csrfToken: this.services.sessions.csrfToken(this.browserSession.sessionId) };
  }

  /** Claims the Idempotency-Key of the request; undefined without one or for anonymous clients. `body`: the parsed request body. */
  async claimIdempotencyKey(body: unknown): Promise<ClaimResult | undefined> {
    const { method, url, headers } = this.request;
    const key = headers['idempotency-key'];
    if (key === undefined || !this.resolverContext.viewer) return undefined;
    // Scopes are part of the fingerprint, so that a token with fewer of them cannot read a stored response.
    const { id, scopes } = this.resolverContext.viewer;
    // Runs to its end even if the client disconnects: the client repeats the request to learn the result.
    this.resolverContext.session.completeRegardless();
    return this.services.idempotency
      .claim(id, key.toString(), [method, url, body, ...(scopes ? [[...scopes].sort()] : [])], this.resolverContext.session)
      .catch((error: unknown) => {
        throw toClientError(error, this.services.log, this.id) ?? error;
      });
  }

  /** Runs the operation, or replays the stored response if it was run before with the same Idempotency-Key. */
  async once(body: unknown, run: () => Promise<StoredResponse>): Promise<StoredResponse> {
    const attempt = await this.claimIdempotencyKey(body);
    if (!attempt) return run();
    if ('kept' in attempt) return attempt.kept;
    const { claim } = attempt;
    const response = await run().catch(async (error: unknown) => {
      await claim.release();
      throw error;
    });
    await claim.storeResponse(response);
    return response;
  }

  /** Signs the browser in with a new session; returns the Set-Cookie header. */
  async startSession(username: string, password: string): Promise<string> {
    const { sessions } = this.services;
    const { session } = this.resolverContext;
    const userId = await this.account.checkCredentials(username, password);
    await this.endSession();
    return sessions.cookie(await sessions.start(userId, session), this.secure);
  }

  /** Ends the session of the cookie, if any; returns the Set-Cookie header that deletes the cookie. */
  async endSession(): Promise<string> {
    const { sessions } = this.services;
    const sessionId = sessions.idOf(this.request.headers.cookie, this.secure);
    if (sessionId !== undefined) await sessions.end(sessionId, this.resolverContext.session);
    return sessions.cookie(undefined, this.secure);
  }

  /** Returns the error for a sender without access to the resources of this group; undefined if access is granted. */
  lacking(group: ScopeGroup, access: Access): ClientError | undefined {
    return missingScopeError(group, access, this.resolverContext);
  }

  sent(bytes: number): void {
    this.resolverContext.budget?.chargeResponseBytes(bytes);
  }

  headers(): Record<string, string> {
    return { ...(this.services.config.serverTiming && this.timing()), ...rateLimitHeaders(this.resolverContext.budget) };
  }

  private timing(): Record<string, string> {
    const { milliseconds, statements } = this.resolverContext.session;
    return { 'Server-Timing': `db;dur=${milliseconds.toFixed(1)};desc="${statements} statements"` };
  }

  /** Cancels the database work of the request when the client disconnects before the response is sent. */
  cancelOnDisconnect(response: ServerResponse): void {
    response.once('close', () => {
      if (!response.writableFinished) this.resolverContext.session.cancelReads();
    });
  }

  /** Registers access log, metrics and trace of the request. */
  observeResponse(response: ServerResponse): void {
    const { request, services, resolverContext, startedAt, address } = this;
    observeRequest(response, { request, services, context: resolverContext, startedAt, address, result: this });
  }
}
