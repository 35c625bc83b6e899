/**
 * The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a change that is sent again with its key is not made again.
 *
 * A request claims its key in the database before it runs. The claim is marked as written in the very transaction that writes, so that both
 * are there or neither is, wherever the server dies; the answer is stored afterwards. Who comes later finds one of these:
 * - an answer: it is given again, nothing runs;
 * - a claim not written, of an instance that lives: the first request still runs, 409 and Retry-After;
 * - a claim not written, old or of an instance that is gone: its server died before anything was written. The request takes the claim over and
 *   runs. Should the first one be alive after all, its transaction finds the claim gone and is rolled back;
 * - a claim written without an answer: the change was made and its answer is lost, or was too large to be kept, which is said with 409. Nothing
 *   runs a second time.
 */
import { randomUUID } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { TokenVault } from '../auth/tokens';
import { KnownError } from '../core/model/errors';
import { INSTANCES } from '../core/changes/listener';
import { isUnavailable } from '../database/refusals';
import type { Database } from '../database/connection';
import type { Session } from '../database/session';
import { KEPT_HOURS, KEY } from '../platform/idempotencykey';
import { UploadedFile } from '../platform/multipart';

export interface KeptAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export type Attempt = { kept: KeptAnswer } | { claim: Claim };

const SWEEP_MS = 10 * 60 * 1000;
const RETRY_MS = 500;
/** Keys become free one after the other, as they grow old. */
const FULL_RETRY_SECONDS = 600;
/** Claims that wait for the database to be there again. */
const MAX_ENDING = 10_000;
const MAX_DEPTH = 200;
/** In bytes: of one answer. The largest that a mutation of 500 rows usually has is half of it. */
const MAX_ANSWER = 512 * 1024;

const EXPIRED = `"at" < now() - interval '${KEPT_HOURS} hours'`;
/** Longer than any request takes; and an instance that lives holds its lock. */
const OLD = `(k."claim" IS NULL OR k."at" < now() - interval '60 seconds' OR k."instance" IS NOT NULL AND NOT EXISTS (
    SELECT FROM ${INSTANCES} AND l."objid"::bigint = k."instance"))`;

/** As far as it matters; those that have expired are taken away soon. */
const KEYS = `SELECT count(*)::int AS "keys" FROM (SELECT FROM "idempotency_key" k WHERE "user_id" = $1 AND NOT k.${EXPIRED} LIMIT $MOST::integer) AS "some"`;
/** One more only where there is room for it. */
const CLAIM = `INSERT INTO "idempotency_key" AS k ("user_id", "key", "request", "claim", "instance")
  SELECT $1::integer, $2::varchar, $3::bytea, $4::uuid, $5::integer
  WHERE (${KEYS.replace('$MOST', '$6')}) < $6::integer OR EXISTS (SELECT FROM "idempotency_key" WHERE "user_id" = $1 AND "key" = $2)
  ON CONFLICT ("user_id", "key") DO UPDATE SET "request" = EXCLUDED."request", "claim" = EXCLUDED."claim", "instance" = EXCLUDED."instance",
    "written" = false, "status" = NULL, "headers" = NULL, "body" = NULL, "at" = now()
  WHERE k.${EXPIRED} OR (k."status" IS NULL AND NOT k."written" AND k."request" = EXCLUDED."request" AND ${OLD})
  RETURNING 1`;
const FIND = `SELECT "request" = $3 AS "same", "status", "headers", "body", "status" IS NULL AND "written" AND ${OLD} AS "lost"
  FROM "idempotency_key" k WHERE "user_id" = $1 AND "key" = $2`;
const MINE = `"user_id" = $1 AND "key" = $2 AND "claim" = $3`;
const WRITTEN = `UPDATE "idempotency_key" SET "written" = true WHERE ${MINE} RETURNING 1`;
/** Where there is no room for it, the claim ends as one without an answer. */
const KEEP = `WITH "mine" AS (SELECT coalesce(octet_length($6::bytea), 0) AS "bytes" FROM "idempotency_key" WHERE ${MINE} FOR UPDATE),
  "room" AS (
    INSERT INTO "idempotency_usage" AS u ("user_id", "bytes") SELECT $1, "bytes" FROM "mine" WHERE "bytes" <= $7
    ON CONFLICT ("user_id") DO UPDATE SET "bytes" = u."bytes" + EXCLUDED."bytes" WHERE u."bytes" + EXCLUDED."bytes" <= $7
    RETURNING 1),
  "found" AS (SELECT EXISTS (SELECT FROM "room") AS "room")
  UPDATE "idempotency_key" SET "claim" = NULL, "status" = CASE WHEN "room" THEN $4::smallint END,
    "headers" = CASE WHEN "room" THEN $5::json END, "body" = CASE WHEN "room" THEN $6::bytea END FROM "found" WHERE ${MINE}`;
const RELEASE = `WITH "unwritten" AS (DELETE FROM "idempotency_key" WHERE ${MINE} AND NOT "written")
  UPDATE "idempotency_key" SET "claim" = NULL WHERE ${MINE} AND "written"`;

const conflict = (message: string, retryAfter?: number) =>
  new KnownError('CONFLICT', message, retryAfter === undefined ? {} : { retryAfter });
const busy = () => conflict('A request with this Idempotency-Key is being carried out. Send it again in a moment.', 1);
const tooMany = (most: number) =>
  new KnownError(
    'TOO_MANY_REQUESTS',
    `You have used ${most} Idempotency-Keys in ${KEPT_HOURS} hours, and more are not kept. Send this without one, or later.`,
    {
      retryAfter: FULL_RETRY_SECONDS,
    },
  );
