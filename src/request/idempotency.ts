/**
 * Idempotency keys (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/): a
 * write that is sent again with the same key runs only once.
 *
 * Before a request runs, it claims its key: it stores the key in the database with a random claim
 * id, which reserves the key for this request. If the request writes only one resource, the
 * transaction of the write also stores the response, so that a crash leaves both or neither. Other
 * requests, such as a mutation with several fields, may run several transactions: each of them
 * marks the claim as written (something was committed), and the response is stored after the last
 * one. A repeated request finds one of the following under its key:
 * - A response: it is sent again, and nothing runs.
 * - A claim or response of a different request: 422.
 * - An unwritten claim of a live instance: the first request is still running. 409 with
 *   Retry-After.
 * - An unwritten claim that is old or belongs to a dead instance: the server died before the write.
 *   The repeated request takes over the claim and runs. If the first request is still alive, its
 *   transaction finds that the claim was replaced, and is rolled back.
 * - A written claim without a response: something was committed, but the response was too large to
 *   store, or the server crashed between the transactions and the storage of the response. 409, and
 *   nothing runs again.
 */
import { randomUUID } from 'node:crypto';
import type { TokenVault } from '../accounts/tokens';
import { ClientError } from '../engine/declare/errors';
import { LIVE_INSTANCES_SQL } from '../engine/changes/listener';
import { isDatabaseUnavailableError } from '../database/errors';
import type { Database } from '../database/connection';
import type { DatabaseSession } from '../database/session';
import type { Transaction } from '../database/transaction';
import { KEY_RETENTION_HOURS, IDEMPOTENCY_KEY_PATTERN } from '../shared/idempotency-key';
import { UploadedFile } from '../shared/multipart';

