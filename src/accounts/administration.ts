/**
 * Accounts as superusers see and change them. The statements run as the server's own, because
 * row-level security shows each user only their own account. Each change locks the account and that
 * of the superuser: two superusers who demote each other at the same time cannot both succeed.
 */
import { requireSuperuser } from '../engine/access/access';
import type { Context, Viewer } from '../engine/context';
import {
  ClientError,
  forbiddenError,
  invalidArgumentError,
  rowNotFoundIssue,
} from '../engine/declare/errors';
import { parseRowId } from '../engine/declare/node';
import type { Row } from '../database/rows';
import type { DatabaseSession } from '../database/session';
import { atMostCharactersMessage, NO_NULL_CHARACTERS_MESSAGE } from '../shared/messages';
import {
  createUser,
  revokeCredentials,
  setUserActive,
  setUserRoles,
  type NewUser,
  type UserRoles,
} from './accounts';
import { deleteUser, type DeletionResult } from './deletion';
import type { EventKind } from './event-kinds';
import type { IdWindow } from './id-pages';
import { createPasswordLink, type PasswordLink } from './password-links';
import {
  findEvents,
  logSecurityEvent,
  type EventFilter,
  type SecurityEventSource,
  type StoredSecurityEvent,
} from './security-events';
import { accountUsageSql, type StoredUsage } from './usage';
import { MAX_EMAIL_LENGTH } from './user';

export interface StoredAccount extends UserRoles {
  id: number;
  username: string;
  email: string;
  isActive: boolean;
  joinedAt: string;
  lastLoginAt: string | null;
}

export interface AccountFilter extends Partial<UserRoles> {
  id?: number;

  /** Part of the user name or e-mail address. */
  search?: string;
  isActive?: boolean;
}

const FROM_ACCOUNTS_SQL = `FROM "user_account" u WHERE u."id" = coalesce($1, u."id")
    AND ($2::text IS NULL OR strpos(lower(u."username" || ' ' || u."email"), lower($2)) > 0)
    AND u."is_active" = coalesce($3, u."is_active")
    AND u."is_superuser" = coalesce($4, u."is_superuser")
    AND u."is_curator" = coalesce($5, u."is_curator")`;
const SELECT_ACCOUNTS_SQL = `SELECT u."id", u."username", u."email", u."is_active" AS "isActive",
    u."is_superuser" AS "isSuperuser", u."is_curator" AS "isCurator",
    u."date_joined" AS "joinedAt", u."last_login" AS "lastLoginAt" ${FROM_ACCOUNTS_SQL}
    AND ($6::int IS NULL OR u."id" < $6) AND ($7::int IS NULL OR u."id" > $7) ORDER BY u."id"`;
const COUNT_ACCOUNTS_SQL = `SELECT count(*)::float8 AS "count" ${FROM_ACCOUNTS_SQL}`;
const LOCK_ACCOUNTS_SQL = `SELECT "id", "username", "is_active" AND "is_superuser" AS "mayAct"
  FROM "user_account" WHERE "id" = ANY($1) ORDER BY "id" FOR NO KEY UPDATE`;

function filterValues({ id, search, isActive, isSuperuser, isCurator }: AccountFilter): unknown[] {
  if (search?.includes('\0')) throw invalidArgumentError('search', NO_NULL_CHARACTERS_MESSAGE);

  if (search !== undefined && search.length > MAX_EMAIL_LENGTH) {
    throw invalidArgumentError('search', atMostCharactersMessage(MAX_EMAIL_LENGTH));
  }

  return [id, search, isActive, isSuperuser, isCurator].map((value) => value ?? null);
}

type StatementSender = Pick<DatabaseSession, 'query'>;

const unknownAccountError = (id: unknown) =>
  new ClientError('NOT_FOUND', rowNotFoundIssue('Account', id).message);

/** Parses the id of an account. Throws NOT_FOUND for text that cannot be one. */
export function parseAccountId(text: string): number {
  const id = parseRowId(text);

  if (id === undefined) throw unknownAccountError(text);

  return id;
}

export class Administration {
  private readonly superuser: Viewer;
  private readonly session: DatabaseSession;
  private readonly eventSource: SecurityEventSource;

