/**
 * Circuit breaker per table for lock timeouts. While a table is locked, one write at a time probes it; other writes to it fail immediately, so that they do
 * not occupy the connections of writes to other tables. Row locks do not count, so that the lock of one user does not block the writes of others.
 */
import { isLockFailure, TableLocked } from './errors';
import type { Row } from './rows';

const PROBE_INTERVAL_MS = 500;

/** SQL: whether a table of the schema is locked in a mode that blocks writes, or will be: PostgreSQL queues writes behind a lock that is waiting. */
export const IS_ANY_TABLE_LOCKED_SQL = `EXISTS (SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE l.locktype = 'relation'
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    AND c.relkind = 'r' AND c.relnamespace = quote_ident(current_schema())::regnamespace)`;

interface LockState {
  /** Whether a write is in progress that tests whether the table is still locked. */
  isBeingProbed: boolean;
  /** Earliest time (`performance.now()`) at which another write may test whether the table is still locked. */
  nextProbeAt: number;
}

export class LockedTables {
  private readonly stateByTable = new Map<string, LockState>();

  /** `query`: runs a statement that the server needs for itself, outside of any request. */
  constructor(private readonly query: (text: string) => Promise<Row[]>) {}

  /** Runs a write to `table`. Throws TableLocked while the table is known to be locked. */
  async runWrite<T>(table: string | undefined, callback: () => Promise<T>): Promise<T> {
    if (table === undefined) return callback();
    const lockState = this.stateByTable.get(table);
    if (lockState) {
      if (lockState.isBeingProbed || performance.now() < lockState.nextProbeAt) throw new TableLocked();
      lockState.isBeingProbed = true;
    }
    try {
      const result = await callback();
      if (this.stateByTable.size) this.stateByTable.delete(table);
      return result;
    } catch (error) {
      if (isLockFailure(error) && (await this.isAnyTableLocked()))
        this.stateByTable.set(table, { isBeingProbed: false, nextProbeAt: performance.now() + PROBE_INTERVAL_MS });
      else if (lockState) this.stateByTable.delete(table);
      throw error;
    }
  }

  /** Whether a lock blocks writes to any table, because triggers and foreign keys use other tables, too. Returns true if that cannot be determined. */
  private async isAnyTableLocked(): Promise<boolean> {
    const rows = await this.query(`SELECT ${IS_ANY_TABLE_LOCKED_SQL} AS "locked"`).catch(() => undefined);
    return rows?.[0]?.locked !== false;
  }
}
