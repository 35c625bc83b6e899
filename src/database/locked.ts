/**
 * Tables whose writes have waited for a lock in vain. One write tries now and then whether it is free again; the others are refused at once, so that they do
 * not take the places of those who write elsewhere.
 */
import { isLocked, Locked } from './refusals';

const TRY_EVERY_MS = 500;

interface State {
  trying: boolean;
  /** Not tried again before that, by `performance.now()`. */
  next: number;
}

export class LockedTables {
  private readonly states = new Map<string, State>();

  /** Throws Locked for a table that is known to be locked. */
  async writing<T>(table: string | undefined, work: () => Promise<T>): Promise<T> {
    if (table === undefined) return work();
    const state = this.states.get(table);
    if (state) {
      if (state.trying || performance.now() < state.next) throw new Locked();
      state.trying = true;
    }
    try {
      const result = await work();
      if (this.states.size) this.states.delete(table);
      return result;
    } catch (error) {
      if (isLocked(error)) this.states.set(table, { trying: false, next: performance.now() + TRY_EVERY_MS });
      else if (state) this.states.delete(table);
      throw error;
    }
  }
}
