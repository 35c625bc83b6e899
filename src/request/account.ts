/**
 * Actions on the account of the signed-in user: sign-in, password, API key, access tokens and
 * sessions.
 */
import {
  listAccessTokens,
  revokeAccessTokens,
  type AccessToken,
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
import {
  connectIdentity,
  disconnectIdentities,
  findOrCreateProviderAccount,
  findOrCreateProxyAccount,
  isConnected,
} from '../accounts/identities';
import {
  findUserEvents,
  logSecurityEvent,
  type StoredSecurityEvent,
} from '../accounts/security-events';
import { endSessions, listSessions, type AccountSession } from '../accounts/sessions';
import { requireViewerWithoutAccessToken } from '../engine/access/access';
import { graphqlScopeName, type Scope } from '../engine/access/scopes';
import type { AccountActions, RequestInfo } from '../engine/context';
import {
  InvalidInput,
  ClientError,
  forbiddenError,
  unauthenticatedError,
  throwIfInvalid,
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
      getApiKeyByPassword(username, password, this.session, this.services.tokenVault),
    );
  }

  /** Starts a browser session after a password check. Returns the Set-Cookie header. */
  startSession(username: string, password: string): Promise<string> {
    const startUserSession = (userId: number) => this.authentication.startSession(userId);

    return this.attemptSignIn(username, () =>
      signInWithPassword(username, password, startUserSession, this.session),
    );
  }

  /** Sets the password of the account to which a link belongs. */
  setPasswordByLink(token: string, password: string): Promise<void> {
    checkPasswordPolicy(password);

    // Links have no user name, so only the limits of the network and in total apply.
    return this.attemptSignIn(token, async () => {
      const passwordHash = await hashPassword(password, this.requestInfo.clientNetwork);

      await usePasswordLink(token, passwordHash, this.session);
    });
  }

  /**
   * Completes a sign-in at the provider, and starts a browser session or, for a signed-in user who
   * connects the provider, stores the connection. Returns the page to open and a Set-Cookie header.
   */
  async completeProviderSignIn(
    redirectUrl: URL,
    cookieValue: string,
  ): Promise<{ next?: string; sessionCookie?: string }> {
    const { loginLimiter, openIdProvider, database } = this.services;
    const startedSignIn = openIdProvider!.openCookie(redirectUrl, cookieValue);
    const { next, userId } = startedSignIn;

    const complete = async () => {
      const user = await openIdProvider!.complete(redirectUrl, startedSignIn);

      if (userId !== undefined) {
        if (this.userId !== userId) throw unauthenticatedError();

        await this.changeCredentials(() => connectIdentity(userId, user, this.session));

        return { next };
      }

      const accountId = await findOrCreateProviderAccount(
        user,
        database.createSession(this.session.auditSource),
      );

      // Row-level security shows the connection only to its user.
      this.session.setClient('users', accountId);

      const startUserSession = async () => {
        // The account is locked: a change of the password at the same time has disconnected it.
        if (!(await isConnected(accountId, user, this.session))) throw unauthenticatedError();

        return this.authentication.startSession(accountId);
      };

      const sessionCookie = await signInWithoutPassword(
        accountId,
        user.issuer,
        startUserSession,
        this.session,
      );

      return { next, sessionCookie };
    };

    // Only attempts that reach the provider count, and not together with passwords.
    return this.logFailure(
      loginLimiter.attemptUnqueued(
        `provider ${this.requestInfo.clientNetwork}`,
        cookieValue,
        complete,
      ),
    );
  }

  /**
   * Starts a session for the user whom a trusted proxy names, unless the request is one of their
   * session. Returns the Set-Cookie header. Requests of programs start no session, but replace that
   * of another user.
   */
  async startProxySession(username: string, isPage: boolean): Promise<string | undefined> {
    const viewer = await this.authentication.findSessionUser();

    if (viewer ? viewer.username === username : !isPage) return undefined;
    const session = this.services.database.createSession(this.session.auditSource);
    const userId = await findOrCreateProxyAccount(username, session);

    const startUserSession = () => this.authentication.startSession(userId);

    return signInWithoutPassword(userId, 'proxy', startUserSession, this.session);
  }

  /**
   * Runs a password check within the login rate limits of the client's network and of the user
   * name.
   */
  private attemptSignIn<T>(username: string, callback: () => Promise<T>): Promise<T> {
    const { clientNetwork } = this.requestInfo;

    return this.logFailure(
      this.services.loginLimiter.attemptSignIn(clientNetwork, username, callback),
    );
  }

  private logFailure<T>(attempt: Promise<T>): Promise<T> {
    this.services.clearTextWarning.warnIfClearText(this.request);

    return attempt.catch((error: unknown) => {
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
    const problem = describePasswordProblem(newPassword);
    const passwordIssues = problem
      ? [{ path: ['newPassword'], ...invalidValueIssue(problem) }]
      : [];
    const wrongPasswordError = () =>
      new InvalidInput([{ path: ['oldPassword'], ...WRONG_PASSWORD_ISSUE }, ...passwordIssues]);
    const storedHash = await this.attemptSignIn(viewer.username, async () => {
      const hash = await verifyUserPassword(viewer.id, oldPassword, this.session);

      if (hash === undefined) {
        await logSecurityEvent({ kind: 'PASSWORD_REFUSED', userId: viewer.id }, this.session);
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
    );

    if (token === undefined) throw wrongPasswordError();

    return token;
  }

  replaceApiKey(keyId?: string): Promise<string | undefined> {
    const digest = keyId === undefined ? undefined : Buffer.from(keyId, 'hex');

    return this.changeCredentials((userId) =>
      replaceApiKey(userId, digest, this.session, this.services.tokenVault),
    );
  }

  createApiKey(): Promise<string> {
    return this.changeCredentials((userId) =>
      getOrCreateApiKey(userId, this.session, this.services.tokenVault),
    );
  }

  findApiKey(): Promise<ApiKey | undefined> {
    return findApiKey(this.userId, this.session, this.services.tokenVault);
  }

  async listAccessTokens(): Promise<AccessToken[]> {
    const [tokens] = await listAccessTokens([this.userId], this.session);

    return tokens!;
  }

  async listSecurityEvents(): Promise<StoredSecurityEvent[]> {
    return findUserEvents(this.userId, { limit: MAX_LISTED_EVENTS }, this.session);
  }

  createAccessToken(input: NewAccessToken): Promise<{ id: number; token: string }> {
    return this.changeCredentials(async (userId) => {
      const newToken = await this.services.accessTokens.create(userId, input, this.session);
      const scopes = input.scopes.map((scope) => graphqlScopeName(scope as Scope)).join(', ');

      await logSecurityEvent(
        {
          kind: 'ACCESS_TOKEN_CREATED',
          userId,
          detail: `${input.name.trim()} (${scopes})`,
        },
        this.session,
      );

      return newToken;
    });
  }

  revokeAccessTokens(id?: number): Promise<number> {
    return this.changeCredentials((userId) => revokeAccessTokens(userId, id, this.session));
  }

  /** How the user can sign in, and where they are signed in. */
  async loadSignIns(): Promise<{
    hasPassword: boolean;
    issuers: string[];
    sessions: AccountSession[];
  }> {
    const { userId } = this;
    const [account] = await this.session.query(
      `SELECT "password" <> '${NO_PASSWORD}' AS "hasPassword",
        ARRAY(SELECT i."issuer" FROM "identity" i WHERE i."user_id" = u."id") AS "issuers"
        FROM "account" u WHERE u."id" = $1`,
      [userId],
    );
    const { sessionId } = this.authentication;
    const [sessions] = await listSessions([userId], this.session, sessionId);

    return { ...account, sessions } as unknown as Awaited<ReturnType<this['loadSignIns']>>;
  }

  countRows(): Promise<RowCount[]> {
    return countRowsOfUser(this.userId, (text, values) => this.session.query(text, values));
  }

  /** Deletes the account and all its data. Throws FORBIDDEN for superusers. */
  async deleteAccount(): Promise<void> {
    const { userId } = this;

    await deleteUser(userId, this.services.database, async (session) => {
      const viewer = await this.authentication.lockAndCheckCredentials(userId, session);

      if (viewer.isSuperuser) {
        throw forbiddenError(
          'Superusers cannot delete themselves. Another superuser or an operator must revoke the role first.',
        );
      }

      await logSecurityEvent(
        { kind: 'ACCOUNT_DELETED', userId, ...this.session.auditSource },
        session,
      );
    });
  }

  /** Removes the connected sign-ins, if the account has a password. */
  disconnectIdentities(): Promise<void> {
    return this.changeCredentials((userId) => disconnectIdentities(userId, this.session));
  }

  /** Ends the session with this digest, or all sessions. Returns their number. */
  endSessions(id?: string): Promise<number> {
    return this.changeCredentials((userId) => endSessions(userId, id, this.session));
  }

  /**
   * Runs `callback` with the user id in a transaction, so that a change and its event in the audit
   * log are stored together. A change of the password at the same time either comes later, or makes
   * it fail.
   */
  private async changeCredentials<T>(callback: (userId: number) => Promise<T>): Promise<T> {
    const { userId } = this;

    return this.session.inTransaction(async () => {
      await this.authentication.lockAndCheckCredentials(userId);
      return callback(userId);
    });
  }

  private get userId(): number {
    return requireViewerWithoutAccessToken(this.authentication).id;
  }

  /** Authenticates the request again and throws if its credentials are no longer valid. */
  async requireValidCredentials(): Promise<void> {
    if (!(await this.authentication.authenticate())) throw unauthenticatedError();
  }
}
