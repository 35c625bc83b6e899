/**
 * Decides which statements are prepared: statements that recur. A PostgreSQL backend stores the
 * plan of each prepared statement, which is about fifty times as large as the text, so each
 * connection keeps only the most recently used statements prepared (LRU).
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { closePreparedStatement, type PreparedStatementState } from './internals/pg';

/**
 * Number of uses after which a statement is prepared, so that rare filters do not fill the cache.
 */
const USES_BEFORE_PREPARED = 2;

/**
 * Maximum length of a prepared statement in characters. Longer ones come from filters that rarely
 * recur.
 */
const MAX_STATEMENT_LENGTH = 16_000;

/** Limits of the caches of statement text: entries, and characters in total. */
const CACHE_LIMITS = { max: 5_000, maxSize: 5_000_000 };

/**
 * Maximum number of prepared statements per connection, including the one that sets the session
 * user.
 */
export const MAX_PREPARED_STATEMENTS = 200;

/** Maximum total length of the prepared statements of a connection, in characters. */
const MAX_TOTAL_STATEMENT_LENGTH = 250_000;

interface ClientStatements {
  /** Prepared statements by name, the most recently used one last. */
  statements: Map<string, PreparedStatementState>;

  /** Total length of the prepared statements, in characters. */
  totalLength: number;
}

export class PreparedStatements {
  private readonly useCounts = new LRUCache<string, number>({
    ...CACHE_LIMITS,
    sizeCalculation: (_uses, text) => text.length,
  });
  private readonly nameByText = new LRUCache<string, string>({
    ...CACHE_LIMITS,
    sizeCalculation: (_name, text) => text.length,
  });
  private readonly statementsByClient = new WeakMap<ClientBase, ClientStatements>();

  get nameCount(): number {
    return this.nameByText.size;
  }

  /**
   * Counts a use. Returns the statement's name (hash of its text), or undefined while it is too
   * rare, or too long, to prepare.
   */
  countUseAndGetName(statementText: string): string | undefined {
    const name = this.nameByText.get(statementText);

    if (name !== undefined || statementText.length > MAX_STATEMENT_LENGTH) return name;
    const useCount = this.useCounts.get(statementText) ?? 0;

    if (useCount < USES_BEFORE_PREPARED) {
      this.useCounts.set(statementText, useCount + 1);
      return undefined;
    }

    this.useCounts.delete(statementText);
    const newName = `f${createHash('sha256').update(statementText).digest('base64url').slice(0, 24)}`;

    this.nameByText.set(statementText, newName);
    return newName;
  }

  /**
   * Finds or creates the state of a prepared statement on a connection. Call this right before
   * executing it: evicted statements are closed in the same packet, without another round trip.
   */
  getOrCreateState(
    client: ClientBase,
    name: string,
    statementText: string,
  ): PreparedStatementState {
    let clientStatements = this.statementsByClient.get(client);

    if (!clientStatements) {
      this.statementsByClient.set(
        client,
        (clientStatements = { statements: new Map(), totalLength: 0 }),
      );
    }

    const { statements } = clientStatements;
    let state = statements.get(name);

    if (state) statements.delete(name);
    else {
      state = { sqlTextLength: statementText.length };
      clientStatements.totalLength += state.sqlTextLength;
    }

    statements.set(name, state);

    if (
      statements.size >= MAX_PREPARED_STATEMENTS ||
      clientStatements.totalLength > MAX_TOTAL_STATEMENT_LENGTH
    ) {
      this.evict(client, clientStatements);
    }

    return state;
  }

  private evict(client: ClientBase, clientStatements: ClientStatements): void {
    for (const [name, { sqlTextLength }] of clientStatements.statements) {
      if (
        clientStatements.statements.size < MAX_PREPARED_STATEMENTS &&
        clientStatements.totalLength <= MAX_TOTAL_STATEMENT_LENGTH
      ) {
        return;
      }

      if (!closePreparedStatement(client, name)) continue;
      clientStatements.statements.delete(name);
      clientStatements.totalLength -= sqlTextLength;
    }
  }
}