const malformed = (message: string) => new KnownError('BAD_REQUEST', message);

/** Files count by what is in them. */
function plain(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw malformed('The body is nested too deeply for an Idempotency-Key.');
  if (value instanceof UploadedFile) return plain({ filename: value.filename, digest: value.digest });
  if (value instanceof Map) return plain([...value], depth);
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item, depth + 1)]));
}

/** A request that may run, and says in the end what it answers. */
export class Claim {
  private readonly mine: unknown[];

  constructor(
    private readonly session: Session,
    private readonly vault: TokenVault,
    private readonly room: number,
    /** Ends the claim as soon as the database can be reached. */
    private readonly abandoned: (mine: unknown[]) => void,
    userId: number,
    key: string,
    claim: string,
  ) {
    this.mine = [userId, key, claim];
    session.beforeCommit = (transaction) => this.written(transaction);
  }

  private async written(transaction: Transaction): Promise<void> {
    const options = { bind: this.mine, transaction, ...this.session.counted };
    const [rows] = await this.session.database.sequelize.query(WRITTEN, options);
    if (!rows.length) throw busy();
  }

  /** Failures that may be over in a moment are not kept, nor are answers that are too large; a change that was made in spite of that stays made. */
  async settle({ status, headers = {}, body }: KeptAnswer): Promise<void> {
    if (status >= 500 || status === 429) return this.release();
    // It may hold what is nobody else's business, a token even.
    const sealed = body === undefined ? null : this.vault.seal(JSON.stringify(body));
    if (sealed && sealed.length > MAX_ANSWER) return this.release();
    const keep = [...this.mine, status, JSON.stringify(headers), sealed, this.room];
    // The change was made, and whoever made it is told so; the answer is one that could not be kept.
    await this.session.note(KEEP, keep).catch(() => this.abandoned(this.mine));
  }

  async release(): Promise<void> {
    await this.session.note(RELEASE, this.mine).catch(() => this.abandoned(this.mine));
  }
}

export class Idempotency {
  private readonly sweeping: NodeJS.Timeout;
  private readonly ending = new Set<unknown[]>();
  private retrying?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    private readonly vault: TokenVault,
    /** In bytes: of all that is kept of one user's answers. */
    private readonly room: number,
    /** Keys of one user. */
    private readonly most: number,
    /** Of this process, as it holds its lock. */
    private readonly instance: number | null = null,
  ) {
    this.sweeping = setInterval(() => void this.sweep().catch(() => undefined), SWEEP_MS).unref();
  }

  /** What could not be ended is tried again and again; after a while it ends by its age. */
  private readonly abandoned = (mine: unknown[]): void => {
    if (this.ending.size >= MAX_ENDING) return;
    this.ending.add(mine);
    this.retrying ??= setInterval(() => void this.endAbandoned(), RETRY_MS).unref();
  };

  private async endAbandoned(): Promise<void> {
    for (const mine of this.ending) {
      if (this.database.pulse.away) return;
      const ended = await this.database.ask(RELEASE, mine).catch(() => undefined);
      if (!ended) return;
      this.ending.delete(mine);
    }
    clearInterval(this.retrying);
    this.retrying = undefined;
  }

  /** `request` is all that must be the same for the same answer. Throws BAD_REQUEST for a bad key, CONFLICT for one that cannot be used now. */
  async attempt(userId: number, header: string, request: unknown, session: Session): Promise<Attempt> {
    // A structured field has quotes, most clients send none.
    const key = header.replace(/^"(.*)"$/, '$1');
    if (!KEY.test(key)) throw malformed('Idempotency-Key must be 1 to 255 printable ASCII characters without blanks.');
    // Keyed, because a request may hold a password, which a bare digest would let anybody try who has the database.
    const hash = this.vault.sign(`request ${JSON.stringify(plain(request))}`);
    const claim = randomUUID();
    const [claimed] = await session.query(CLAIM, [userId, key, hash, claim, this.instance, this.most]).catch((error) => {
      // It may have been made, and nobody would know of it.
      if (isUnavailable(error)) this.abandoned([userId, key, claim]);
      throw error;
    });
    if (claimed) return { claim: new Claim(session, this.vault, this.room, this.abandoned, userId, key, claim) };
    const [found] = await session.query(FIND, [userId, key, hash]);
    if (!found) {
      const [{ keys } = { keys: 0 }] = await session.query(KEYS.replace('$MOST', '$2'), [userId, this.most]);
      // Else it has gone in between: whoever sends it again finds it free.
      throw keys < this.most ? busy() : tooMany(this.most);
    }
    if (!found.same) throw conflict('This Idempotency-Key was used for another request.');
    const text = found.body === null ? 'null' : this.vault.open(found.body);
    if (found.lost || text === undefined)
      throw conflict(
        'The request with this Idempotency-Key was carried out, but its answer was lost or too large to be kept. Read what it changed before sending anything again.',
      );
    if (found.status === null) throw busy();
    return { kept: { status: found.status, headers: found.headers, ...(found.body !== null && { body: JSON.parse(text) }) } };
  }

  /** What has expired is never used again, so nobody waits for this. */
  async sweep(): Promise<void> {
    await this.database.ask(`DELETE FROM "idempotency_key" WHERE ${EXPIRED}`);
  }

  stop(): void {
    clearInterval(this.sweeping);
    clearInterval(this.retrying);
  }
}
