/**
 * Decides which statements are prepared: those that recur. A PostgreSQL connection keeps the plans of its prepared statements, about fifty times as large as
 * their texts, so each connection keeps the most recently used ones (LRU) and closes the others.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { closePrepared, type StatementState } from '../internals/pg';

/** Executions before a statement is prepared, so that one-off filters do not fill the cache. */
const USES_BEFORE_NAMED = 2;
/** Characters. Longer statements come from filters that hardly recur. */
const MAX_TEXT = 16_000;
/** Bounds of the caches of statement texts: entries, and characters in total. */
const KNOWN = { max: 5_000, maxSize: 5_000_000 };
/** Prepared statements per connection, including the one that sets the session user. */
export const MAX_PREPARED_STATEMENTS = 200;
const MAX_KEPT_TEXT = 250_000;

interface ClientStatements {
  /** By name, most recently used last. */
  statements: Map<string, StatementState>;
  /** Total length of the texts. */
  total: number;
}

export class PreparedStatements {
  private readonly uses = new LRUCache<string, number>({ ...KNOWN, sizeCalculation: (_uses, text) => text.length });
  private readonly names = new LRUCache<string, string>({ ...KNOWN, sizeCalculation: (_name, text) => text.length });
  private readonly kept = new WeakMap<ClientBase, ClientStatements>();

  get named(): number {
    return this.names.size;
  }

  /** Name for a recurring statement: a hash of its text, so that all connections and processes use the same. */
  nameOf(text: string): string | undefined {
    const known = this.names.get(text);
    if (known !== undefined || text.length > MAX_TEXT) return known;
    const uses = this.uses.get(text) ?? 0;
    if (uses < USES_BEFORE_NAMED) {
      this.uses.set(text, uses + 1);
      return undefined;
    }
    this.uses.delete(text);
    const name = `f${createHash('sha256').update(text).digest('base64url').slice(0, 24)}`;
    this.names.set(text, name);
    return name;
  }

  /** Call this right before executing the named statement. Closes evicted statements in the same packet, without a round trip. */
  known(client: ClientBase, name: string, text: string): StatementState {
    let kept = this.kept.get(client);
    if (!kept) this.kept.set(client, (kept = { statements: new Map(), total: 0 }));
    const { statements } = kept;
    let known = statements.get(name);
    if (known) statements.delete(name);
    else {
      known = { length: text.length };
      kept.total += known.length;
    }
    statements.set(name, known);
    if (statements.size >= MAX_PREPARED_STATEMENTS || kept.total > MAX_KEPT_TEXT) this.letGo(client, kept);
    return known;
  }

  private letGo(client: ClientBase, kept: ClientStatements): void {
    for (const [oldest, { length }] of kept.statements) {
      if (kept.statements.size < MAX_PREPARED_STATEMENTS && kept.total <= MAX_KEPT_TEXT) return;
      if (!closePrepared(client, oldest)) continue;
      kept.statements.delete(oldest);
      kept.total -= length;
    }
  }
}
