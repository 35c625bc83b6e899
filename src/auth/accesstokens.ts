/**
 * Personal access tokens: named, limited to scopes, with an optional expiry. Only their SHA-256 digests are stored, so a token can be shown only when
 * it is created. The prefix distinguishes them from API keys and lets secret scanners recognise them.
 */
import { randomBytes } from 'node:crypto';
import {
  NOT_BLANK_MESSAGE,
  NO_NULL_CHARACTERS_MESSAGE,
  atMostCharactersMessage,
} from '../contract/messages';
import type { Viewer } from '../core/context';
import { forbiddenError, throwIfInvalid } from '../core/model/errors';
import {
  invalidValueIssue,
  validationIssue,
  IssueCode,
  type InputIssue,
} from '../core/model/validationissues';
import { isScope, type Scope } from '../core/access/scopes';
import type { Database } from '../database/connection';
import type { DatabaseSession } from '../database/session';
import { sha256 } from './tokens';

const TOKEN_PREFIX = 'fgt_';
const TOKEN_PATTERN = /^fgt_[0-9a-f]{48}$/;
export const MAX_TOKEN_NAME_LENGTH = 100;
/** How long expired access tokens are kept. Tokens that expired earlier are deleted when their owner creates another token. */
const EXPIRED_TOKEN_RETENTION = '30 days';

export const isAccessToken = (token: string): boolean => TOKEN_PATTERN.test(token);

export interface AccessToken {
  id: number;
  name: string;
  scopes: Scope[];
  createdAt: string;
  expiresAt: string | null;
  /** Time at which the access token was last used, accurate to ten minutes; null if it was never used. */
  lastUsedAt: string | null;
  isExpired: boolean;
}

export interface NewAccessToken {
  name: string;
  scopes: readonly string[];
  /** Time of expiry in ISO 8601 format; null if the token never expires. */
  expiresAt: string | null;
}

const SELECT_OWNER_SQL = `SELECT u."id", u."username", u."is_superuser" AS "isSuperuser", u."is_active" AS "isActive", t."id" AS "tokenId", t."scopes",
    t."expires_at" <= now() AS "isExpired", t."last_used_at" IS NULL OR t."last_used_at" < now() - interval '10 minutes' AS "isUnseen"
  FROM "access_token" t JOIN "account" u ON u."id" = t."user_id" WHERE t."digest" = $1`;
const UPDATE_LAST_USED_SQL = `UPDATE "access_token" SET "last_used_at" = now()
  WHERE "id" = $1 AND ("last_used_at" IS NULL OR "last_used_at" < now() - interval '10 minutes')`;
const SELECT_TOKENS_SQL = `SELECT "id", "user_id" AS "userId", "name", "scopes", "created_at" AS "createdAt", "expires_at" AS "expiresAt",
    "last_used_at" AS "lastUsedAt", COALESCE("expires_at" <= now(), false) AS "isExpired"
  FROM "access_token" WHERE "user_id" = ANY($1) ORDER BY "id"`;
const DELETE_EXPIRED_TOKENS_SQL = `DELETE FROM "access_token" WHERE "user_id" = $1 AND "expires_at" < now() - interval '${EXPIRED_TOKEN_RETENTION}'`;
const SELECT_CONFLICTS_SQL = `SELECT count(*) AS "count", COALESCE(bool_or("name" = $2), false) AS "taken", $3::timestamptz <= now() AS "past"
  FROM "access_token" WHERE "user_id" = $1`;
const INSERT_TOKEN_SQL = `INSERT INTO "access_token" ("user_id", "name", "digest", "scopes", "expires_at") VALUES ($1, $2, $3, $4, $5) RETURNING "id"`;

function* validateNewToken({ name, scopes }: NewAccessToken): Iterable<InputIssue> {
  if (name === '') yield { path: ['name'], ...validationIssue(IssueCode.BLANK, NOT_BLANK_MESSAGE) };
  if (name.length > MAX_TOKEN_NAME_LENGTH)
    yield {
      path: ['name'],
      ...validationIssue(IssueCode.TOO_LONG, atMostCharactersMessage(MAX_TOKEN_NAME_LENGTH)),
    };
  if (name.includes('\0'))
    yield { path: ['name'], ...invalidValueIssue(NO_NULL_CHARACTERS_MESSAGE) };
  if (!scopes.length || !scopes.every(isScope))
    yield { path: ['scopes'], ...invalidValueIssue('Choose at least one scope.') };
}

