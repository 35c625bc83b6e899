/**
 * What was worked out of a user's rows, kept until something that it may rest on has changed: a row of the user, a public table, a table in
 * memory. Whether that is so is asked of the database once for each request, in one statement, so that a read right after a write is
 * right, whichever instance wrote.
 */
import { LRUCache } from 'lru-cache';
import { MAX_STATE_AGE_MS, tableChanged } from '../changes/changes';
import type { Context } from '../context';

const MAX_OWNERS = 10_000;
const MAX_VALUES = 2_000;

/** What the database looked like at a moment from which on nothing has changed, as far as is known. */
interface State {
  /** Of `performance.now()`, not before that moment. */
  taken: number;
  snapshot: string;
  generation: number;
  number: number;
}

interface Values<K, T> {
  get(key: K): Promise<T> | undefined;
  set(key: K, value: Promise<T>): unknown;
  delete(key: K): unknown;
}

/** What several requests wait for is worked out by the first of them. Should that one fail, because its client has gone perhaps, the others do it themselves. */
function shared<K, T>(values: Values<K, T>, key: K, make: () => Promise<T> | T): Promise<T> {
  const known = values.get(key);
  if (known) return known.catch(make);
  const value = Promise.resolve(make());
  values.set(key, value);
  value.catch(() => values.delete(key));
  return value;
}

export class Memory {
  private readonly states = new LRUCache<number, State>({ max: MAX_OWNERS, ttl: MAX_STATE_AGE_MS });
  /** By the number of the state that they belong to; those of a state that is over are never asked for again. */
  private readonly values = new LRUCache<string, Promise<unknown>>({ max: MAX_VALUES });
  private numbers = 0;

  get size(): { states: number; values: number } {
    return { states: this.states.size, values: this.values.size };
  }

  /**
   * The value by this name of an owner, as it is now. It is kept only if nothing has changed since before the request began: then all that
   * the request has read already, and rests its value on, is as it was in that state.
   */
  async remember<T extends object>(name: string, ownerId: number, context: Context, make: () => Promise<T> | T): Promise<T> {
    // What may be kept was worked out from all rows of the owner; a token may not be for some of them.
    if (context.viewer?.scopes) return make();
    // Rows that are not committed are nobody else's.
    if (context.atomic) return make();
    const state = await context.loaders.get<State>(this, (ids) => this.statesOf(ids as number[], context)).load(ownerId);
    if (state.taken >= context.began) return make();
    return shared(this.values as LRUCache<string, Promise<T>>, `${state.number} ${context.api} ${name}`, make);
  }

  private async statesOf(ownerIds: readonly number[], { session, reference }: Context): Promise<State[]> {
    const known = ownerIds.map((id) => this.states.get(id));
    const { generation, snapshot: read, tables } = reference;
    const rows = await session.query(
      `SELECT pg_current_snapshot()::text AS "snapshot", k."snapshot" IS NOT NULL AND NOT EXISTS (
         SELECT FROM "change" c WHERE c."user_id" = k."id"
           AND c."transaction" >= pg_snapshot_xmin(k."snapshot") AND NOT pg_visible_in_snapshot(c."transaction", k."snapshot")
       ) AND NOT EXISTS (
         SELECT FROM "table_change" c
           WHERE c."transaction" >= pg_snapshot_xmin(k."snapshot") AND NOT pg_visible_in_snapshot(c."transaction", k."snapshot")
       ) AS "same", ${tableChanged('$4', '$3')} AS "unread"
       FROM unnest($1::int[], $2::pg_snapshot[]) WITH ORDINALITY AS k("id", "snapshot", "position") ORDER BY k."position"`,
      [ownerIds, known.map((state) => state?.snapshot ?? null), read, tables],
    );
    // The database tells of such a change, but may not have been heard yet.
    if (rows[0]!.unread) await reference.reload();
    return ownerIds.map((id, index) => {
      const { snapshot, same } = rows[index] as { snapshot: string; same: boolean };
      if (same && known[index]!.generation === generation) return known[index]!;
      const state = { taken: performance.now(), snapshot, generation, number: (this.numbers += 1) };
      this.states.set(id, state);
      return state;
    });
  }
}

/** A value whose parts are worked out when they are first asked for, and kept as long as it is. */
export abstract class Memoized {
  private readonly named = new Map<string, Promise<unknown>>();
  private readonly selected = new WeakMap<object, Promise<unknown>>();

  /** The part by this name, or for the nodes of a selection. */
  protected once<T>(part: string | object, make: () => Promise<T>): Promise<T> {
    return shared((typeof part === 'string' ? this.named : this.selected) as Map<unknown, Promise<T>>, part, make);
  }
}