export interface StoredResponse {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

export type ClaimResult = { storedResponse: StoredResponse } | { claim: IdempotencyClaim };

const SWEEP_INTERVAL_MS = 10 * 60 * 1000;
const RELEASE_RETRY_INTERVAL_MS = 500;

/**
 * Retry-After, in seconds, for a user with too many idempotency keys. Some of the keys have
 * probably expired by then.
 */
const TOO_MANY_KEYS_RETRY_SECONDS = 600;
const MAX_UNRELEASED_CLAIMS = 10_000;
const MAX_REQUEST_DEPTH = 200;

/**
 * Maximum size of a stored response: twice the usual response of the largest mutation (500 rows).
 */
const MAX_STORED_RESPONSE_BYTES = 512 * 1024;

const IS_EXPIRED_SQL = `"at" < now() - interval '${KEY_RETENTION_HOURS} hours'`;

/**
 * SQL: whether another request may take over the claim of key `k`: the claim has ended, is older
 * than any request can run, or belongs to an instance that no longer holds its advisory lock.
 */
const IS_ABANDONED_CLAIM_SQL = `(k."claim" IS NULL OR k."at" < now() - interval '60 seconds'
  OR k."instance" IS NOT NULL AND NOT EXISTS (
    SELECT FROM ${LIVE_INSTANCES_SQL} AND l."objid"::bigint = k."instance"))`;

/**
 * SQL: counts the unexpired keys of a user, up to the limit. Expired keys are deleted only
 * periodically.
 */
const COUNT_KEYS_SQL = `SELECT count(*)::int AS "keys"
  FROM (SELECT FROM "idempotency_key" k WHERE "user_id" = $1 AND NOT k.${IS_EXPIRED_SQL}
  LIMIT $MOST::integer) AS "some"`;

/**
 * SQL: claims a key that is new, expired, or abandoned by an earlier attempt of the same request.
 * Returns a row if the key was claimed. A user at the maximum number of keys gets no new one.
 */
const CLAIM_KEY_SQL = `INSERT INTO "idempotency_key" AS k ("user_id", "key", "request", "claim",
  "instance")
  SELECT $1::integer, $2::varchar, $3::bytea, $4::uuid, $5::integer
  WHERE (${COUNT_KEYS_SQL.replace('$MOST', '$6')}) < $6::integer
    OR EXISTS (SELECT FROM "idempotency_key" WHERE "user_id" = $1 AND "key" = $2)
  ON CONFLICT ("user_id", "key") DO UPDATE SET "request" = EXCLUDED."request",
    "claim" = EXCLUDED."claim", "instance" = EXCLUDED."instance",
    "written" = false, "status" = NULL, "headers" = NULL, "body" = NULL, "at" = now()
  WHERE k.${IS_EXPIRED_SQL} OR (k."status" IS NULL AND NOT k."written"
    AND k."request" = EXCLUDED."request" AND ${IS_ABANDONED_CLAIM_SQL})
  RETURNING 1`;
const FIND_KEY_SQL = `SELECT "request" = $3 AS "same", "status", "headers", "body", "status" IS NULL
  AND "written" AND ${IS_ABANDONED_CLAIM_SQL} AS "lost"
  FROM "idempotency_key" k WHERE "user_id" = $1 AND "key" = $2`;
const IS_OWN_CLAIM_SQL = `"user_id" = $1 AND "key" = $2 AND "claim" = $3`;
const MARK_WRITTEN_SQL = `UPDATE "idempotency_key" SET "written" = true WHERE ${IS_OWN_CLAIM_SQL}
  RETURNING 1`;

/**
 * SQL: ends a claim and stores the response within the user's storage limit. $8: whether this runs
 * in the transaction of the write. Returns no row if another request has taken over the claim.
 */
const STORE_RESPONSE_SQL = `WITH "mine" AS (SELECT coalesce(octet_length($6::bytea), 0) AS "bytes"
  FROM "idempotency_key" WHERE ${IS_OWN_CLAIM_SQL} FOR UPDATE),
  "room" AS (
    INSERT INTO "idempotency_usage" AS u ("user_id", "bytes") SELECT $1, "bytes" FROM "mine"
      WHERE "bytes" <= $7
    ON CONFLICT ("user_id") DO UPDATE SET "bytes" = u."bytes" + EXCLUDED."bytes"
    WHERE u."bytes" + EXCLUDED."bytes" <= $7
    RETURNING 1),
  "found" AS (SELECT EXISTS (SELECT FROM "room") AS "room")
  UPDATE "idempotency_key" SET "claim" = NULL, "written" = "written" OR $8, "status" = CASE
    WHEN "room" THEN $4::smallint END,
    "headers" = CASE WHEN "room" THEN $5::json END, "body" = CASE WHEN "room" THEN $6::bytea END
      FROM "found" WHERE ${IS_OWN_CLAIM_SQL} RETURNING 1`;

/** SQL: ends a claim without a response. Deletes the key if nothing was written. */
const RELEASE_CLAIM_SQL = `WITH "unwritten" AS (DELETE FROM "idempotency_key"
  WHERE ${IS_OWN_CLAIM_SQL} AND NOT "written")
  UPDATE "idempotency_key" SET "claim" = NULL WHERE ${IS_OWN_CLAIM_SQL} AND "written"`;

const inProgressError = () =>
  new ClientError(
    'IDEMPOTENCY_KEY_IN_USE',
    'A request with this Idempotency-Key is still running. Send it again in a moment.',
    {
      retryAfter: 1,
    },
  );
const keyReusedError = () =>
  new ClientError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request.');
const responseLostError = () =>
  new ClientError(
    'RESPONSE_LOST',
    'The request with this Idempotency-Key was executed, but its response was lost or too large to be stored. Read what it changed before you send anything again.',
  );
const tooManyKeysError = (maxKeys: number) =>
  new ClientError(
    'TOO_MANY_REQUESTS',
    `You have used ${maxKeys} Idempotency-Keys in ${KEY_RETENTION_HOURS} hours, and no more can be stored. Send the request without a key, or try again later.`,
    {
      retryAfter: TOO_MANY_KEYS_RETRY_SECONDS,
    },
  );
const badRequestError = (message: string) => new ClientError('BAD_REQUEST', message);

/**
 * Converts a request to plain JSON, from which its fingerprint is computed. Files are represented
 * by name and digest.
 */
function toFingerprintJson(value: unknown, depth = 0): unknown {
  if (depth > MAX_REQUEST_DEPTH) {
    throw badRequestError('The body is nested too deeply for an Idempotency-Key.');
  }

  if (value instanceof UploadedFile) {
    return toFingerprintJson({ filename: value.filename, digest: value.digest });
  }

  if (value instanceof Map) return toFingerprintJson([...value], depth);
  if (Array.isArray(value)) return value.map((item) => toFingerprintJson(item, depth + 1));
  if (value === null || typeof value !== 'object') return value;

  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, toFingerprintJson(item, depth + 1)]),
  );
}