/** Returns the access tokens of each user, oldest first. */
export async function listAccessTokens(
  userIds: readonly number[],
  session: DatabaseSession,
): Promise<AccessToken[][]> {
  const rows = await session.query(SELECT_TOKENS_SQL, [userIds]);
  return userIds.map(
    (id) => rows.filter(({ userId }) => userId === id) as unknown as AccessToken[],
  );
}

export class AccessTokens {
  /** Ids of tokens whose last use is being written, so that concurrent requests write it once. */
  private readonly tokenIdsBeingUpdated = new Set<number>();

  constructor(private readonly maxTokensPerUser: number) {}

  /** Returns the owner of a token, with the scopes of the token. Throws FORBIDDEN if the token is unknown or expired, or the owner is inactive. */
  async viewerOf(token: string, session: DatabaseSession): Promise<Viewer> {
    const [row] = await session.queryForAuthentication(SELECT_OWNER_SQL, [sha256(token)]);
    if (!row) throw forbiddenError('Invalid token.');
    if (row.isExpired) throw forbiddenError('Token expired.');
    if (!row.isActive) throw forbiddenError('User inactive or deleted.');
    if (row.isUnseen) this.recordUse(row.tokenId, session.database);
    return {
      id: row.id,
      username: row.username,
      isSuperuser: row.isSuperuser,
      scopes: new Set(row.scopes as Scope[]),
    };
  }

  /** Updates the time at which an access token was last used, in the background. Ignores errors, because a failed update must not fail the request. */
  private recordUse(id: number, { pool }: Database): void {
    if (this.tokenIdsBeingUpdated.has(id)) return;
    this.tokenIdsBeingUpdated.add(id);
    pool
      .query(UPDATE_LAST_USED_SQL, [id])
      .catch(() => undefined)
      .finally(() => this.tokenIdsBeingUpdated.delete(id));
  }

  /**
   * Creates an access token in the current transaction and returns it; it cannot be read again. The transaction must have locked the account, so that a
   * concurrent creation waits and then counts this token towards the maximum. Throws InvalidInput for a duplicate name, an expiry in the past, or too
   * many tokens.
   */
  async create(
    userId: number,
    input: NewAccessToken,
    session: DatabaseSession,
  ): Promise<{ id: number; token: string }> {
    const normalizedInput = {
      ...input,
      name: input.name.trim(),
      scopes: [...new Set(input.scopes)].sort(),
    };
    throwIfInvalid([...validateNewToken(normalizedInput)]);
    const { name, scopes, expiresAt } = normalizedInput;
    await session.query(DELETE_EXPIRED_TOKENS_SQL, [userId]);
    const [conflicts] = await session.query(SELECT_CONFLICTS_SQL, [userId, name, expiresAt]);
    const issues: InputIssue[] = [];
    if (conflicts!.taken)
      issues.push({
        path: ['name'],
        ...validationIssue(
          IssueCode.NOT_UNIQUE,
          'You already have an access token with this name.',
        ),
      });
    if (conflicts!.past)
      issues.push({ path: ['expiresAt'], ...invalidValueIssue('This date is in the past.') });
    if (Number(conflicts!.count) >= this.maxTokensPerUser)
      issues.push({
        path: [],
        ...invalidValueIssue(
          `You already have ${this.maxTokensPerUser} access tokens. Revoke one that you do not need.`,
        ),
      });
    throwIfInvalid(issues);
    const token = TOKEN_PREFIX + randomBytes(24).toString('hex');
    const [insertedRow] = await session.query(INSERT_TOKEN_SQL, [
      userId,
      name,
      sha256(token),
      scopes,
      expiresAt,
    ]);
    return { id: insertedRow!.id as number, token };
  }

  /** Revokes one token, or all tokens if `id` is undefined. Returns the names of the revoked tokens. */
  async revoke(
    userId: number,
    id: number | undefined,
    session: DatabaseSession,
  ): Promise<string[]> {
    const rows = await session.query(
      'DELETE FROM "access_token" WHERE "user_id" = $1 AND ($2::int IS NULL OR "id" = $2) RETURNING "name"',
      [userId, id ?? null],
    );
    return rows.map(({ name }) => name as string);
  }
}
