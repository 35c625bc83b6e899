/**
 * Authentication of a request: by the Authorization header or by the session cookie of a browser. With a cookie, an unsafe method requires the CSRF
 * token of the session.
 */
import { isAccessToken } from '../auth/accesstokens';
import { viewerOfApiKey } from '../auth/accounts';
import { parseAuthorization, parseBearerAccessToken } from '../auth/authorization';
import { CSRF_HEADER, CsrfError } from '../auth/sessions';
import type { ScopeGroup } from '../contract/metadata';
import { missingScopeError } from '../core/access/access';
import type { Access } from '../core/access/scopes';
import type { Viewer } from '../core/context';
import { toClientError, type ClientError } from '../core/model/errors';
import type { Session } from '../database/session';
import type { HttpRequestInfo } from './requestinfo';
import type { RequestHead } from './clientorigin';
import type { Services } from './services';

/** Safe methods (RFC 9110, section 9.2.1), exempt from CSRF protection. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

/** Reads the CSRF token of a posted form. Called only if one is needed. */
export type FormTokenReader = () => Promise<string | undefined>;

export class Authentication {
  viewer: Viewer | null = null;
  /** Id of the user whose credentials were sent. Unlike the viewer it is set before the CSRF token is checked. */
  sender?: number;
  /** Session of a browser that was authenticated by its cookie. */
  private browserSession?: { id: string; username: string };
  private firstResult?: Promise<boolean>;

  constructor(
    private readonly request: RequestHead,
    private readonly services: Pick<Services, 'sessions' | 'accessTokens' | 'clearTextWarning' | 'config' | 'log'>,
    private readonly session: Session,
    private readonly info: HttpRequestInfo,
    /** Accepted schemes of the Authorization header, in lower case. */
    private readonly schemes: readonly string[],
  ) {}

  /** Token of the Authorization header; undefined without one of an accepted scheme. */
  get token(): string | undefined {
    const { authorization } = this.request.headers;
    return parseAuthorization(authorization, this.schemes) ?? parseBearerAccessToken(authorization);
  }

  /** Id of the session by which the browser was authenticated. */
  get sessionId(): string | undefined {
    return this.browserSession?.id;
  }

  /** Whether session cookies carry the Secure attribute. If so, cookies without it are ignored. */
  get secure(): boolean {
    return this.services.config.production || this.info.baseUrl.startsWith('https:');
  }

  /** Returns false for anonymous clients. Throws for invalid credentials and for a missing CSRF token. */
  async authenticate(formToken?: FormTokenReader): Promise<boolean> {
    try {
      const viewer = await this.identify(formToken);
      if (viewer) this.session.setClient('users', viewer.id);
      return viewer !== undefined;
    } catch (error) {
      this.session.setClient('anonymous', this.info.network);
      throw toClientError(error, this.services.log, this.info.id) ?? error;
    }
  }

  private async identify(formToken?: FormTokenReader): Promise<Viewer | undefined> {
    const { session, token, services } = this;
    const { network } = this.info;
    if (token !== undefined) {
      services.clearTextWarning.check(this.request);
      // A request with a token does not queue behind anonymous clients while the token is verified.
      session.setClient('users', network);
      const viewer = await (isAccessToken(token) ? services.accessTokens.viewerOf(token, session) : viewerOfApiKey(token, session));
      this.sender = viewer.id;
      return (this.viewer = viewer);
    }
    const id = services.sessions.idOf(this.request.headers.cookie, this.secure);
    if (!id) return undefined;
    session.setClient('users', network);
    const viewer = await services.sessions.viewerOf(id, session);
    if (!viewer) {
      session.setClient('anonymous', network);
      return undefined;
    }
    this.browserSession = { id, username: viewer.username };
    this.sender = viewer.id;
    if (!SAFE_METHODS.includes(this.request.method ?? '')) {
      const csrfToken = this.request.headers[CSRF_HEADER.toLowerCase()] ?? (await formToken?.());
      if (!services.sessions.isCsrfToken(id, csrfToken?.toString())) throw new CsrfError();
    }
    return (this.viewer = viewer);
  }

  /** Authenticates before the body is read; later calls return the same result. */
  authenticateOnce(): Promise<boolean> {
    return (this.firstResult ??= this.authenticate());
  }

  /** Whether the sender is signed in. False for invalid credentials, whose error `authenticateOnce` reports. */
  isSignedIn(): Promise<boolean> {
    return this.authenticateOnce().catch(() => false);
  }

  /** User name for the page header and CSRF token for its forms. */
  visitor(): { username?: string; csrfToken?: string } {
    if (!this.browserSession) return { username: this.viewer?.username };
    return { username: this.browserSession.username, csrfToken: this.services.sessions.csrfToken(this.browserSession.id) };
  }

  /** Returns the error for a token without access to the resources of this group; undefined if access is granted. */
  missingScope(group: ScopeGroup, access: Access): ClientError | undefined {
    return missingScopeError(group, access, this);
  }

  /** Signs the browser in with a new session, which replaces that of its cookie; returns the Set-Cookie header. */
  async startSession(userId: number): Promise<string> {
    await this.endSession();
    return this.services.sessions.cookie(await this.services.sessions.start(userId, this.session), this.secure);
  }

  /** Ends the session of the cookie, if any; returns the Set-Cookie header that deletes the cookie. */
  async endSession(): Promise<string> {
    const { sessions } = this.services;
    const id = sessions.idOf(this.request.headers.cookie, this.secure);
    if (id !== undefined) await sessions.end(id, this.session);
    return sessions.cookie(undefined, this.secure);
  }
}
