/**
 * Whether requests can be answered now, changes too, decided in a second however long the database takes to say so; and if not, why. What is asked
 * of the database is what a change asks of it: the lock of every table, room on its disk, a commit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { entities, resourceOf } from '../core/model/registry';
import type { Database } from '../database/connection';
import { quoteIdentifiers } from '../database/identifiers';
import { migrated } from '../database/migrate';
import { codeOf, isUnavailable } from '../database/refusals';

const DECIDED_MS = 1_000;
/** Short of the decision. */
const LOCK_MS = 400;
/** Rows that do not fit into the least memory that a statement may have, so that they need a file. */
const SPILLED_ROWS = 5_000;

/** Of PostgreSQL. */
const REASONS: Record<string, string> = {
  '53100': 'the disk of the database is full',
  '25006': 'the database is read-only',
  '55P03': 'a table is locked',
  '42P01': 'a table is missing',
  '42501': 'the database does not permit it',
};

/** Absent: all is well. */
export type Reason = string | undefined;

export class Readiness {
  private deciding?: Promise<Reason>;
  private tables?: string[];
  private ending = false;

  constructor(private readonly database: Database) {}

  /** From now on it is not ready any more. */
  end(): void {
    this.ending = true;
  }

  /** Those who ask at the same time are told the same, so that they take one connection of those that others wait for. */
  async decide(): Promise<Reason> {
    const refused = () => (this.ending ? 'the server is about to end' : undefined);
    if (refused()) return refused();
    if (this.database.pulse.away) return 'the database does not answer';
    const decided = await (this.deciding ??= this.ask());
    return refused() ?? decided;
  }

  private async ask(): Promise<Reason> {
    const late = sleep(DECIDED_MS, 'the database does not answer in time', { ref: false });
    const reason = await Promise.race([this.check().catch(reasonOf), late]);
    this.deciding = undefined;
    return reason;
  }

  private async check(): Promise<Reason> {
    if (!(await migrated(this.database))) return 'the database is not migrated';
    const client = await this.database.pool.connect();
    let broken: Error | undefined;
    try {
      this.tables ??= await tablesOf(client);
      await client.query(attempt(this.tables));
      return undefined;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => (broken = failure));
      throw error;
    } finally {
      client.release(broken);
    }
  }
}

const reasonOf = (error: unknown): string =>
  REASONS[codeOf(error)] ?? (isUnavailable(error) ? 'the database cannot be reached' : 'nothing can be written to the database');

/** All that are written to: those of the resources, and what else there is when it is asked for first. */
async function tablesOf(client: PoolClient): Promise<string[]> {
  const { rows } = await client.query(
    `SELECT "relname" FROM pg_class WHERE "relkind" = 'r' AND "relnamespace" = quote_ident(current_schema())::regnamespace`,
  );
  return [...new Set([...rows.map(({ relname }) => relname as string), ...entities().map((entity) => resourceOf(entity)!.table)])].sort();
}

/** In one packet. What is written to the log of the server means nothing to anybody; it has to be there before the transaction ends. */
const attempt = (tables: readonly string[]): string => `BEGIN; SET LOCAL lock_timeout = ${LOCK_MS}; SET LOCAL work_mem = '64kB';
  LOCK TABLE ${quoteIdentifiers(tables)} IN ROW EXCLUSIVE MODE;
  UPDATE "migration" SET "name" = "name" WHERE false; SELECT count(*) FROM generate_series(1, ${SPILLED_ROWS});
  SELECT pg_logical_emit_message(true, 'fitgraph', 'ready'); COMMIT`;
