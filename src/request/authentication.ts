/**
 * Authenticates a request by the Authorization header or by a browser's session cookie. With a
 * cookie, writing methods require the CSRF token of the session.
 */
import { isAccessToken } from '../accounts/access-tokens';
import { lockAccount, authenticateApiKey, type CredentialReader } from '../accounts/accounts';
import { CSRF_HEADER, CsrfError } from '../accounts/sessions';
import { missingScopeError } from '../engine/access/access';
import type { AccessKind } from '../engine/access/scopes';
import type { RequestInfo, Viewer } from '../engine/context';
import {
  ClientError,
  forbiddenError,
  toClientError,
  unauthenticatedError,
} from '../engine/declare/errors';
import type { DatabaseSession } from '../database/session';
import type { RequestHead } from './forwarded-headers';
import type { Services } from './services';

/** Methods that only read (RFC 9110, section 9.2.1) and need no CSRF token. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

/** Whitespace between scheme and token. Non-ASCII whitespace is part of the token. */
const WHITESPACE_PATTERN = /[ \t\n\v\f\r]/;

/**
 * Parses the token of `Authorization: <scheme> <token>`
 * (https://www.rfc-editor.org/rfc/rfc9110#name-authorization). Clients with other schemes count as
 * anonymous. A malformed header is FORBIDDEN.
 */
function parseAuthorization(
  header: string | undefined,
  schemes: readonly string[],
): string | undefined {
  const [scheme, ...credentials] = (header ?? '').split(WHITESPACE_PATTERN).filter(Boolean);

  if (!scheme || !schemes.includes(scheme.toLowerCase())) return undefined;

  if (credentials.length === 0) {
    throw forbiddenError('Invalid token header. No credentials provided.');
  }

  if (credentials.length > 1) {
    throw forbiddenError('Invalid token header. Token string should not contain spaces.');
  }

  // Node decodes headers as Latin-1, so invalid UTF-8 must be searched for in the original bytes.
  const bytes = Buffer.from(credentials[0]!, 'latin1');

  if (bytes.some((byte) => byte > 127) && bytes.toString('utf8').includes('\uFFFD')) {
    throw forbiddenError(
      'Invalid token header. Token string should not contain invalid characters.',
    );
  }

  return bytes.toString('utf8');
}

/** Parses a personal access token of the form `Authorization: Bearer fgt_…`. */
function parseBearerAccessToken(header: string | undefined): string | undefined {
  const [scheme, token, ...rest] = (header ?? '').split(WHITESPACE_PATTERN).filter(Boolean);

  if (
    scheme?.toLowerCase() === 'bearer' &&
    token !== undefined &&
    !rest.length &&
    isAccessToken(token)
  ) {
    return token;
  }

  return undefined;
}

/** The visitor of an HTML page, and where the page is. */
export interface PageVisitor {
  username?: string;
  csrfToken?: string;
  isSuperuser?: boolean;
  isCurator?: boolean;

  /** URL of the page, to which the visitor returns after login. */
  returnUrl: string;
  basePath: string;

  /** Preferred time zone, in which the page shows times. */
  timeZone?: string;
}

/** URL of the page, or the path of the page from which a form was sent. */
const returnUrlOf = ({ method, url = '/' }: RequestHead): string =>
  method === 'GET' ? url : url.split('?', 1)[0]!;

/** Reads the CSRF token from a posted form, if it is required and not in a header. */
export type ReadFormCsrfToken = () => Promise<string | undefined>;

export class Authentication {
  viewer: Viewer | null = null;

  /**
   * Id of the user whose credentials were sent. Unlike `viewer`, it is set before the CSRF token is
   * checked.
   */
  senderUserId?: number;

  /** Session of a browser whose cookie authenticated the request. */
  private browserSession?: { id: string; username: string };
  private authenticationPromise?: Promise<boolean>;

  constructor(
    private readonly request: RequestHead,
    private readonly services: Pick<
      Services,
      'browserSessions' | 'accessTokens' | 'clearTextWarning' | 'config' | 'log'
    >,
    private readonly session: DatabaseSession,
    private readonly requestInfo: RequestInfo,

    /** Accepted schemes of the Authorization header, in lower case. */
    private readonly authSchemes: readonly string[],
  ) {}

  /**
   * Token in the Authorization header, if its scheme is accepted. Personal access tokens always use
   * Bearer.
   */
  get token(): string | undefined {
    const { authorization } = this.request.headers;

    return (
      parseAuthorization(authorization, this.authSchemes) ?? parseBearerAccessToken(authorization)
    );
  }

  private get cookieSessionId(): string | undefined {
    return this.services.browserSessions.idFromCookie(
      this.request.headers.cookie,
      this.usesSecureCookies,
    );
  }

  /** Finds the user of the session cookie, without authenticating the request. */
  async findSessionUser(): Promise<Viewer | undefined> {
    const id = this.cookieSessionId;

    if (id === undefined) return undefined;

    return this.services.browserSessions.authenticate(id, this.session);
  }

  /** Id of the browser session whose cookie authenticated the request. */
  get sessionId(): string | undefined {
    return this.browserSession?.id;
  }

