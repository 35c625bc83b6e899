/**
 * Accounts as superusers see and change them. The statements run as the server's own, because
 * row-level security shows each user only their own account. Each change locks the account and that
 * of the superuser: two superusers who demote each other at the same time cannot both succeed.
 */
import { Field, ID, ObjectType } from 'type-graphql';
import { listAccessTokens, revokeAccessTokens, type AccessToken } from './access-tokens';
import { requireSuperuser } from '../engine/access/access';
import type { Context, Viewer } from '../engine/context';
import {
  ClientError,
  forbiddenError,
  invalidArgumentError,
  rowNotFoundIssue,
} from '../engine/declare/errors';
import { parseRowId } from '../engine/declare/node';
import { DateTimeScalar } from '../engine/declare/scalars';
import type { Row } from '../database/rows';
import type { DatabaseSession } from '../database/session';
import { atMostCharactersMessage, NO_NULL_CHARACTERS_MESSAGE } from '../shared/messages';
import {
  createUser,
  revokeCredentials,
  setUserActive,
  setUserRoles,
  type CredentialReader,
  type NewUser,
  type UserRoles,
} from './accounts';
import { deleteUser } from './deletion';
import type { IdWindow } from './id-pages';
import { disconnectIdentities } from './identities';
import { createPasswordLink, type PasswordLink } from './password-links';
import {
  findEvents,
  logSecurityEvent,
  type EventFilter,
  type StoredSecurityEvent,
} from './security-events';
import { endSessions, listSessions, type AccountSession } from './sessions';
import { accountUsageSql, type AccountUsage } from './usage';
import { MAX_EMAIL_LENGTH } from './user';

@ObjectType({ description: 'An account, as superusers see it.', simpleResolvers: true })
export class Account {
  @Field(() => ID, { description: 'Identifies the account.' }) declare id: number;
  @Field(() => String, { description: 'The name with which the user signs in.' })
  declare username: string;
  @Field(() => String, { description: 'The address to which e-mails are sent; may be empty.' })
  declare email: string;
  @Field(() => Boolean, { description: 'Whether the user can sign in.' })
  declare isActive: boolean;
  @Field(() => Boolean, {
    description: 'Whether the user administrates the service and may write the catalogue.',
  })
  declare isSuperuser: boolean;
  @Field(() => Boolean, { description: 'Whether the user may write the catalogue.' })
  declare isCurator: boolean;
  @Field(() => DateTimeScalar, { description: 'When the account was created.' })
  declare joinedAt: string;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the user last signed in; null if never.',
  })
  declare lastLoginAt: string | null;
}

export interface AccountFilter extends Partial<UserRoles> {
  id?: number;