/**
 * Claim of an idempotency key by the running request. It ends when the response is stored, or with
 * `release`.
 */
export class IdempotencyClaim {
  private readonly claimParameters: unknown[];

  /** Whether the response was stored in the transaction that also made the changes. */
  isResponseStored = false;

  /**
   * Whether a 4xx response releases the key instead of being stored, so that a corrected request
   * can use the same key.
   */
  releasesOnRejection = false;

  constructor(
    private readonly session: DatabaseSession,
    private readonly tokenVault: TokenVault,
    private readonly maxStoredBytesPerUser: number,

    /** Releases the key as soon as the database is available. */
    private readonly releaseLater: (claimParameters: unknown[]) => void,
    userId: number,
    idempotencyKey: string,
    claimId: string,
  ) {
    this.claimParameters = [userId, idempotencyKey, claimId];
    session.beforeCommit = (transaction) => this.markWritten(transaction);
  }

  private async markWritten(transaction: Transaction): Promise<void> {
    if (this.isResponseStored) return;
    const rows = await transaction.query(MARK_WRITTEN_SQL, this.claimParameters);

    if (!rows.length) throw inProgressError();
  }

  /**
   * Runs the whole request in one transaction that also stores its response. Error responses, and a
   * claim taken over by another request, roll it back.
   */
  async runInTransaction(runRequest: () => Promise<StoredResponse>): Promise<StoredResponse> {
    const response = await this.session.atomically(async () => {
      const result = await runRequest();
      const shouldCommit = result.status < 400;

      if (shouldCommit) await this.storeResponseInTransaction(result);

      return { shouldCommit, result };
    });

    if (!this.isResponseStored) await this.storeResponse(response);

    return response;
  }

  /**
   * Stores the response in the current transaction, unless it is too large. Throws if another
   * request has taken over the claim.
   */
  async storeResponseInTransaction(response: StoredResponse): Promise<void> {
    const values = this.storageParameters(response);

    if (!values) return;
    const rows = await this.session.query(STORE_RESPONSE_SQL, [...values, true]);

    if (!rows.length) throw inProgressError();
    this.isResponseStored = true;
  }

  /**
   * Stores the response after the request. Releases the claim instead if the response is too large,
   * a temporary failure (429, 5xx), or a rejection with `releasesOnRejection`.
   */
  async storeResponse(response: StoredResponse): Promise<void> {
    const { status } = response;
    const shouldRelease = status >= (this.releasesOnRejection ? 400 : 500) || status === 429;
    const values = shouldRelease ? undefined : this.storageParameters(response);

    if (!values) return this.release();
    // The client receives the response even if it cannot be stored, because the changes are already
    // committed.
    await this.session
      .recordRequestOutcome(STORE_RESPONSE_SQL, [...values, false])
      .catch(() => this.releaseLater(this.claimParameters));
  }

  /** Parameters of STORE_RESPONSE_SQL, unless the response is too large to be stored. */
  private storageParameters({ status, headers = {}, body }: StoredResponse): unknown[] | undefined {
    // The body is encrypted, because it may contain personal data or a token.
    const encryptedBody = body === undefined ? null : this.tokenVault.encrypt(JSON.stringify(body));

    if (encryptedBody && encryptedBody.length > MAX_STORED_RESPONSE_BYTES) return undefined;

    return [
      ...this.claimParameters,
      status,
      JSON.stringify(headers),
      encryptedBody,
      this.maxStoredBytesPerUser,
    ];
  }

  async release(): Promise<void> {
    await this.session
      .recordRequestOutcome(RELEASE_CLAIM_SQL, this.claimParameters)
      .catch(() => this.releaseLater(this.claimParameters));
  }
}

export class IdempotencyKeyStore {
  private readonly sweepTimer: NodeJS.Timeout;
  private readonly unreleasedClaims = new Set<unknown[]>();
  private retryTimer?: NodeJS.Timeout;

