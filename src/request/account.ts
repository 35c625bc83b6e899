/**
 * Actions on the account of the signed-in user: sign-in, password, API key, access tokens and
 * sessions.
 */
import {
  listAccessTokens,
  type StoredAccessToken,
  type NewAccessToken,
} from '../accounts/access-tokens';
import {
  checkPasswordPolicy,
  findApiKey,
  NO_PASSWORD,
  getOrCreateApiKey,
  verifyUserPassword,
  describePasswordProblem,
  replaceApiKey,
  replacePassword,
  getApiKeyByPassword,
  signInWithPassword,
  signInWithoutPassword,
  type ApiKey,
} from '../accounts/accounts';
import { countRowsOfUser, deleteUser, type RowCount } from '../accounts/deletion';
import { usePasswordLink } from '../accounts/password-links';
import { hashPassword } from '../accounts/passwords';
import { EVENT_KINDS, type EventKind } from '../accounts/event-kinds';
import {
  connectIdentity,
  findOrCreateProviderAccount,
  findOrCreateProxyAccount,
} from '../accounts/identities';
import {
  findUserEvents,
  logSecurityEvent,
  type SecurityEventSource,
} from '../accounts/security-events';
import { SELECT_SESSIONS_SQL, type StoredSession } from '../accounts/sessions';
import { sha256 } from '../accounts/tokens';
import { requireViewerWithoutAccessToken } from '../engine/access/access';
import { graphqlScopeName, type Scope } from '../engine/access/scopes';
import type { AccountActions, RequestInfo } from '../engine/context';
import {
  InvalidInput,
  ClientError,
  unauthenticatedError,
  throwIfInvalid,
  type InputIssue,
  invalidValueIssue,
  validationIssue,
  IssueCode,
} from '../engine/declare/errors';
import type { DatabaseSession } from '../database/session';
import type { Authentication } from './authentication';
import { truncateClientAddress, type RequestHead } from './forwarded-headers';
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
      | 'tokenVault'
      | 'loginLimiter'
      | 'openIdProvider'
      | 'database'
      | 'accessTokens'
      | 'clearTextWarning'
      | 'log'
    >,
    private readonly session: DatabaseSession,
    private readonly requestInfo: RequestInfo,
    private readonly authentication: Authentication,
  ) {}

  /** Checks the password and returns the API key. */
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

  /** Starts a browser session after a password check. Returns the Set-Cookie header. */
  startSession(username: string, password: string): Promise<string> {
    const startUserSession = (userId: number) => this.authentication.startSession(userId);

    return this.attemptSignIn(username, () =>
      signInWithPassword(username, password, startUserSession, this.session, this.eventSource),
    );
  }

  /** Sets the password of the account to which a link belongs. */
  setPasswordByLink(token: string, password: string): Promise<void> {
    checkPasswordPolicy(password);

    // Links have no user name, so only the limits of the network and in total apply.
    return this.attemptSignIn(token, async () => {
      const passwordHash = await hashPassword(password, this.requestInfo.clientNetwork);

      await usePasswordLink(token, passwordHash, this.session, this.eventSource);
    });
  }

  /**
   * Completes a sign-in at the provider, and starts a browser session or, for a signed-in user who
   * connects the provider, stores the connection. Returns the page to open and a Set-Cookie header.
   */
  completeProviderSignIn(
    redirectUrl: URL,
    cookieValue: string,
  ): Promise<{ next?: string; sessionCookie?: string }> {
    const { openIdProvider, database } = this.services;

    return this.attemptSignIn('', async () => {
      const { user, next, userId } = await openIdProvider!.complete(redirectUrl, cookieValue);

      if (userId !== undefined) {
        if (requireViewerWithoutAccessToken(this.authentication).id !== userId) {
          throw unauthenticatedError();
        }

        await this.session.inTransaction(() =>
          connectIdentity(userId, user, this.session, this.eventSource),
        );

        return { next };
      }

      const accountId = await findOrCreateProviderAccount(
        user,
        database.createSession(),
        this.eventSource,
      );

      return {
        next,
        sessionCookie: await this.startSessionWithoutPassword(accountId, user.issuer),
      };
    });
  }

  /**
   * Starts a session for the user whom a trusted proxy names, unless the request is one of their
   * session. Returns the Set-Cookie header. Requests of programs start no session, but replace that
   * of another user.
   */
  async startProxySession(username: string, isPage: boolean): Promise<string | undefined> {
    const viewer = await this.authentication.findSessionUser();

    if (viewer ? viewer.username === username : !isPage) return undefined;
    const session = this.services.database.createSession();
    const userId = await findOrCreateProxyAccount(username, session, this.eventSource);

    return this.startSessionWithoutPassword(userId, 'proxy');
  }

  private startSessionWithoutPassword(accountId: number, detail: string): Promise<string> {
    const startUserSession = (userId: number) => this.authentication.startSession(userId);

    return signInWithoutPassword(
      accountId,
      detail,
      startUserSession,
      this.session,
      this.eventSource,
    );
  }

  /**
   * Runs a password check within the login rate limits of the client's network and of the user
   * name.
   */
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

  /**
   * Logs a failed login, so that password guessing is noticed. The user name is omitted, because
   * users sometimes enter their password there.
   */
  private logSignInFailure(error: unknown): void {
    if (!(error instanceof ClientError || error instanceof InvalidInput)) return;
    const code = error instanceof ClientError ? error.extensions.code : 'WRONG_PASSWORD';
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

  /**
   * Changes the password and returns a new API key. All sessions end except the one of this
   * request.
   */
  async changePassword(oldPassword: string, newPassword: string): Promise<string> {
    const viewer = requireViewerWithoutAccessToken(this.authentication);
    const passwordProblem = describePasswordProblem(newPassword);
    const passwordIssues: InputIssue[] = [];

    if (passwordProblem) {
      passwordIssues.push({ path: ['newPassword'], ...invalidValueIssue(passwordProblem) });
    }

    const wrongPasswordError = () =>
      new InvalidInput([{ path: ['oldPassword'], ...WRONG_PASSWORD_ISSUE }, ...passwordIssues]);
    const storedHash = await this.attemptSignIn(viewer.username, async () => {
      const hash = await verifyUserPassword(viewer.id, oldPassword, this.session, this.eventSource);

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
      const apiKey = await replaceApiKey(
        userId,
        undefined,
        this.session,
        this.services.tokenVault,
        this.eventSource,
      );

      return apiKey!;
    });
  }

  findApiKey(): Promise<ApiKey | undefined> {
    return findApiKey(
      requireViewerWithoutAccessToken(this.authentication).id,
      this.session,
      this.services.tokenVault,
    );
  }

  async listAccessTokens(): Promise<StoredAccessToken[]> {
    const { id } = requireViewerWithoutAccessToken(this.authentication);
    const [tokens] = await listAccessTokens([id], this.session);

    return tokens!;
  }

  async listSecurityEvents(): Promise<
    { occurredAt: string; description: string; address: string | null; detail: string | null }[]
  > {
    const events = await findUserEvents(
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

  /** How the user can sign in, and where they are signed in. */
  async loadSignIns(): Promise<{
    hasPassword: boolean;
    issuers: string[];
    sessions: StoredSession[];
  }> {
    const { id } = requireViewerWithoutAccessToken(this.authentication);
    const { sessionId } = this.authentication;
    const [account] = await this.session.query(
      `SELECT "password" <> '${NO_PASSWORD}' AS "hasPassword",
        ARRAY(SELECT i."issuer" FROM "identity" i WHERE i."user_id" = u."id") AS "issuers"
        FROM "account" u WHERE u."id" = $1`,
      [id],
    );
    const sessions = await this.session.query(SELECT_SESSIONS_SQL, [id, sha256(sessionId ?? '')]);

    return { ...account, sessions } as unknown as Awaited<ReturnType<this['loadSignIns']>>;
  }

  countRows(): Promise<RowCount[]> {
    const { id } = requireViewerWithoutAccessToken(this.authentication);

    return countRowsOfUser(id, (text, values) => this.session.query(text, values));
  }

  /** Deletes the account and all its data. */
  async deleteAccount(): Promise<void> {
    const { id } = requireViewerWithoutAccessToken(this.authentication);

    await deleteUser(id, this.services.database, (session) =>
      logSecurityEvent({ kind: 'ACCOUNT_DELETED', userId: id, ...this.eventSource }, session),
    );
  }

  /** Ends the session with this digest, or all sessions. Returns their number. */
  endSessions(id?: string): Promise<number> {
    return this.changeCredentials(async (userId) => {
      const deletedSessions = await this.session.query(
        `DELETE FROM "session" WHERE "user_id" = $1 AND ($2::bytea IS NULL OR "digest" = $2)
          RETURNING 1`,
        [userId, id === undefined ? null : Buffer.from(id, 'hex')],
      );

      if (deletedSessions.length) {
        await this.logEvent('SESSIONS_ENDED', userId, `${deletedSessions.length}`);
      }

      return deletedSessions.length;
    });
  }

  /**
   * Creates the API key of the signed-in user, or replaces the key `keyId`. A form that is
   * submitted twice thus does not replace the key just created.
   */
  createOrReplaceApiKey(keyId?: string): Promise<void> {
    return this.changeCredentials(async (userId) => {
      await this.authentication.lockAndCheckCredentials(userId);

      if (keyId === undefined) {
        await getOrCreateApiKey(userId, this.session, this.services.tokenVault);
      } else {
        await replaceApiKey(
          userId,
          Buffer.from(keyId, 'hex'),
          this.session,
          this.services.tokenVault,
          this.eventSource,
        );
      }
    });
  }

  /**
   * Runs `callback` with the user id in a transaction, so that a change and its event in the audit
   * log are stored together.
   */
  private async changeCredentials<T>(callback: (userId: number) => Promise<T>): Promise<T> {
    const { id } = requireViewerWithoutAccessToken(this.authentication);

    return this.session.inTransaction(() => callback(id));
  }

  private logEvent(kind: EventKind, userId: number, detail: string): Promise<void> {
    return logSecurityEvent({ kind, userId, detail, ...this.eventSource }, this.session);
  }

  /** Authenticates the request again and throws if its credentials are no longer valid. */
  async requireValidCredentials(): Promise<void> {
    if (!(await this.authentication.authenticate())) throw unauthenticatedError();
  }

  private get eventSource(): SecurityEventSource {
    return { address: this.requestInfo.clientNetwork };
  }
}
