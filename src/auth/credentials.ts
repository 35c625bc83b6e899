/** Management of the user's own access tokens and sessions. Each change and its audit event share one transaction. */
import type { CredentialManager } from '../core/context';
import { scopeName, type Scope } from '../core/access/scopes';
import type { DatabaseSession } from '../database/session';
import type { AccessTokens, NewAccessToken } from './accesstokens';
import type { EventKind } from './eventkinds';
import { logSecurityEvent } from './securityevents';

export class ViewerCredentials implements CredentialManager {
  constructor(
    private readonly userId: number,
    /** Locks the account and throws if the credentials of the request have been revoked. */
    private readonly lockAndCheckCredentials: () => Promise<void>,
    private readonly address: string,
    private readonly session: DatabaseSession,
    private readonly tokens: AccessTokens,
  ) {}

  createAccessToken(input: NewAccessToken): Promise<{ id: number; token: string }> {
    return this.session.inTransaction(async () => {
      await this.lockAndCheckCredentials();
      const newToken = await this.tokens.create(this.userId, input, this.session);
      const scopes = input.scopes.map((scope) => scopeName(scope as Scope)).join(', ');
      await this.logEvent('ACCESS_TOKEN_CREATED', `${input.name.trim()} (${scopes})`);
      return newToken;
    });
  }

  revokeAccessTokens(id?: number): Promise<number> {
    return this.session.inTransaction(async () => {
      const names = await this.tokens.revoke(this.userId, id, this.session);
      for (const name of names) await this.logEvent('ACCESS_TOKEN_REVOKED', name);
      return names.length;
    });
  }

  endSessions(): Promise<number> {
    return this.session.inTransaction(async () => {
      const deletedSessions = await this.session.query('DELETE FROM "session" WHERE "user_id" = $1 RETURNING 1', [this.userId]);
      if (deletedSessions.length) await this.logEvent('SESSIONS_ENDED', `${deletedSessions.length}`);
      return deletedSessions.length;
    });
  }

  private logEvent(kind: EventKind, detail: string): Promise<void> {
    return logSecurityEvent({ kind, userId: this.userId, address: this.address, detail }, this.session);
  }
}
