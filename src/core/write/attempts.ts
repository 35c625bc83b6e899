/** A write that PostgreSQL refused is tried again: then it fits, because another write was in its way, or the checks before it say what is wrong. */
import type { Context } from '../context';
import { conflict } from '../model/errors';

const ATTEMPTS = 3;

/** PostgreSQL's codes: a row that is not there, doubles, a flag that one row has. */
const OVERTAKEN = ['23503', '23505', '23P01'];
/** A deadlock, a serialization failure. */
const ENTANGLED = ['40P01', '40001'];

/**
 * `first` tells the first attempt, which may leave to PostgreSQL's keys what later ones look up. Part of an atomic operation holds the locks of the parts
 * before it, so that trying again would end in the same deadlock.
 */
export async function attempted<T>({ atomic }: Context, work: (first: boolean) => Promise<T>): Promise<T> {
  const entangled = atomic ? 1 : ATTEMPTS;
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work(attempt === 1);
    } catch (error) {
      const code = (error as { original?: { code?: string } }).original?.code;
      if (!code || ![...OVERTAKEN, ...ENTANGLED].includes(code)) throw error;
      if (attempt >= (ENTANGLED.includes(code) ? entangled : ATTEMPTS)) throw conflict();
    }
}
