/**
 * Personal access tokens: named, limited to scopes, with an optional expiry. Only the SHA-256
 * digest of a token is stored, so the token can be shown only once. The prefix of the tokens
 * distinguishes them from API keys, and secret scanners recognise it.
 */
import { randomBytes } from 'node:crypto';
import { Field, ID, ObjectType } from 'type-graphql';
import {
  NOT_BLANK_MESSAGE,
  NO_NULL_CHARACTERS_MESSAGE,
  atMostCharactersMessage,
} from '../shared/messages';
import type { Viewer } from '../engine/context';
import {
  forbiddenError,
  throwIfInvalid,
  invalidValueIssue,
  validationIssue,
  IssueCode,
  type InputIssue,
} from '../engine/declare/errors';
import { type Scope, graphqlScopeName } from '../engine/access/scopes';
import type { DatabaseSession } from '../database/session';
import { logSecurityEvent } from './security-events';
import { JOIN_VIEWER_SQL, rowsOfUsers, viewerOf, VIEWER_COLUMNS_SQL } from './accounts';
import { sha256 } from './tokens';
import { registerChoices } from '../engine/declare/choices';
import { ListSize } from '../engine/declare/field-extensions';
import { DateTimeScalar } from '../engine/declare/scalars';

const SCOPE_GROUP_DESCRIPTIONS = {
  account: 'the account itself: names, e-mail address, preferences',
  training: 'workouts, schedules, sessions and logs',
  nutrition: 'nutrition plans and the diary',
  body: 'body weight and measurements',
  catalogue: 'contributions to the catalogue of exercises, which everyone can read',
};

const defineScopes = (access: 'read' | 'write', verb: string): [Scope, description: string][] => [
  [access, `${verb} everything.`],
  ...Object.entries(SCOPE_GROUP_DESCRIPTIONS).map(([group, subject]): [Scope, string] => [
    `${access}:${group}`,
    `${verb} ${subject}.`,
  ]),
];

/**
 * The scopes that access tokens can have: reading or writing everything, or the resources of one
 * group (`scopeGroup` of `@Resource`).
 */
export const SCOPES = [
  ...defineScopes('read', 'Reading'),
  ...defineScopes('write', 'Reading and writing'),
];

export const TokenScope = registerChoices(
  'TokenScope',
  'What an access token permits. Public data can be read without a token.',
  SCOPES.map(([scope, description]) => [graphqlScopeName(scope), scope, scope, description]),
);

export const isScope = (text: string): text is Scope => SCOPES.some(([scope]) => scope === text);

const TOKEN_PREFIX = 'fgt_';
const TOKEN_PATTERN = /^fgt_[0-9a-f]{48}$/;

export const MAX_TOKEN_NAME_LENGTH = 100;
const TYPICAL_SCOPE_COUNT = 3;

/**
 * How long access tokens stay listed after their expiry. Later they are deleted when their owner
 * creates another token.
 */
const EXPIRED_TOKEN_RETENTION = '30 days';

export const isAccessToken = (token: string): boolean => TOKEN_PATTERN.test(token);

@ObjectType({
  description: 'A token that gives a program limited access to the account of its owner.',
  simpleResolvers: true,
})
export class AccessToken {
  @Field(() => ID, { description: 'Identifies the token.' }) declare id: number;
  @Field(() => String, { description: 'The name given by the owner.' }) declare name: string;
  @ListSize(TYPICAL_SCOPE_COUNT)
  @Field(() => [TokenScope.type], { description: 'What it is for.' })
  declare scopes: Scope[];
  @Field(() => DateTimeScalar, { description: 'When the token was created.' })
  declare createdAt: string;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the token expires; null if never.',
  })
  declare expiresAt: string | null;
  @Field(() => Boolean, { description: 'Whether the token has expired.' })
  declare isExpired: boolean;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When it was last used, to the nearest ten minutes; null if never.',
  })
  declare lastUsedAt: string | null;
}

export interface NewAccessToken {
  name: string;
  scopes: readonly string[];

  /** Time of expiry in ISO 8601 format; null for never. */
  expiresAt: string | null;
}

const SELECT_TOKEN_OWNER_SQL = `SELECT ${VIEWER_COLUMNS_SQL},
  u."is_active" AS "isActive", t."id" AS "tokenId", t."scopes",
    t."expires_at" <= now() AS "isExpired", t."last_used_at" IS NULL
      OR t."last_used_at" < now() - interval '10 minutes' AS "isUnseen"
  FROM "access_token" t ${JOIN_VIEWER_SQL} WHERE t."digest" = $1`;
const UPDATE_LAST_USED_SQL = `UPDATE "access_token" SET "last_used_at" = now()
  WHERE "id" = $1 AND ("last_used_at" IS NULL OR "last_used_at" < now() - interval '10 minutes')`;
