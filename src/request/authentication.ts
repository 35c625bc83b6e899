/**
 * Authentication of a request by the Authorization header or by the session cookie of a browser. With a cookie, methods that may change something require the
 * CSRF token of the session.
 */
import { isAccessToken } from '../auth/accesstokens';
import { lockAccountRow, viewerOfApiKey } from '../auth/accounts';
import { parseAuthorization, parseBearerAccessToken } from '../auth/authorization';
import { CSRF_HEADER, CsrfError } from '../auth/sessions';
import type { ScopeGroup } from '../contract/metadata';
import { missingScopeError } from '../core/access/access';
import type { AccessKind } from '../core/access/scopes';
import type { Viewer } from '../core/context';
import { ClientError, toClientError, unauthenticatedError } from '../core/model/errors';
import type { DatabaseSession } from '../database/session';
import type { HttpRequestInfo } from './requestinfo';
import type { RequestHead } from './forwardedheaders';
import type { Services } from './services';

/** Methods that only read (RFC 9110, section 9.2.1). They require no CSRF token. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

/** Reads the CSRF token from the form in the request body. Called only if the token is required and not in a header. */
export type ReadFormCsrfToken = () => Promise<string | undefined>;

export class Authentication {
  viewer: Viewer | null = null;
  /** Id of the user whose credentials were sent. Unlike `viewer`, it is set before the CSRF token is checked. */
  senderUserId?: number;
  /** Session of the browser; absent unless the request was authenticated by its cookie. */
  private browserSession?: { id: string; username: string };
  private authenticationPromise?: Promise<boolean>;

  constructor(
    private readonly request: RequestHead,
    private readonly services: Pick<
      Services,
      'browserSessions' | 'accessTokens' | 'clearTextWarning' | 'config' | 'log'
    >,
    private readonly session: DatabaseSession,
    private readonly requestInfo: HttpRequestInfo,
    /** Accepted schemes of the Authorization header, in lower case. */
    private readonly authSchemes: readonly string[],
  ) {}

  /**
   * Token in the Authorization header; undefined if there is none with an accepted scheme. For personal access tokens, the scheme Bearer is always
   * accepted.
   */
  get token(): string | undefined {
    const { authorization } = this.request.headers;
    return (
      parseAuthorization(authorization, this.authSchemes) ?? parseBearerAccessToken(authorization)
    );
  }

  /** Id of the browser's session; undefined unless the request was authenticated by its cookie. */
  get sessionId(): string | undefined {
    return this.browserSession?.id;
  }

  /**
   * Whether session cookies have the attribute Secure, and the name prefix `__Host-`, which requires it. If so, a session cookie without this prefix
   * is ignored.
   */
  get usesSecureCookies(): boolean {
    return this.services.config.production || this.requestInfo.baseUrl.startsWith('https:');
  }

  /**
   * Authenticates the request. Returns false for an anonymous client, including one whose session has expired. Throws for an invalid token in the
   * Authorization header, and for a missing or wrong CSRF token.
   */
  async authenticate(readFormToken?: ReadFormCsrfToken): Promise<boolean> {
    try {
      const viewer = await this.identifyViewer(readFormToken);
      if (viewer) this.session.setClient('users', viewer.id);
      return viewer !== undefined;
    } catch (error) {
      this.session.setClient('anonymous', this.requestInfo.clientNetwork);
      throw toClientError(error, this.services.log, this.requestInfo.id) ?? error;
    }
  }

  private async identifyViewer(readFormToken?: ReadFormCsrfToken): Promise<Viewer | undefined> {
    const { session, token, services } = this;
    const { clientNetwork } = this.requestInfo;
    if (token !== undefined) {
      services.clearTextWarning.warnIfClearText(this.request);
      // The SQL statement that verifies the token is queued with those of signed-in users, so that it need not wait for statements of anonymous clients.
      session.setClient('users', clientNetwork);
      const viewer = await (isAccessToken(token)
        ? services.accessTokens.viewerOf(token, session)
        : viewerOfApiKey(token, session));
      this.senderUserId = viewer.id;
      return (this.viewer = viewer);
    }
    const id = services.browserSessions.idFromCookie(
      this.request.headers.cookie,
      this.usesSecureCookies,
    );
    if (!id) return undefined;
    session.setClient('users', clientNetwork);
    const viewer = await services.browserSessions.viewerOf(id, session);
    if (!viewer) {
      session.setClient('anonymous', clientNetwork);
      return undefined;
    }
    this.browserSession = { id, username: viewer.username };
    this.senderUserId = viewer.id;
    if (!SAFE_METHODS.includes(this.request.method ?? '')) {
      const csrfToken =
        this.request.headers[CSRF_HEADER.toLowerCase()] ?? (await readFormToken?.());
      if (!services.browserSessions.isValidCsrfToken(id, csrfToken?.toString()))
        throw new CsrfError();
    }
    return (this.viewer = viewer);
  }

  /**
   * Locks the account of the viewer in the current transaction, and throws UNAUTHENTICATED if the API key or browser session of the request has been
   * revoked since it was authenticated. Without this, a request that overlaps a change of the password could create new credentials afterwards.
   */
  async lockAndCheckCredentials(viewerId: number): Promise<void> {
    const { token, sessionId, services, session } = this;
    await lockAccountRow(viewerId, session);
    if (token !== undefined)
      await viewerOfApiKey(token, session).catch((error: unknown) => {
        throw error instanceof ClientError ? unauthenticatedError(error.message) : error;
      });
    else if (
      sessionId === undefined ||
      !(await services.browserSessions.viewerOf(sessionId, session))
    )
      throw unauthenticatedError();
  }

  /** Authenticates the request at the first call, before the body is read. Later calls return the same result. */
  authenticateOnce(): Promise<boolean> {
    return (this.authenticationPromise ??= this.authenticate());
  }

  /** Whether the sender is signed in. Returns false for invalid credentials, whose error `authenticateOnce` throws. */
  isSignedIn(): Promise<boolean> {
    return this.authenticateOnce().catch(() => false);
  }

  /** Returns the user name for the header of a page, and the CSRF token for its forms. */
  pageVisitor(): { username?: string; csrfToken?: string } {
    if (!this.browserSession) return { username: this.viewer?.username };
    return {
      username: this.browserSession.username,
      csrfToken: this.services.browserSessions.createCsrfToken(this.browserSession.id),
    };
  }

  /**
   * Returns an error if the scopes of the request's access token do not permit this kind of access (read or write) to the resources of a scope group, such
   * as `nutrition`; otherwise undefined.
   */
  missingScopeError(group: ScopeGroup, access: AccessKind): ClientError | undefined {
    return missingScopeError(group, access, this);
  }

  /** Starts a browser session and ends the one that the cookie names. Returns the Set-Cookie header. */
  async startSession(userId: number): Promise<string> {
    await this.endSession();
    return this.services.browserSessions.createSetCookieHeader(
      await this.services.browserSessions.start(userId, this.session),
      this.usesSecureCookies,
    );
  }

  /** Ends the browser session that the request's cookie names, if any. Returns the Set-Cookie header that deletes the cookie. */
  async endSession(): Promise<string> {
    const { browserSessions } = this.services;
    const id = browserSessions.idFromCookie(this.request.headers.cookie, this.usesSecureCookies);
    if (id !== undefined) await browserSessions.end(id, this.session);
    return browserSessions.createSetCookieHeader(undefined, this.usesSecureCookies);
  }
}
