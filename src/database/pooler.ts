/**
 * Poolers between this program and PostgreSQL, such as pgbouncer. One that hands out a session for as long as a connection lasts is fine, though it may
 * drop what a connection asks for when it is made; one that hands out another session for each transaction is not: prepared statements, timeouts,
 * locks and LISTEN belong to a session.
 */
import type { ClientBase, Pool, PoolClient } from 'pg';
import { ConfigError } from '../config';

/** PostgreSQL's own number of the process that a connection is served by; a pooler's clients are told another. */
const pidOf = async (client: ClientBase): Promise<number> => (await client.query('SELECT pg_backend_pid() AS "pid"')).rows[0].pid as number;

/** Missing in the type declarations of pg. */
const told = (client: ClientBase) => (client as unknown as { processID: number }).processID;

const PER_TRANSACTION =
  'DATABASE_URL leads through a pooler that gives each transaction another session (pool_mode = transaction or statement of pgbouncer). ' +
  'Set pool_mode = session for this database, or let DATABASE_URL lead to PostgreSQL itself: ' +
  'the server keeps its connections open and pools them by itself.';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html: a pooler refuses what it does not know when a connection is made. */
const PROTOCOL_VIOLATION = '08P01';

/** What is wrong with the way to the database, if the reason is a pooler's. */
export const refusedByPooler = (error: Error): ConfigError | undefined =>
  (error as { code?: string }).code === PROTOCOL_VIOLATION
    ? new ConfigError(
        `DATABASE_URL leads through a pooler that refuses what a connection asks for: ${error.message}. ` +
          'For pgbouncer set ignore_startup_parameters = options, and pool_mode = session, or let DATABASE_URL lead to PostgreSQL itself',
      )
    : undefined;

/** Whether there is a pooler. Throws a ConfigError for one that does not keep sessions apart. */
export async function isPooled(pool: Pool): Promise<boolean> {
  const one = await pool.connect();
  let other: PoolClient | undefined;
  try {
    const pid = await pidOf(one);
    if (pid === told(one)) return false;
    other = await pool.connect();
    // Of a session that nobody has for long, somebody else has it now, or `one` gets another while that one keeps it.
    await other.query('BEGIN').catch(() => {
      throw new ConfigError(PER_TRANSACTION);
    });
    const others = await pidOf(other);
    if (others === pid || (await pidOf(one)) !== pid) throw new ConfigError(PER_TRANSACTION);
    return true;
  } finally {
    // They were made without the settings that they need.
    one.release(other !== undefined);
    other?.release(true);
  }
}
