/**
 * Which statements run as prepared ones: those that come again. Each connection of PostgreSQL keeps the plans of all that it was given, some fifty
 * times as large as their texts, so a connection keeps those it used last, and the others are closed.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import type { Known } from './namedquery';
import { wired } from './pginternals';

/** A statement that comes again this often gets a name; conditions that are asked for once must not use the names up. */
const USES_BEFORE_NAMED = 2;
/** Longer ones are made by conditions that hardly come again. */
const MAX_TEXT = 16_000;
/** Texts that are counted or have a name: how many, and of how many characters in all. */
const KNOWN = { max: 5_000, maxSize: 5_000_000 };
/** What a connection keeps, with the one that goes before others. */
export const MAX_KEPT = 200;
const MAX_KEPT_TEXT = 250_000;

interface ClientStatements {
  /** By their names, the one used last at the end. */
  statements: Map<string, Known>;
  /** Of the lengths of their texts. */
  total: number;
}

export class Prepared {
  private readonly uses = new LRUCache<string, number>({ ...KNOWN, sizeCalculation: (_uses, text) => text.length });
  private readonly names = new LRUCache<string, string>({ ...KNOWN, sizeCalculation: (_name, text) => text.length });
  private readonly kept = new WeakMap<ClientBase, ClientStatements>();

  get named(): number {
    return this.names.size;
  }

  /** The same text has the same name in every connection of every process. */
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

  /**
   * To be called right before a statement runs by its name. What has to go for it goes in the same packet, so that it takes no time of its own.
   * PostgreSQL reads it after everything that was sent before, and closing what is not there is no mistake.
   */
  known(client: ClientBase, name: string, text: string): Known {
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
    if (statements.size >= MAX_KEPT || kept.total > MAX_KEPT_TEXT) this.letGo(client, kept);
    return known;
  }

  private letGo(client: ClientBase, kept: ClientStatements): void {
    const { connection } = wired(client);
    for (const [oldest, { length }] of kept.statements) {
      if (kept.statements.size < MAX_KEPT && kept.total <= MAX_KEPT_TEXT) return;
      // Its answer would make pg believe that it is still there.
      if (oldest in connection.submittedNamedStatements) continue;
      kept.statements.delete(oldest);
      kept.total -= length;
      connection.close({ type: 'S', name: oldest });
      delete connection.parsedStatements[oldest];
    }
  }
}
