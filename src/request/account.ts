/** Actions of the sender of a request on their own account: sign-in, password, API key, access tokens and sessions. */
import { listAccessTokens, type AccessToken, type NewAccessToken } from '../auth/accesstokens';
import {
  findApiKey,
  getOrCreateApiKey,
  verifyPasswordAndGetHash,
  passwordPolicyErrorMessage,
  replaceApiKey,
  replacePassword,
  getApiKeyByPassword,
  signInWithPassword,
  type ApiKey,
} from '../auth/accounts';
import { EVENT_KINDS, type EventKind } from '../auth/eventkinds';
import {
  findEventsOfUser,
  logSecurityEvent,
  type SecurityEventSource,
} from '../auth/securityevents';
import { requireViewerWithoutAccessToken } from '../core/access/access';
import { graphqlScopeName, type Scope } from '../core/access/scopes';
import type { AccountActions } from '../core/context';
import {
  InvalidInput,
  ClientError,
  unauthenticatedError,
  throwIfInvalid,
} from '../core/model/errors';
import { invalidValueIssue, validationIssue, IssueCode } from '../core/model/validationissues';
import type { DatabaseSession } from '../database/session';
import { truncateClientAddress } from './accesslog';
import type { Authentication } from './authentication';
import type { RequestHead } from './forwardedheaders';
import type { HttpRequestInfo } from './requestinfo';
import type { Services } from './services';

const MAX_LISTED_EVENTS = 10;

const WRONG_PASSWORD_ISSUE = validationIssue(
  IssueCode.WRONG_CREDENTIALS,
  'This is not your password.',
);

export class AccountService implements AccountActions {
  constructor(
    private readonly request: RequestHead,
    private readonly services: Pick<
      Services,
      'tokenVault' | 'loginLimiter' | 'accessTokens' | 'clearTextWarning' | 'log'
    >,
    private readonly session: DatabaseSession,
    private readonly requestInfo: HttpRequestInfo,
    private readonly authentication: Authentication,
  ) {}

  signIn(username: string, password: string): Promise<string> {
    return this.attemptSignIn(username, () =>
      getApiKeyByPassword(
        username,
        password,
        this.session,
        this.services.tokenVault,
        this.eventSource,
      ),
    );
  }

  /** Starts a browser session of the user with this name and password. Returns the Set-Cookie header. */
  startSession(username: string, password: string): Promise<string> {
    const startUserSession = (userId: number) => this.authentication.startSession(userId);
    return this.attemptSignIn(username, () =>
      signInWithPassword(username, password, startUserSession, this.session, this.eventSource),
    );
  }

  /** Runs a password check, if the login rate limits for the client's network and for the user name permit another one. */
  private attemptSignIn<T>(username: string, callback: () => Promise<T>): Promise<T> {
    const { clearTextWarning, loginLimiter } = this.services;
    clearTextWarning.warnIfClearText(this.request);
    return loginLimiter
      .attemptSignIn(this.requestInfo.clientNetwork, username, callback)
      .catch((error: unknown) => {
        this.logSignInFailure(error);
        throw error;
      });
  }

  /** Logs a failed login, so that password guessing is noticed. Omits the entered user name, because users sometimes enter their password there. */
  private logSignInFailure(error: unknown): void {
    const code =
      error instanceof ClientError
        ? error.extensions.code
        : error instanceof InvalidInput
          ? 'WRONG_PASSWORD'
          : undefined;
    if (code === undefined) return;
    const { id, clientAddress } = this.requestInfo;
    const fields = {
      id,
      address: truncateClientAddress(clientAddress),
      user: this.authentication.viewer?.id,
    };
    this.services.log.warn(
      { ...fields, code },
      code === 'TOO_MANY_REQUESTS' ? 'too many logins' : 'login failed',
    );
  }

  /** Changes the password, ends all other sessions and returns a new API key. The session of this request stays valid. */
  async changePassword(oldPassword: string, newPassword: string): Promise<string> {
    const viewer = requireViewerWithoutAccessToken(this.authentication);
    const passwordProblem = passwordPolicyErrorMessage(newPassword);
    const passwordIssues = passwordProblem
      ? [{ path: ['newPassword'], ...invalidValueIssue(passwordProblem) }]
      : [];
    const wrongPasswordError = () =>
      new InvalidInput([{ path: ['oldPassword'], ...WRONG_PASSWORD_ISSUE }, ...passwordIssues]);
    const storedHash = await this.attemptSignIn(viewer.username, async () => {
      const hash = await verifyPasswordAndGetHash(
        viewer.id,
        oldPassword,
        this.session,
        this.eventSource,
      );
      if (hash === undefined) {
        await logSecurityEvent(
          { kind: 'PASSWORD_REFUSED', userId: viewer.id, ...this.eventSource },
          this.session,
        );
        throw wrongPasswordError();
      }
      return hash;
    });
    throwIfInvalid(passwordIssues);
    const token = await replacePassword(
      viewer.id,
      storedHash,
      newPassword,
      this.authentication.sessionId,
      this.session,
      this.services.tokenVault,
      this.eventSource,
    );
    if (token === undefined) throw wrongPasswordError();
    return token;
  }