const SELECT_TOKENS_SQL = `SELECT "id", "user_id" AS "userId", "name", "scopes",
  "created_at" AS "createdAt", "expires_at" AS "expiresAt",
    "last_used_at" AS "lastUsedAt", COALESCE("expires_at" <= now(), false) AS "isExpired"
  FROM "access_token" WHERE "user_id" = ANY($1) ORDER BY "id"`;
const DELETE_EXPIRED_TOKENS_SQL = `DELETE FROM "access_token" WHERE "user_id" = $1
  AND "expires_at" < now() - interval '${EXPIRED_TOKEN_RETENTION}'`;
const SELECT_CONFLICTS_SQL = `SELECT count(*) AS "count",
  COALESCE(bool_or("name" = $2), false) AS "taken", $3::timestamptz <= now() AS "past"
  FROM "access_token" WHERE "user_id" = $1`;
const INSERT_TOKEN_SQL = `INSERT INTO "access_token" ("user_id", "name", "digest", "scopes",
  "expires_at") VALUES ($1, $2, $3, $4, $5) RETURNING "id"`;

function* validateNewToken({ name, scopes }: NewAccessToken): Iterable<InputIssue> {
  if (name === '') yield { path: ['name'], ...validationIssue(IssueCode.BLANK, NOT_BLANK_MESSAGE) };

  if (name.length > MAX_TOKEN_NAME_LENGTH) {
    yield {
      path: ['name'],
      ...validationIssue(IssueCode.TOO_LONG, atMostCharactersMessage(MAX_TOKEN_NAME_LENGTH)),
    };
  }

  if (name.includes('\0')) {
    yield { path: ['name'], ...invalidValueIssue(NO_NULL_CHARACTERS_MESSAGE) };
  }

  if (!scopes.length || !scopes.every(isScope)) {
    yield { path: ['scopes'], ...invalidValueIssue('Choose at least one scope.') };
  }
}

/** Loads the access tokens of each user, oldest first. */
export async function listAccessTokens(
  userIds: readonly number[],
  session: DatabaseSession,
): Promise<AccessToken[][]> {
  return rowsOfUsers(userIds, await session.query(SELECT_TOKENS_SQL, [userIds]));
}

/** Revokes one or all tokens of a user and logs it. Returns their number. */
export async function revokeAccessTokens(
  userId: number,
  id: number | undefined,
  session: DatabaseSession,
): Promise<number> {
  const rows = await session.query(
    'DELETE FROM "access_token" WHERE "user_id" = $1 AND ($2::int IS NULL OR "id" = $2) RETURNING "name"',
    [userId, id ?? null],
  );

  for (const { name } of rows) {
    await logSecurityEvent({ kind: 'ACCESS_TOKEN_REVOKED', userId, detail: name }, session);
  }

  return rows.length;
}

export class AccessTokens {
  /**
   * Tokens whose time of last use is being written, so that concurrent requests write it only once.
   */
  private readonly pendingUpdates = new Set<number>();

  constructor(private readonly maxTokensPerUser: number) {}

  /**
   * Authenticates by an access token. Throws FORBIDDEN if the token is unknown or expired, or if
   * the owner is inactive.
   */
  async authenticate(token: string, session: DatabaseSession): Promise<Viewer> {
    const [row] = await session.queryForAuthentication(SELECT_TOKEN_OWNER_SQL, [sha256(token)]);

    if (!row) throw forbiddenError('Invalid token.');
    if (row.isExpired) throw forbiddenError('Token expired.');
    if (!row.isActive) throw forbiddenError('User inactive or deleted.');
    if (row.isUnseen) this.recordTokenUse(row.tokenId, session.database);

    return { ...viewerOf(row), scopes: new Set(row.scopes as Scope[]) };
  }

  /**
   * Updates the time of last use in the background. Errors are ignored, because they must not fail
   * the request.
   */
  private recordTokenUse(id: number, database: DatabaseSession['database']): void {
    if (this.pendingUpdates.has(id)) return;
    this.pendingUpdates.add(id);
    database
      .queryAsServer(UPDATE_LAST_USED_SQL, [id])
      .catch(() => undefined)
      .finally(() => this.pendingUpdates.delete(id));
  }

  /**
   * Creates an access token, whose secret is returned only here. The transaction must have locked
   * the account, so that concurrent creations do not exceed the maximum. Throws InvalidInput for a
   * duplicate name, an expiry in the past, or too many tokens.
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

    if (conflicts!.taken) {
      issues.push({
        path: ['name'],
        ...validationIssue(
          IssueCode.NOT_UNIQUE,
          'You already have an access token with this name.',
        ),
      });
    }

    if (conflicts!.past) {
      issues.push({ path: ['expiresAt'], ...invalidValueIssue('This date is in the past.') });
    }

    if (Number(conflicts!.count) >= this.maxTokensPerUser) {
      issues.push({
        path: [],
        ...invalidValueIssue(
          `You already have ${this.maxTokensPerUser} access tokens. Revoke one that you do not need.`,
        ),
      });
    }

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
}
