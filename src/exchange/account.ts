/** Account self-service of the sender of a request: sign-in, password, API keys, access tokens and sessions. */
import { listAccessTokens, type AccessToken } from '../auth/accesstokens';
import { checkCredentials, verifiedPasswordHash, passwordError, renewToken, replacePassword, signIn } from '../auth/accounts';
import { ViewerCredentials } from '../auth/credentials';
import { findApiKey, ensureApiKey, replaceApiKey, type ApiKey } from '../auth/apikeys';
import { EVENT_KINDS } from '../auth/eventkinds';
import { eventsOfUser, logSecurityEvent, type EventSource } from '../auth/securityevents';
import { sha256 } from '../auth/tokens';
import { requireAccountOwner } from '../core/access/access';
import type { Context } from '../core/context';
import { InvalidInput, ClientError, unauthenticatedError, throwIfInvalid } from '../core/model/errors';
import { invalidValueIssue, validationIssue, IssueCode } from '../core/model/validationissues';
import type { RequestServices } from './requestcontext';
import { truncateAddress } from './accesslog';
import type { RequestHead } from './clientorigin';

const MAX_LISTED_EVENTS = 10;

const WRONG_PASSWORD = validationIssue(IssueCode.WRONG_CREDENTIALS, 'This is not your password.');

interface AccountOptions {
  request: RequestHead;
  services: RequestServices;
  context: Context;
  /** Request id, for the log. */
  id: string;
  address: string;
  network: string;
  /** Token of the Authorization header. */
  token(): string | undefined;
  /** Id of the browser session, from the cookie. */
  sessionId(): string | undefined;
}

export class AccountService {
  private readonly context: Context;

  constructor(private readonly options: AccountOptions) {
    this.context = options.context;
  }

  signIn(username: string, password: string): Promise<string> {
    const { session } = this.context;
    return this.attempt(username, () => signIn(username, password, session, this.options.services.vault, this.eventSource));
  }

  /** Returns the id of the user. */
  checkCredentials(username: string, password: string): Promise<number> {
    return this.attempt(username, () => checkCredentials(username, password, this.context.session, this.eventSource));
  }

  /** Runs a password check within the login rate limit of the client network and user name. */
  private attempt<T>(username: string, work: () => Promise<T>): Promise<T> {
    const { exposure, limit } = this.options.services;
    exposure.check(this.options.request);
    return limit.attempt(this.options.network, username, work).catch((error: unknown) => {
      this.logFailure(error);
      throw error;
    });
  }

  /** Logs a failed login, so that password guessing is noticed. Omits the submitted user name, because users type passwords in its place. */
  private logFailure(error: unknown): void {
    const code = error instanceof ClientError ? error.extensions.code : error instanceof InvalidInput ? 'WRONG_PASSWORD' : undefined;
    if (code === undefined) return;
    const { viewer } = this.context;
    const fields = { id: this.options.id, address: truncateAddress(this.options.address), user: viewer?.id };
    this.options.services.log.warn({ ...fields, code }, code === 'TOO_MANY_REQUESTS' ? 'too many logins' : 'login failed');
  }

  /** Changes the password, ends all other sessions and returns a new token. The session of this request stays valid. */
  async changePassword(oldPassword: string, newPassword: string): Promise<string> {
    const { session } = this.context;
    const viewer = requireAccountOwner(this.context);
    const problem = passwordError(newPassword);
    const weaknesses = problem ? [{ path: ['newPassword'], ...invalidValueIssue(problem) }] : [];
    const wrongPassword = () => new InvalidInput([{ path: ['oldPassword'], ...WRONG_PASSWORD }, ...weaknesses]);
    const storedHash = await this.attempt(viewer.username, async () => {
      const hash = await verifiedPasswordHash(viewer.id, oldPassword, session, this.eventSource);
      if (hash === undefined) {
        await logSecurityEvent({ kind: 'PASSWORD_REFUSED', userId: viewer.id, ...this.eventSource }, (text, values) =>
          session.query(text, values),
        );
        throw wrongPassword();
      }
      return hash;
    });
    throwIfInvalid(weaknesses);
    const token = await replacePassword(
      viewer.id,
      storedHash,
      newPassword,
      this.options.sessionId(),
      session,
      this.options.services.vault,
      this.eventSource,
    );
    if (token === undefined) throw wrongPassword();
    return token;
  }

  async replaceToken(): Promise<string> {
    const { session } = this.context;
    const viewer = requireAccountOwner(this.context);
    const oldToken = this.options.token();
    const token = await renewToken(
      viewer.id,
      oldToken === undefined ? undefined : sha256(oldToken),
      session,
      this.options.services.vault,
      this.eventSource,
    );
    // A concurrent request has already replaced the same token.
    if (token === undefined) throw unauthenticatedError('Invalid token.');
    return token;
  }

  key(): Promise<ApiKey | undefined> {
    return findApiKey(requireAccountOwner(this.context).id, this.context.session, this.options.services.vault);
  }

  async accessTokens(): Promise<AccessToken[]> {
    return (await listAccessTokens([requireAccountOwner(this.context).id], this.context.session))[0]!;
  }

  async events(): Promise<{ at: string; what: string; address: string | null; detail: string | null }[]> {
    const events = await eventsOfUser(requireAccountOwner(this.context).id, { limit: MAX_LISTED_EVENTS }, this.context.session);
    return events.map(({ occurredAt: at, kind, address, detail }) => ({ at, what: EVENT_KINDS[kind], address, detail }));
  }

  credentials(): ViewerCredentials {
    return new ViewerCredentials(
      requireAccountOwner(this.context).id,
      this.options.network,
      this.context.session,
      this.options.services.accessTokens,
    );
  }

  /** Creates an API key, or replaces the one with this id. */
  async renewKey(keyId?: string): Promise<void> {
    const { session } = this.context;
    const { id } = requireAccountOwner(this.context);
    if (keyId === undefined) await ensureApiKey(id, session, this.options.services.vault);
    else await replaceApiKey(id, keyId, session, this.options.services.vault, this.eventSource);
  }

  private get eventSource(): EventSource {
    return { address: this.options.network };
  }
}
