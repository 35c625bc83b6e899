/** What the sender of a request does about their own account: signing in, password, keys, tokens, sessions. */
import type { IncomingMessage } from 'node:http';
import { listOf, type AccessToken } from '../auth/accesstokens';
import { checkCredentials, hashOfPassword, passwordProblem, renewToken, replacePassword, signIn } from '../auth/accounts';
import { OwnCredentials } from '../auth/credentials';
import { keyOf, makeKey, replaceKey, type ApiKey } from '../auth/keys';
import { KINDS } from '../auth/eventkinds';
import { eventsOf, note, type By } from '../auth/securityevents';
import { digestOf } from '../auth/tokens';
import { demandOwner } from '../core/access/access';
import type { Context } from '../core/context';
import { InvalidInput, KnownError, notSignedIn, refuse } from '../core/model/errors';
import { invalidValue, mistake, MistakeCode } from '../core/model/mistakes';
import type { Dependencies } from './exchange';
import { shownAddress } from './observation';

const SHOWN_EVENTS = 10;

const NOT_THE_PASSWORD = mistake(MistakeCode.WRONG_CREDENTIALS, 'This is not your password.');

interface Sender {
  request: IncomingMessage;
  services: Dependencies;
  context: Context;
  /** Of the request, for the log. */
  id: string;
  address: string;
  network: string;
  /** That came in the Authorization header. */
  token(): string | undefined;
  /** The session that their browser's cookie names. */
  browser(): string | undefined;
}

export class Account {
  private readonly context: Context;

  constructor(private readonly from: Sender) {
    this.context = from.context;
  }

  signIn(username: string, password: string): Promise<string> {
    const { session } = this.context;
    return this.attempt(username, () => signIn(username, password, session, this.from.services.vault, this.by));
  }

  /** Answers the id of the user. */
  checkCredentials(username: string, password: string): Promise<number> {
    return this.attempt(username, () => checkCredentials(username, password, this.context.session, this.by));
  }

  /** A try of a password, of which so many are let through. */
  private attempt<T>(username: string, work: () => Promise<T>): Promise<T> {
    const { exposure, limit } = this.from.services;
    exposure.check(this.from.request);
    return limit.attempt(this.from.network, username, work).catch((error: unknown) => {
      this.loginRefused(error);
      throw error;
    });
  }

  /** Who guesses passwords is to be seen. Not by the name that was typed, in whose place many a user has typed a password. */
  private loginRefused(error: unknown): void {
    const code = error instanceof KnownError ? error.extensions.code : error instanceof InvalidInput ? 'WRONG_PASSWORD' : undefined;
    if (code === undefined) return;
    const { viewer } = this.context;
    const known = { id: this.from.id, address: shownAddress(this.from.address), user: viewer?.id };
    this.from.services.log.warn({ ...known, code }, code === 'TOO_MANY_REQUESTS' ? 'too many logins' : 'login failed');
  }

  /** The session of the request stays, whoever else was signed in is signed out, and the token is a new one. */
  async changePassword(oldPassword: string, newPassword: string): Promise<string> {
    const { session } = this.context;
    const viewer = demandOwner(this.context);
    const problem = passwordProblem(newPassword);
    const weak = problem ? [{ path: ['newPassword'], ...invalidValue(problem) }] : [];
    const wrong = () => new InvalidInput([{ path: ['oldPassword'], ...NOT_THE_PASSWORD }, ...weak]);
    const stored = await this.attempt(viewer.username, async () => {
      const found = await hashOfPassword(viewer.id, oldPassword, session, this.by);
      if (found === undefined) {
        await note({ kind: 'PASSWORD_REFUSED', userId: viewer.id, ...this.by }, (text, values) => session.query(text, values));
        throw wrong();
      }
      return found;
    });
    refuse(weak);
    const token = await replacePassword(viewer.id, stored, newPassword, this.from.browser(), session, this.from.services.vault, this.by);
    if (token === undefined) throw wrong();
    return token;
  }

  async replaceToken(): Promise<string> {
    const { session } = this.context;
    const viewer = demandOwner(this.context);
    const old = this.from.token();
    const token = await renewToken(viewer.id, old === undefined ? undefined : digestOf(old), session, this.from.services.vault, this.by);
    // Another request with the same token was faster.
    if (token === undefined) throw notSignedIn('Invalid token.');
    return token;
  }

  key(): Promise<ApiKey | undefined> {
    return keyOf(demandOwner(this.context).id, this.context.session, this.from.services.vault);
  }

  async accessTokens(): Promise<AccessToken[]> {
    return (await listOf([demandOwner(this.context).id], this.context.session))[0]!;
  }

  async events(): Promise<{ at: string; what: string; address: string | null; detail: string | null }[]> {
    const noted = await eventsOf(demandOwner(this.context).id, { limit: SHOWN_EVENTS }, this.context.session);
    return noted.map(({ occurredAt: at, kind, address, detail }) => ({ at, what: KINDS[kind], address, detail }));
  }

  credentials(): OwnCredentials {
    return new OwnCredentials(demandOwner(this.context).id, this.from.network, this.context.session, this.from.services.accessTokens);
  }

  /** Makes a key, or a new one in place of the one with this id. */
  async renewKey(replaced?: string): Promise<void> {
    const { session } = this.context;
    const { id } = demandOwner(this.context);
    if (replaced === undefined) await makeKey(id, session, this.from.services.vault);
    else await replaceKey(id, replaced, session, this.from.services.vault, this.by);
  }

  private get by(): By {
    return { address: this.from.network };
  }
}