  constructor(
    private readonly database: Database,
    private readonly tokenVault: TokenVault,
    private readonly maxStoredBytesPerUser: number,
    private readonly maxKeysPerUser: number,

    /** Number of this process: the second key of the advisory lock that it holds while it runs. */
    private readonly instanceNumber: number | null = null,
  ) {
    this.sweepTimer = setInterval(
      () => void this.deleteExpiredKeys().catch(() => undefined),
      SWEEP_INTERVAL_MS,
    ).unref();
  }

  /**
   * Releases a claim as soon as the database is available. If too many claims already wait, the
   * claim is kept; another request can take it over when it is old.
   */
  private readonly releaseLater = (claimParameters: unknown[]): void => {
    if (this.unreleasedClaims.size >= MAX_UNRELEASED_CLAIMS) return;
    this.unreleasedClaims.add(claimParameters);
    this.retryTimer ??= setInterval(
      () => void this.retryReleases(),
      RELEASE_RETRY_INTERVAL_MS,
    ).unref();
  };

  private async retryReleases(): Promise<void> {
    for (const claimParameters of this.unreleasedClaims) {
      const rows = await this.database
        .queryAsServer(RELEASE_CLAIM_SQL, claimParameters)
        .catch(() => undefined);

      if (!rows) return;
      this.unreleasedClaims.delete(claimParameters);
    }

    clearInterval(this.retryTimer);
    this.retryTimer = undefined;
  }

  /**
   * Claims a key, or finds its stored response. `request` is everything that identifies the
   * request. Throws if the key is malformed, belongs to another or a running request, has lost its
   * response, or exceeds the number of keys per user.
   */
  async claimKey(
    userId: number,
    header: string,
    request: unknown,
    session: DatabaseSession,
  ): Promise<ClaimResult> {
    // The draft requires a quoted string (RFC 9651), but most clients omit the quotes.
    const idempotencyKey = header.replace(/^"(.*)"$/, '$1');

    if (!IDEMPOTENCY_KEY_PATTERN.test(idempotencyKey)) {
      throw badRequestError(
        'Idempotency-Key must be 1 to 255 printable ASCII characters without blanks.',
      );
    }

    // The request is stored as a keyed hash: it may contain a password, which someone with a stolen
    // database could guess from a plain digest.
    const requestHash = this.tokenVault.sign(
      `request ${JSON.stringify(toFingerprintJson(request))}`,
    );
    const claimId = randomUUID();
    const [claimedRow] = await session
      .query(CLAIM_KEY_SQL, [
        userId,
        idempotencyKey,
        requestHash,
        claimId,
        this.instanceNumber,
        this.maxKeysPerUser,
      ])
      .catch((error) => {
        // If the connection was lost, the claim may nevertheless have been committed, so it is
        // released later.
        if (isDatabaseUnavailableError(error)) this.releaseLater([userId, idempotencyKey, claimId]);
        throw error;
      });

    if (claimedRow) {
      return {
        claim: new IdempotencyClaim(
          session,
          this.tokenVault,
          this.maxStoredBytesPerUser,
          this.releaseLater,
          userId,
          idempotencyKey,
          claimId,
        ),
      };
    }

    const [row] = await session.query(FIND_KEY_SQL, [userId, idempotencyKey, requestHash]);

    if (!row) {
      const [{ keys } = { keys: 0 }] = await session.query(COUNT_KEYS_SQL.replace('$MOST', '$2'), [
        userId,
        this.maxKeysPerUser,
      ]);

      // If the user does not have too many keys, another request has released this key between the
      // two statements, and a retry will succeed.
      throw keys < this.maxKeysPerUser ? inProgressError() : tooManyKeysError(this.maxKeysPerUser);
    }

    if (!row.same) throw keyReusedError();
    const bodyJson = row.body === null ? 'null' : this.tokenVault.decrypt(row.body);

    if (row.lost || bodyJson === undefined) throw responseLostError();
    if (row.status === null) throw inProgressError();

    return {
      storedResponse: {
        status: row.status,
        headers: row.headers,
        ...(row.body !== null && { body: JSON.parse(bodyJson) }),
      },
    };
  }

  /** Deletes expired keys, which requests already ignore. */
  async deleteExpiredKeys(): Promise<void> {
    await this.database.queryAsServer(`DELETE FROM "idempotency_key" WHERE ${IS_EXPIRED_SQL}`);
  }

  stop(): void {
    clearInterval(this.sweepTimer);
    clearInterval(this.retryTimer);
  }
}