  replaceApiKey(): Promise<string> {
    return this.changeCredentials(async (userId) => {
      await this.authentication.lockAndCheckCredentials(userId);
      return (await replaceApiKey(
        userId,
        undefined,
        this.session,
        this.services.tokenVault,
        this.eventSource,
      ))!;
    });
  }

  findApiKey(): Promise<ApiKey | undefined> {
    return findApiKey(
      requireViewerWithoutAccessToken(this.authentication).id,
      this.session,
      this.services.tokenVault,
    );
  }

  async listAccessTokens(): Promise<AccessToken[]> {
    return (
      await listAccessTokens(
        [requireViewerWithoutAccessToken(this.authentication).id],
        this.session,
      )
    )[0]!;
  }

  async listSecurityEvents(): Promise<
    { occurredAt: string; description: string; address: string | null; detail: string | null }[]
  > {
    const events = await findEventsOfUser(
      requireViewerWithoutAccessToken(this.authentication).id,
      { limit: MAX_LISTED_EVENTS },
      this.session,
    );
    return events.map(({ occurredAt, kind, address, detail }) => ({
      occurredAt,
      description: EVENT_KINDS[kind],
      address,
      detail,
    }));
  }

  createAccessToken(input: NewAccessToken): Promise<{ id: number; token: string }> {
    return this.changeCredentials(async (userId) => {
      await this.authentication.lockAndCheckCredentials(userId);
      const newToken = await this.services.accessTokens.create(userId, input, this.session);
      const scopes = input.scopes.map((scope) => graphqlScopeName(scope as Scope)).join(', ');
      await this.logEvent('ACCESS_TOKEN_CREATED', userId, `${input.name.trim()} (${scopes})`);
      return newToken;
    });
  }

  revokeAccessTokens(id?: number): Promise<number> {
    return this.changeCredentials(async (userId) => {
      const names = await this.services.accessTokens.revoke(userId, id, this.session);
      for (const name of names) await this.logEvent('ACCESS_TOKEN_REVOKED', userId, name);
      return names.length;
    });
  }

  endSessions(): Promise<number> {
    return this.changeCredentials(async (userId) => {
      const deletedSessions = await this.session.query(
        'DELETE FROM "session" WHERE "user_id" = $1 RETURNING 1',
        [userId],
      );
      if (deletedSessions.length)
        await this.logEvent('SESSIONS_ENDED', userId, `${deletedSessions.length}`);
      return deletedSessions.length;
    });
  }

  /**
   * Creates the API key of the signed-in user if there is none. With `keyId`, replaces the key that has this id instead, if it still exists. A form that
   * is submitted twice therefore does not replace the key just created.
   */
  createOrReplaceApiKey(keyId?: string): Promise<void> {
    return this.changeCredentials(async (userId) => {
      await this.authentication.lockAndCheckCredentials(userId);
      if (keyId === undefined)
        await getOrCreateApiKey(userId, this.session, this.services.tokenVault);
      else
        await replaceApiKey(
          userId,
          Buffer.from(keyId, 'hex'),
          this.session,
          this.services.tokenVault,
          this.eventSource,
        );
    });
  }

  /** Runs `callback` with the id of the signed-in user in a transaction, so that a change and its event in the audit log are stored together. */
  private async changeCredentials<T>(callback: (userId: number) => Promise<T>): Promise<T> {
    const { id } = requireViewerWithoutAccessToken(this.authentication);
    return this.session.inTransaction(() => callback(id));
  }

  private logEvent(kind: EventKind, userId: number, detail: string): Promise<void> {
    return logSecurityEvent({ kind, userId, detail, ...this.eventSource }, this.session);
  }

  /** Authenticates the request again. Throws if its credentials are no longer valid. */
  async requireValidCredentials(): Promise<void> {
    if (!(await this.authentication.authenticate())) throw unauthenticatedError();
  }

  private get eventSource(): SecurityEventSource {
    return { address: this.requestInfo.clientNetwork };
  }
}
