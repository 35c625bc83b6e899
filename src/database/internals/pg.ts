/**
 * Access to private members of pg's clients and connections.
 *
 * - `socketOf`: pg documents no way to access the socket, whose address a CancelRequest needs.
 * - `backendKeyOf`: pg documents no way to access the process id and the secret key, of which a
 *   CancelRequest consists. Without it, the statement of a client that has disconnected would run
 *   to its end. The process id that was announced at the start of the connection also reveals a
 *   pooler.
 * - `NamedQuery` and `closePreparedStatement`: pg sends a Sync message after each query. A
 *   `NamedQuery` sends the statement that sets the session user for row-level security before the
 *   query, in the same packet and before the same Sync, so that PostgreSQL skips the query if
 *   setting the user fails. In pg's pipeline mode, the query would still run, as the previous
 *   session user, and both together would take 152 µs (CPU of Node: 32 µs) instead of 125 µs (24
 *   µs). Two round trips take 178 µs (35 µs; November 2026, medians over a Unix socket). pg's own
 *   queries also request the description of the result columns and resolve their types at each
 *   execution. A `NamedQuery` does so once per connection and statement, which saves a tenth of the
 *   CPU time of a short statement in both Node and PostgreSQL.
 * - `closeWhenUnanswered`: pg's `query_timeout` starts and clears a timer at each query, which keeps
 *   the objects of a request alive over a garbage collection: collections of young objects moved
 *   1.2 MB instead of 0.03 MB, and lists took 6 % longer. The socket's own timeout is one timer per
 *   connection, but only pg knows whether a query is running.
 * - `prepareValue`: pg's serialization of parameters, which its type declarations lack.
 *
 * Checked with pg 8.23.1.
 */
import type { Socket } from 'node:net';
import { utils, type ClientBase, type Submittable } from 'pg';

declare module 'pg' {
  /** Declares a function that is missing in pg's own types. */
  const utils: {
    /** Serializes a parameter as pg sends it to PostgreSQL. */
    prepareValue(this: void, value: unknown): string | Buffer | null;
  };
}

/** pg's class for PostgreSQL's wire protocol (`Connection`). */
interface WireConnection {
  stream: Socket;

  /**
   * Statement text, by name, of prepared statements that PostgreSQL has confirmed (ParseComplete).
   */
  parsedStatements: Record<string, string>;

  /** Statement text, by name, of prepared statements whose confirmation is pending. */
  submittedNamedStatements: Record<string, string>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: unknown[] }): void;
  describe(message: { type: 'P' }): void;
  execute(): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

const wireConnectionOf = (client: ClientBase): WireConnection =>
  (client as unknown as { connection: WireConnection }).connection;

/** The socket of a connection: a TLS socket if the connection is encrypted. */
export const socketOf = (client: ClientBase): Socket => wireConnectionOf(client).stream;

/**
 * Closes the connection after `timeoutMs` without a byte from or to PostgreSQL while a query is
 * running. The query fails with ETIMEDOUT.
 */
export function closeWhenUnanswered(client: ClientBase, timeoutMs: number): void {
  const socket = socketOf(client);

  socket.setTimeout(timeoutMs);
  socket.on('timeout', () => {
    if ((client as unknown as { readyForQuery: boolean }).readyForQuery) return;
    socket.destroy(
      Object.assign(new Error('PostgreSQL has not answered a query'), { code: 'ETIMEDOUT' }),
    );
  });
}

export interface BackendKey {
  /**
   * Process id reported at the start of the connection. Behind a pooler it is not the id of the
   * actual backend.
   */
  processID: number | null;
  secretKey: number | null;
}

export const backendKeyOf = (client: ClientBase): BackendKey => client as unknown as BackendKey;

/**
 * Closes a prepared statement without a round trip. Returns false while its preparation is
 * unconfirmed: pg would later record it as prepared.
 */
export function closePreparedStatement(client: ClientBase, name: string): boolean {
  const wireConnection = wireConnectionOf(client);

  if (name in wireConnection.submittedNamedStatements) return false;
  wireConnection.close({ type: 'S', name });
  delete wireConnection.parsedStatements[name];
  return true;
}

type Row = Record<string, unknown>;

interface ResultColumns {
  columnNames: string[];
  valueParsers: ((text: string) => unknown)[];

  /** Template of result rows, with null in all columns. */
  allNullRow: Row;
}

/** State of a prepared statement on one connection. */
export interface PreparedStatementState {
  readonly sqlTextLength: number;

  /** Columns of the result, known after the first execution. */
  columns?: ResultColumns;
}

/**
 * A statement that is sent before a query, in the same packet and so in the same transaction. Its
 * result is ignored.
 */
export interface PrecedingStatement {
  readonly text: string;
  readonly values: readonly string[];
}

/**
 * Name under which the preceding statement is prepared. Its text is the same for all queries of a
 * connection.
 */
