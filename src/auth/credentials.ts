/** Management of the user's own access tokens and sessions. Each change and its audit event share one transaction. */
import type { CredentialManager } from '../core/context';
import { scopeName, type Scope } from '../core/access/scopes';
import type { Row } from '../database/rows';
import type { Session } from '../database/session';
import type { AccessTokens, NewAccessToken, RunStatement } from './accesstokens';
import type { EventKind } from './eventkinds';
import { logSecurityEvent } from './securityevents';

export class ViewerCredentials implements CredentialManager {
  constructor(
    private readonly userId: number,
    private readonly address: string,
    private readonly session: Session,
    private readonly tokens: AccessTokens,
  ) {}

  createAccessToken(input: NewAccessToken): Promise<{ id: number; token: string }> {
    return this.inTransaction(async (run) => {
      const created = await this.tokens.make(this.userId, input, run);
      await this.logEvent(
        'ACCESS_TOKEN_CREATED',
        `${input.name.trim()} (${input.scopes.map((scope) => scopeName(scope as Scope)).join(', ')})`,
        run,
      );
      return created;
    });
  }

  revokeAccessTokens(id?: number): Promise<number> {
    return this.inTransaction(async (run) => {
      const names = await this.tokens.revoke(this.userId, id, run);
      for (const name of names) await this.logEvent('ACCESS_TOKEN_REVOKED', name, run);
      return names.length;
    });
  }

  endSessions(): Promise<number> {
    return this.inTransaction(async (run) => {
      const deletedSessions = await run('DELETE FROM "session" WHERE "user_id" = $1 RETURNING 1', [this.userId]);
      if (deletedSessions.length) await this.logEvent('SESSIONS_ENDED', `${deletedSessions.length}`, run);
      return deletedSessions.length;
    });
  }

  private logEvent(kind: EventKind, detail: string, run: RunStatement): Promise<void> {
    return logSecurityEvent({ kind, userId: this.userId, address: this.address, detail }, run);
  }

  private inTransaction<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    const { session } = this;
    const { sequelize } = session.database;
    return session.transaction((transaction) =>
      work(async (text, bind) => (await sequelize.query(text, { bind, transaction, ...session.sequelizeOptions }))[0] as Row[]),
    );
  }
}