  /**
   * Whether session cookies have the attribute Secure and a name prefix that requires it. If so,
   * cookies without the prefix are ignored.
   */
  get usesSecureCookies(): boolean {
    return this.services.config.production || this.requestInfo.baseUrl.startsWith('https:');
  }

  /**
   * Authenticates the request. Returns false for anonymous clients, including clients with an
   * expired session. Throws for an invalid token, and for a missing or wrong CSRF token.
   */
  async authenticate(readFormToken?: ReadFormCsrfToken): Promise<boolean> {
    try {
      const viewer = await this.loadViewer(readFormToken);

      if (viewer) this.session.setClient('users', viewer.id);

      return viewer !== undefined;
    } catch (error) {
      this.session.setClient('anonymous', this.requestInfo.clientNetwork);
      throw toClientError(error, this.services.log, this.requestInfo.id) ?? error;
    }
  }

  private viewerOfToken(token: string): Promise<Viewer> {
    const { session, services } = this;

    if (isAccessToken(token)) return services.accessTokens.authenticate(token, session);

    return authenticateApiKey(token, session);
  }

  private async loadViewer(readFormToken?: ReadFormCsrfToken): Promise<Viewer | undefined> {
    const { session, token, services } = this;
    const { clientNetwork } = this.requestInfo;

    if (token !== undefined) {
      services.clearTextWarning.warnIfClearText(this.request);
      // The statement that verifies the token is queued with the statements of signed-in users, so
      // that it does not wait for anonymous clients.
      session.setClient('users', clientNetwork);
      const viewer = await this.viewerOfToken(token);

      this.senderUserId = viewer.id;
      return (this.viewer = viewer);
    }

    const id = this.cookieSessionId;

    if (!id) return undefined;
    session.setClient('users', clientNetwork);
    const viewer = await services.browserSessions.authenticate(id, session);

    if (!viewer) {
      session.setClient('anonymous', clientNetwork);
      return undefined;
    }

    this.browserSession = { id, username: viewer.username };
    this.senderUserId = viewer.id;

    if (!SAFE_METHODS.includes(this.request.method ?? '')) {
      const csrfToken =
        this.request.headers[CSRF_HEADER.toLowerCase()] ?? (await readFormToken?.());

      if (!services.browserSessions.isValidCsrfToken(id, csrfToken?.toString())) {
        throw new CsrfError();
      }
    }

    return (this.viewer = viewer);
  }

  /**
   * Locks the viewer's account in the current transaction and checks that the API key or browser
   * session is still valid. Otherwise, a request that overlaps a change of the password could
   * create new credentials afterwards. Returns the viewer as they are now.
   */
  async lockAndCheckCredentials(
    viewerId: number,
    session: CredentialReader = this.session,
  ): Promise<Viewer> {
    const { token, sessionId = '', services } = this;

    await lockAccount(viewerId, session);

    if (token !== undefined) {
      return authenticateApiKey(token, session).catch((error: unknown) => {
        throw error instanceof ClientError ? unauthenticatedError(error.message) : error;
      });
    }

    const viewer = await services.browserSessions.authenticate(sessionId, session);

    if (!viewer) throw unauthenticatedError();

    return viewer;
  }

  /** Authenticates the request at the first call, before the body is read, and keeps the result. */
  authenticateOnce(): Promise<boolean> {
    return (this.authenticationPromise ??= this.authenticate());
  }

  /**
   * Whether the sender is signed in. False for invalid credentials, for which `authenticateOnce`
   * throws.
   */
  isSignedIn(): Promise<boolean> {
    return this.authenticateOnce().catch(() => false);
  }

  /** User name for the header of a page, and CSRF token for its forms. */
  pageVisitor(): PageVisitor {
    const { basePath } = this.requestInfo;
    const timeZone = this.viewer?.timeZone ?? undefined;
    const location = { basePath, returnUrl: returnUrlOf(this.request), timeZone };

    if (!this.browserSession) return { ...location, username: this.viewer?.username };

    return {
      ...location,
      username: this.browserSession.username,
      isSuperuser: this.viewer?.isSuperuser,
      isCurator: this.viewer?.isCurator,
      csrfToken: this.services.browserSessions.createCsrfToken(this.browserSession.id),
    };
  }

  /**
   * Creates the error for an access token without the scope for this access to a resource group,
   * such as `nutrition`.
   */
  missingScopeError(group: string, access: AccessKind): ClientError | undefined {
    return missingScopeError(group, access, this);
  }

  /** Starts a browser session, ends the one in the cookie, and returns the Set-Cookie header. */
  async startSession(userId: number): Promise<string> {
    await this.endSession();
    return this.services.browserSessions.createSetCookieHeader(
      await this.services.browserSessions.start(userId, this.session),
      this.usesSecureCookies,
    );
  }

  /**
   * Ends the browser session in the cookie and returns the Set-Cookie header that deletes the
   * cookie.
   */
  async endSession(): Promise<string> {
    const { browserSessions } = this.services;
    const id = this.cookieSessionId;

    if (id !== undefined) await browserSessions.end(id, this.session);

    return browserSessions.createSetCookieHeader(undefined, this.usesSecureCookies);
  }
}