  /** Throws UNAUTHENTICATED or FORBIDDEN unless the viewer is a superuser. */
  constructor(context: Pick<Context, 'viewer' | 'session' | 'request'>) {
    this.superuser = requireSuperuser(context);
    this.session = context.session.database.createSession();
    this.eventSource = {
      operator: `superuser ${this.superuser.username}`,
      address: context.request.clientNetwork,
    };
  }

  /** Finds accounts, newest first unless `oldestFirst`. */
  findAccounts(filter: AccountFilter, window: IdWindow): Promise<StoredAccount[]> {
    const { olderThanId, newerThanId, oldestFirst, limit } = window;

    return this.session.query(`${SELECT_ACCOUNTS_SQL} ${oldestFirst ? 'ASC' : 'DESC'} LIMIT $8`, [
      ...filterValues(filter),
      olderThanId ?? null,
      newerThanId ?? null,
      limit,
    ]) as Promise<Row[]> as Promise<StoredAccount[]>;
  }

  async countAccounts(filter: AccountFilter): Promise<number> {
    return (await this.session.query(COUNT_ACCOUNTS_SQL, filterValues(filter)))[0]!.count;
  }

  /** Throws NOT_FOUND. */
  async findAccount(id: number): Promise<StoredAccount> {
    const [account] = await this.findAccounts({ id }, { limit: 1 });

    if (!account) throw unknownAccountError(id);

    return account;
  }

  async readUsage(ids: readonly number[]): Promise<StoredUsage[]> {
    const rows = (await this.session.query(accountUsageSql(), [ids])) as Row[] as StoredUsage[];

    return ids.map((id) => rows.find((row) => row.id === id)!);
  }

  findEvents(filter: EventFilter, limit: number): Promise<StoredSecurityEvent[]> {
    return findEvents(filter, limit, this.session);
  }

  createUser(user: NewUser): Promise<number> {
    return this.change(this.superuser.id, true, async () => {
      const userId = await createUser(user, this.session);

      await this.logEvent('ACCOUNT_CREATED', userId, undefined, this.session);
      return userId;
    });
  }

  setActive(id: number, isActive: boolean): Promise<void> {
    return this.change(id, false, () =>
      setUserActive(id, isActive, this.session, this.eventSource),
    );
  }

  setRoles(id: number, roles: Partial<UserRoles>): Promise<void> {
    return this.change(id, false, () => setUserRoles(id, roles, this.session, this.eventSource));
  }

  createPasswordLink(id: number): Promise<PasswordLink> {
    return this.change(id, true, () => createPasswordLink(id, this.session, this.eventSource));
  }

  signOut(id: number): Promise<void> {
    return this.change(id, true, () => revokeCredentials(id, this.session, this.eventSource));
  }

  deleteUser(id: number): Promise<DeletionResult> {
    return deleteUser(id, this.session.database, async (session) => {
      const username = await this.lockAccounts(id, false, session);

      await this.logEvent('ACCOUNT_DELETED', id, username, session);
    });
  }

  private change<T>(id: number, mayBeSelf: boolean, change: () => Promise<T>): Promise<T> {
    return this.session.inTransaction(async () => {
      await this.lockAccounts(id, mayBeSelf, this.session);
      return change();
    });
  }

  /** Locks the account and that of the superuser, who must still be one. Returns the user name. */
  private async lockAccounts(
    id: number,
    mayBeSelf: boolean,
    session: StatementSender,
  ): Promise<string> {
    const { superuser } = this;
    const rows = await session.query(LOCK_ACCOUNTS_SQL, [[id, superuser.id]]);
    const account = rows.find((row) => row.id === id);

    if (!rows.find((row) => row.id === superuser.id)?.mayAct) throw forbiddenError();
    if (!account) throw unknownAccountError(id);

    if (id === superuser.id && !mayBeSelf) {
      throw forbiddenError(
        'Superusers cannot deactivate or delete themselves or change their own roles.',
      );
    }

    return account.username;
  }

  private logEvent(
    kind: EventKind,
    userId: number,
    detail: string | undefined,
    session: StatementSender,
  ): Promise<void> {
    return logSecurityEvent({ kind, userId, detail, ...this.eventSource }, session);
  }
}
