/**
 * Readiness probe (https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/): whether reads and writes can be served
 * now, and if not, why. Decides within a second, however slow the database is. The check does what a write needs: it locks every table, writes
 * temporary and log data to disk, and commits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { allEntities, resourceOf } from '../core/model/registry';
import type { Database } from '../database/connection';
import { quoteIdentifiers } from '../database/identifiers';
import { migrated } from '../database/migrate';
import { errorCodeOf, isUnavailable } from '../database/errors';

const CHECK_TIMEOUT_MS = 1_000;
/** Below CHECK_TIMEOUT_MS, so that a locked table is reported as the reason. */
const LOCK_TIMEOUT_MS = 400;
/** More rows than fit into the smallest work_mem (64 kB), so that PostgreSQL writes a temporary file and a full disk is noticed. */
const SPILLED_ROWS = 5_000;

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const REASONS: Record<string, string> = {
  '53100': 'the database disk is full',
  '25006': 'the database is read-only',
  '55P03': 'a table is locked',
  '42P01': 'a table is missing',
  '42501': 'the database denies access',
};

/** Why the server is not ready; undefined if it is. */
export type UnreadyReason = string | undefined;

export class ReadinessProbe {
  private runningCheck?: Promise<UnreadyReason>;
  private tables?: string[];
  private isDraining = false;

  constructor(private readonly database: Database) {}

  /** Reports "not ready" from now on. */
  startDraining(): void {
    this.isDraining = true;
  }

  /** Checks once for concurrent probes, so that they use a single pooled connection. */
  async decide(): Promise<UnreadyReason> {
    const drainingReason = () => (this.isDraining ? 'the server is shutting down' : undefined);
    if (drainingReason()) return drainingReason();
    if (this.database.breaker.unavailable) return 'the database does not respond';
    const reason = await (this.runningCheck ??= this.checkInTime());
    return drainingReason() ?? reason;
  }

  private async checkInTime(): Promise<UnreadyReason> {
    const timeout = sleep(CHECK_TIMEOUT_MS, 'the database does not respond in time', { ref: false });
    const reason = await Promise.race([this.check().catch(reasonOf), timeout]);
    this.runningCheck = undefined;
    return reason;
  }

  private async check(): Promise<UnreadyReason> {
    if (!(await migrated(this.database))) return 'the database is not migrated';
    const client = await this.database.pool.connect();
    let connectionError: Error | undefined;
    try {
      this.tables ??= await tablesOf(client);
      await client.query(probeSql(this.tables));
      return undefined;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => (connectionError = failure));
      throw error;
    } finally {
      client.release(connectionError);
    }
  }
}

const reasonOf = (error: unknown): string =>
  REASONS[errorCodeOf(error)] ?? (isUnavailable(error) ? 'the database cannot be reached' : 'writes to the database fail');

/** Names of all tables: those present at the first check and those of all resources, so that a missing table is reported. */
async function tablesOf(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT "relname" FROM pg_class WHERE "relkind" = 'r' AND "relnamespace" = quote_ident(current_schema())::regnamespace`,
  );
  return [
    ...new Set([...rows.map(({ relname }) => relname as string), ...allEntities().map((entity) => resourceOf(entity)!.table)]),
  ].sort();
}

/** Statements of the check, sent in one packet. The logical message is ignored by everybody: it makes the commit write to the write-ahead log. */
const probeSql = (tables: readonly string[]): string => `BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; SET LOCAL work_mem = '64kB';
  LOCK TABLE ${quoteIdentifiers(tables)} IN ROW EXCLUSIVE MODE;
  UPDATE "migration" SET "name" = "name" WHERE false; SELECT count(*) FROM generate_series(1, ${SPILLED_ROWS});
  SELECT pg_logical_emit_message(true, 'fitgraph', 'ready'); COMMIT`;
