/**
 * Access tokens: named, for some scopes, until a moment or for good. The database knows the SHA-256 of one, so that it is shown once, when it is
 * made. They begin as no API key does, so that each is looked up where it is, and programs that search code for secrets know them.
 */
import { randomBytes } from 'node:crypto';
import { NOT_BLANK, NO_NULLS, atMostCharacters } from '../contract/messages';
import type { Viewer } from '../core/context';
import { forbidden, refuse } from '../core/model/errors';
import { invalidValue, mistake, MistakeCode, type InputMistake } from '../core/model/mistakes';
import { isScope, type Scope } from '../core/access/scopes';
import type { Database } from '../database/connection';
import type { Row } from '../database/rows';
import type { Session } from '../database/session';
import { digestOf } from './tokens';

const PREFIX = 'fgt_';
const TOKEN = /^fgt_[0-9a-f]{48}$/;
export const MAX_NAME = 100;
/** Those that ended so long ago are forgotten once a new one is made. */
const FORGOTTEN_AFTER = '30 days';

export const isAccessToken = (token: string): boolean => TOKEN.test(token);

export interface AccessToken {
  id: number;
  name: string;
  scopes: Scope[];
  createdAt: string;
  expiresAt: string | null;
  /** Known to the nearest ten minutes. */
  lastUsedAt: string | null;
  isExpired: boolean;
}

export interface NewAccessToken {
  name: string;
  scopes: readonly string[];
  /** ISO 8601; null: for good. */
  expiresAt: string | null;
}

/** A transaction, as far as it is needed here. */
export type Run = (text: string, values: unknown[]) => Promise<Row[]>;

const VIEWER = `SELECT u."id", u."username", u."is_superuser" AS "isSuperuser", u."is_active" AS "isActive", t."id" AS "tokenId", t."scopes",
    t."expires_at" <= now() AS "isExpired", t."last_used_at" IS NULL OR t."last_used_at" < now() - interval '10 minutes' AS "isUnseen"
  FROM "access_token" t JOIN "account" u ON u."id" = t."user_id" WHERE t."digest" = $1`;
const SEEN = `UPDATE "access_token" SET "last_used_at" = now()
  WHERE "id" = $1 AND ("last_used_at" IS NULL OR "last_used_at" < now() - interval '10 minutes')`;
const LIST = `SELECT "id", "user_id" AS "userId", "name", "scopes", "created_at" AS "createdAt", "expires_at" AS "expiresAt",
    "last_used_at" AS "lastUsedAt", COALESCE("expires_at" <= now(), false) AS "isExpired"
  FROM "access_token" WHERE "user_id" = ANY($1) ORDER BY "id"`;
const FORGET = `DELETE FROM "access_token" WHERE "user_id" = $1 AND "expires_at" < now() - interval '${FORGOTTEN_AFTER}'`;
const ROOM = `SELECT count(*) AS "count", COALESCE(bool_or("name" = $2), false) AS "taken", $3::timestamptz <= now() AS "past"
  FROM "access_token" WHERE "user_id" = $1`;
const MAKE = `INSERT INTO "access_token" ("user_id", "name", "digest", "scopes", "expires_at") VALUES ($1, $2, $3, $4, $5) RETURNING "id"`;

function* mistakesOf({ name, scopes }: NewAccessToken): Iterable<InputMistake> {
  if (name === '') yield { path: ['name'], ...mistake(MistakeCode.BLANK, NOT_BLANK) };
  if (name.length > MAX_NAME) yield { path: ['name'], ...mistake(MistakeCode.TOO_LONG, atMostCharacters(MAX_NAME)) };
  if (name.includes('\0')) yield { path: ['name'], ...invalidValue(NO_NULLS) };
  if (!scopes.length || !scopes.every(isScope)) yield { path: ['scopes'], ...invalidValue('Choose one scope at least.') };
}

/** Of each of these users, oldest first. */
export async function listOf(userIds: readonly number[], session: Session): Promise<AccessToken[][]> {
  const rows = await session.query(LIST, [userIds]);
  return userIds.map((id) => rows.filter(({ userId }) => userId === id) as unknown as AccessToken[]);
}

export class AccessTokens {
  /** Those whose last use is being noted, so that many requests at once note it once. */
  private readonly noting = new Set<number>();

  constructor(
    /** Of one user. */
    private readonly most: number,
  ) {}

  /** The owner of a token, with its scopes; FORBIDDEN for one that is none or no more, or an inactive owner. */
  async viewerOf(token: string, session: Session): Promise<Viewer> {
    const [row] = await session.identify(VIEWER, [digestOf(token)]);
    if (!row) throw forbidden('Invalid token.');
    if (row.isExpired) throw forbidden('Token expired.');
    if (!row.isActive) throw forbidden('User inactive or deleted.');
    if (row.isUnseen) this.noteUse(row.tokenId, session.database);
    return { id: row.id, username: row.username, isSuperuser: row.isSuperuser, scopes: new Set(row.scopes as Scope[]) };
  }

  /** Nobody waits for it, and who cannot be written of may read all the same. */
  private noteUse(id: number, { pool }: Database): void {
    if (this.noting.has(id)) return;
    this.noting.add(id);
    pool
      .query(SEEN, [id])
      .catch(() => undefined)
      .finally(() => this.noting.delete(id));
  }

  /** Answers the token, for the only time. InvalidInput for a name that is taken, a moment that is over, or one token too many. */
  async make(userId: number, given: NewAccessToken, run: Run): Promise<{ id: number; token: string }> {
    const wanted = { ...given, name: given.name.trim(), scopes: [...new Set(given.scopes)].sort() };
    refuse([...mistakesOf(wanted)]);
    const { name, scopes, expiresAt } = wanted;
    // Of two at a time the second one counts the first.
    await run('SELECT 1 FROM "user_account" WHERE "id" = $1 FOR NO KEY UPDATE', [userId]);
    await run(FORGET, [userId]);
    const [room] = await run(ROOM, [userId, name, expiresAt]);
    const mistakes: InputMistake[] = [];
    if (room!.taken)
      mistakes.push({ path: ['name'], ...mistake(MistakeCode.NOT_UNIQUE, 'You have an access token of this name already.') });
    if (room!.past) mistakes.push({ path: ['expiresAt'], ...invalidValue('This moment is over.') });
    if (Number(room!.count) >= this.most)
      mistakes.push({ path: [], ...invalidValue(`You have ${this.most} access tokens already. Revoke one that you do not need.`) });
    refuse(mistakes);
    const token = PREFIX + randomBytes(24).toString('hex');
    const [made] = await run(MAKE, [userId, name, digestOf(token), scopes, expiresAt]);
    return { id: made!.id as number, token };
  }

  /** Answers the names of those that were revoked; without an id all of them are. */
  async revoke(userId: number, id: number | undefined, run: Run): Promise<string[]> {
    const rows = await run('DELETE FROM "access_token" WHERE "user_id" = $1 AND ($2::int IS NULL OR "id" = $2) RETURNING "name"', [
      userId,
      id ?? null,
    ]);
    return rows.map(({ name }) => name as string);
  }
}
