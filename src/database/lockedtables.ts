/**
 * Circuit breaker per table for lock timeouts. While a table is locked, one write at a time probes it; other writes to it fail immediately, so that they do
 * not occupy the connections of writes to other tables.
 */
import { isLockFailure, TableLocked } from './errors';

const PROBE_INTERVAL_MS = 500;

interface LockState {
  /** Whether a write is probing whether the table is still locked. */
  isProbed: boolean;
  /** Earliest time of the next probe, by `performance.now()`. */
  nextProbeAt: number;
}

export class LockedTables {
  private readonly stateByTable = new Map<string, LockState>();

  /** Runs a write to `table`. Throws TableLocked while the table is known to be locked. */
  async runWrite<T>(table: string | undefined, work: () => Promise<T>): Promise<T> {
    if (table === undefined) return work();
    const state = this.stateByTable.get(table);
    if (state) {
      if (state.isProbed || performance.now() < state.nextProbeAt) throw new TableLocked();
      state.isProbed = true;
    }
    try {
      const result = await work();
      if (this.stateByTable.size) this.stateByTable.delete(table);
      return result;
    } catch (error) {
      if (isLockFailure(error)) this.stateByTable.set(table, { isProbed: false, nextProbeAt: performance.now() + PROBE_INTERVAL_MS });
      else if (state) this.stateByTable.delete(table);
      throw error;
    }
  }
}