  /** Part of the user name or e-mail address. */
  search?: string | null;
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
    AND ($6::bigint IS NULL OR u."id" < $6) AND ($7::bigint IS NULL OR u."id" > $7) ORDER BY u."id"`;
const COUNT_ACCOUNTS_SQL = `SELECT count(*)::float8 AS "count" ${FROM_ACCOUNTS_SQL}`;
const LOCK_ACCOUNTS_SQL = `SELECT "id", "is_active" AND "is_superuser" AS "mayAct"
  FROM "user_account" WHERE "id" = ANY($1) ORDER BY "id" FOR NO KEY UPDATE`;

function filterValues({ id, search, isActive, isSuperuser, isCurator }: AccountFilter): unknown[] {
  if (search?.includes('\0')) throw invalidArgumentError('search', NO_NULL_CHARACTERS_MESSAGE);

  if ((search?.length ?? 0) > MAX_EMAIL_LENGTH) {
    throw invalidArgumentError('search', atMostCharactersMessage(MAX_EMAIL_LENGTH));
  }

  return [id, search, isActive, isSuperuser, isCurator].map((value) => value ?? null);
}

const unknownAccountError = (id: unknown) =>
  new ClientError('NOT_FOUND', rowNotFoundIssue('Account', id).message);

/** Id of an account, or text that may be one. */
type AccountId = number | string;

/** Throws NOT_FOUND for text that cannot be an id. */
function parseAccountId(value: AccountId): number {
  const id = parseRowId(value);

  if (id === undefined) throw unknownAccountError(value);

  return id;
}

export class Administration {
  private readonly superuser: Viewer;
  private readonly session: DatabaseSession;

  /** Throws UNAUTHENTICATED or FORBIDDEN unless the viewer is a superuser. */
  constructor(context: Pick<Context, 'viewer' | 'session' | 'request'>) {
    this.superuser = requireSuperuser(context);
    this.session = context.session.database.createSession({
      operator: `superuser ${this.superuser.username}`,
      address: context.request.clientNetwork,
    });
  }

  /** Finds accounts, newest first unless `oldestFirst`. */
  findAccounts(filter: AccountFilter, window: IdWindow): Promise<Account[]> {
    const { olderThanId, newerThanId, oldestFirst, limit } = window;

    return this.session.query(`${SELECT_ACCOUNTS_SQL} ${oldestFirst ? 'ASC' : 'DESC'} LIMIT $8`, [
      ...filterValues(filter),
      olderThanId ?? null,
      newerThanId ?? null,
      limit,
    ]) as Promise<Row[]> as Promise<Account[]>;
  }

  async countAccounts(filter: AccountFilter): Promise<number> {
    return (await this.session.query(COUNT_ACCOUNTS_SQL, filterValues(filter)))[0]!.count;
  }

  /** Throws NOT_FOUND. */
  async findAccount(id: AccountId): Promise<Account> {
    const [account] = await this.findAccounts({ id: parseAccountId(id) }, { limit: 1 });

    if (!account) throw unknownAccountError(id);

    return account;
  }

  async readUsage(ids: readonly number[]): Promise<AccountUsage[]> {
    const rows = (await this.session.query(accountUsageSql(), [ids])) as Row[] as AccountUsage[];

    return ids.map((id) => rows.find((row) => row.id === id)!);
  }

  readSessions(ids: readonly number[]): Promise<AccountSession[][]> {
    return listSessions(ids, this.session);
  }

  readAccessTokens(ids: readonly number[]): Promise<AccessToken[][]> {
    return listAccessTokens(ids, this.session);
  }

  findEvents(filter: EventFilter, limit: number): Promise<StoredSecurityEvent[]> {
    return findEvents(filter, limit, this.session);
  }

  async createUser(user: NewUser): Promise<Account> {
    const { superuser, session } = this;
    const id = await this.change(superuser.id, true, () => createUser(user, session));

    return this.findAccount(id);
  }

  setActive(id: AccountId, isActive: boolean): Promise<Account> {
    return this.changeAccount(id, false, setUserActive, isActive);
  }

  setRoles(id: AccountId, roles: Partial<UserRoles>): Promise<Account> {
    return this.changeAccount(id, false, setUserRoles, roles);
  }

  createPasswordLink(id: AccountId): Promise<PasswordLink> {
    return this.change(id, true, (userId) => createPasswordLink(userId, this.session));
  }

  signOut(id: AccountId): Promise<Account> {
    return this.changeAccount(id, true, revokeCredentials);
  }

  disconnect(id: AccountId): Promise<Account> {
    return this.changeAccount(id, true, disconnectIdentities);
  }

  endSession(id: AccountId, sessionId: string): Promise<Account> {
    return this.changeAccount(id, true, endSessions, sessionId);
  }

  revokeAccessToken(id: AccountId, tokenId: string): Promise<Account> {
    // An invalid id must not become undefined, because that would revoke all tokens.
    return this.changeAccount(id, true, revokeAccessTokens, parseRowId(tokenId) ?? 0);
  }

  /** Returns the account as it was. */
  async deleteUser(id: AccountId): Promise<Account> {
    const account = await this.findAccount(id);
    const { id: userId, username: detail } = account;

    await deleteUser(userId, this.session.database, async (session) => {
      await this.lockAccounts(userId, false, session);
      await logSecurityEvent(
        { kind: 'ACCOUNT_DELETED', userId, detail, ...this.session.auditSource },
        session,
      );
    });

    return account;
  }

  private change<T>(
    id: AccountId,
    mayBeSelf: boolean,
    change: (userId: number) => Promise<T>,
  ): Promise<T> {
    const userId = parseAccountId(id);

    return this.session.inTransaction(async () => {
      await this.lockAccounts(userId, mayBeSelf, this.session);
      return change(userId);
    });
  }

  private async changeAccount<A extends unknown[]>(
    id: AccountId,
    mayBeSelf: boolean,
    change: (userId: number, ...args: [...A, DatabaseSession]) => Promise<unknown>,
    ...args: A
  ): Promise<Account> {
    await this.change(id, mayBeSelf, (userId) => change(userId, ...args, this.session));

    return this.findAccount(id);
  }

  /** Locks the account and that of the superuser, who must still be one. */
  private async lockAccounts(
    id: number,
    mayBeSelf: boolean,
    session: CredentialReader,
  ): Promise<void> {
    const { superuser } = this;
    const rows = await session.query(LOCK_ACCOUNTS_SQL, [[id, superuser.id]]);

    if (!rows.find((row) => row.id === superuser.id)?.mayAct) throw forbiddenError();
    if (!rows.some((row) => row.id === id)) throw unknownAccountError(id);

    if (id === superuser.id && !mayBeSelf) {
      throw forbiddenError(
        'Superusers cannot deactivate or delete themselves or change their own roles.',
      );
    }
  }
}
