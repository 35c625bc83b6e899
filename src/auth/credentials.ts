/** What users do about their access tokens and sessions, each with its note in the audit log, or not at all. */
import type { Credentials } from '../core/context';
import { nameOf, type Scope } from '../core/access/scopes';
import type { Row } from '../database/rows';
import type { Session } from '../database/session';
import type { AccessTokens, NewAccessToken, Run } from './accesstokens';
import type { EventKind } from './eventkinds';
import { note } from './securityevents';

export class OwnCredentials implements Credentials {
  constructor(
    private readonly userId: number,
    private readonly address: string,
    private readonly session: Session,
    private readonly tokens: AccessTokens,
  ) {}

  createAccessToken(wanted: NewAccessToken): Promise<{ id: number; token: string }> {
    return this.inTransaction(async (run) => {
      const made = await this.tokens.make(this.userId, wanted, run);
      await this.note(
        'ACCESS_TOKEN_CREATED',
        `${wanted.name.trim()} (${wanted.scopes.map((scope) => nameOf(scope as Scope)).join(', ')})`,
        run,
      );
      return made;
    });
  }

  revokeAccessTokens(id?: number): Promise<number> {
    return this.inTransaction(async (run) => {
      const names = await this.tokens.revoke(this.userId, id, run);
      for (const name of names) await this.note('ACCESS_TOKEN_REVOKED', name, run);
      return names.length;
    });
  }

  endSessions(): Promise<number> {
    return this.inTransaction(async (run) => {
      const ended = await run('DELETE FROM "session" WHERE "user_id" = $1 RETURNING 1', [this.userId]);
      if (ended.length) await this.note('SESSIONS_ENDED', `${ended.length}`, run);
      return ended.length;
    });
  }

  private note(kind: EventKind, detail: string, run: Run): Promise<void> {
    return note({ kind, userId: this.userId, address: this.address, detail }, run);
  }

  private inTransaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const { session } = this;
    const { sequelize } = session.database;
    return session.transaction((transaction) =>
      work(async (text, bind) => (await sequelize.query(text, { bind, transaction, ...session.counted }))[0] as Row[]),
    );
  }
}
