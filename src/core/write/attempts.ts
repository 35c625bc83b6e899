/** A write that PostgreSQL refused is tried again: then it fits, because another write was in its way, or the checks before it say what is wrong. */
import { conflict } from '../model/errors';

const ATTEMPTS = 3;

/** PostgreSQL's codes: a row that is not there, doubles, a flag that one row has, a deadlock, a serialization failure. */
const PASSING = ['23503', '23505', '23P01', '40P01', '40001'];

/** `first` tells the first attempt, which may leave to PostgreSQL's keys what later ones look up. */
export async function attempted<T>(work: (first: boolean) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work(attempt === 1);
    } catch (error) {
      const code = (error as { original?: { code?: string } }).original?.code;
      if (!code || !PASSING.includes(code)) throw error;
      if (attempt === ATTEMPTS) throw conflict();
    }
}