const PRECEDING_STATEMENT_NAME = 'fitgraph_before';

interface RowDescription {
  fields: { name: string; dataTypeID: number }[];
}

/** A query that may use a prepared statement and be preceded by another statement. */
export class NamedQuery implements Submittable {
  private readonly rows: Row[] = [];
  private readonly values: unknown[];
  private queryError?: Error;

  /** Whether messages from PostgreSQL still belong to the preceding statement. */
  private isPrecedingStatementPending: boolean;
  private wireConnection?: WireConnection;

  /**
   * A query in the form that pg expects: it reads `name`, `text` and `callback`. With an empty
   * name, the statement is not prepared.
   */
  constructor(
    readonly name: string,
    readonly text: string,
    values: readonly unknown[],
    private readonly state: PreparedStatementState,
    private readonly client: Pick<ClientBase, 'getTypeParser'>,
    public callback: (error: Error | null, rows: Row[]) => void,
    private readonly precedingStatement?: PrecedingStatement,

    /**
     * Called with the size of each row. An error that it throws becomes the error of the query, and
     * further rows are discarded.
     */
    private readonly countBytes?: (bytes: number) => void,
  ) {
    this.values = values.map(utils.prepareValue);
    this.isPrecedingStatementPending = precedingStatement !== undefined;
  }

  submit(connection: unknown): void {
    const wireConnection = connection as WireConnection;
    const { name, text } = this;

    wireConnection.stream.cork();

    if (this.precedingStatement) {
      this.sendPrecedingStatement(wireConnection, this.precedingStatement);
    }

    if (
      !(name in wireConnection.parsedStatements) &&
      !(name in wireConnection.submittedNamedStatements)
    ) {
      // Closes the prepared statement first, because PostgreSQL may have one that pg does not know
      // (see `sendPrecedingStatement`). If it has none, Close is no error.
      if (name) wireConnection.close({ type: 'S', name });
      wireConnection.parse({ name, text });
      if (name) wireConnection.submittedNamedStatements[name] = text;
    }

    wireConnection.bind({ statement: name, values: this.values });
    if (!this.state.columns) wireConnection.describe({ type: 'P' });
    wireConnection.execute();
    wireConnection.sync();
    wireConnection.stream.uncork();
  }

  /**
   * Sends the preceding statement. pg mistakes the confirmation of its preparation (ParseComplete)
   * for that of the query, and so records the query as prepared too early. If either statement
   * fails, `handleError` deletes that record.
   */
  private sendPrecedingStatement(
    wireConnection: WireConnection,
    { text, values }: PrecedingStatement,
  ): void {
    this.wireConnection = wireConnection;

    if (!(PRECEDING_STATEMENT_NAME in wireConnection.parsedStatements)) {
      wireConnection.close({ type: 'S', name: PRECEDING_STATEMENT_NAME });
      wireConnection.parse({ name: PRECEDING_STATEMENT_NAME, text });
    }

    wireConnection.bind({ statement: PRECEDING_STATEMENT_NAME, values: [...values] });
    wireConnection.execute();
  }

  handleRowDescription({ fields }: RowDescription): void {
    const names = fields.map((field) => field.name);

    this.state.columns = {
      columnNames: names,
      valueParsers: fields.map(({ dataTypeID }) => this.client.getTypeParser(dataTypeID, 'text')),
      allNullRow: Object.fromEntries(names.map((column) => [column, null])),
    };
  }

  handleDataRow({ fields, length }: { fields: (string | null)[]; length: number }): void {
    if (this.queryError || this.isPrecedingStatementPending) return;
    const { columnNames, valueParsers, allNullRow } = this.state.columns!;
    // Copies one object, so that all rows share a hidden class in V8.
    const row = { ...allNullRow };

    try {
      this.countBytes?.(length);

      for (let index = 0; index < fields.length; index += 1) {
        const text = fields[index];

        row[columnNames[index]!] = text === null ? null : valueParsers[index]!(text!);
      }
    } catch (error) {
      this.queryError = error as Error;
    }

    this.rows.push(row);
  }

  /**
   * Notices the end of the preceding statement. ReadyForQuery reports the end of the query itself.
   */
  handleCommandComplete(): void {
    if (!this.isPrecedingStatementPending) return;
    this.isPrecedingStatementPending = false;
    this.wireConnection!.parsedStatements[PRECEDING_STATEMENT_NAME] = this.precedingStatement!.text;
  }

  handleEmptyQuery(): void {
    // Nothing to do: ReadyForQuery reports the end of the query.
  }

  handleError(error: Error, connection: unknown): void {
    // Prepares the statement again next time, because its preparation may have failed or its result
    // types may have changed (0A000).
    if (this.name) delete (connection as WireConnection).parsedStatements[this.name];
    delete this.state.columns;
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(this.queryError ?? null, this.rows);
  }
}
