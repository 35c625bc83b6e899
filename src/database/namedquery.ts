/**
 * A statement that a connection may know already. The queries of pg ask for the columns each time and work their types out anew; here a connection
 * is asked once, when it is given the statement, which saves both sides a tenth of the work on a small one.
 */
import type { ClientBase, Submittable } from 'pg';
import { prepareValue } from 'pg/lib/utils';
import type { Row } from './rows';
import type { Wire } from './pginternals';

interface Columns {
  names: string[];
  parsers: ((text: string) => unknown)[];
  empty: Row;
}

/** What a connection keeps of a statement. */
export interface Known {
  /** Of its text. */
  readonly length: number;
  /** Once it has been told; none: it answers no rows. */
  columns?: Columns;
}

/** What goes before a statement in its packet, and so in its transaction; its answer means nothing to anybody. */
export interface Before {
  readonly text: string;
  readonly values: readonly string[];
}

/** The name of all that goes before statements: on one connection it is the same. */
const BEFORE = 'fitgraph_before';

interface Description {
  fields: { name: string; dataTypeID: number }[];
}

export class NamedQuery implements Submittable {
  private readonly rows: Row[] = [];
  private readonly values: unknown[];
  private failure?: Error;
  /** Whether the answer is still that of what went before. */
  private early: boolean;
  private wire?: Wire;

  /** Throws where a value cannot be sent. The names of the fields that pg reads are its own; an empty one is that of a statement which is not kept. */
  constructor(
    readonly name: string,
    readonly text: string,
    values: readonly unknown[],
    private readonly known: Known,
    private readonly client: Pick<ClientBase, 'getTypeParser'>,
    public callback: (error: Error | null, rows: Row[]) => void,
    private readonly before?: Before,
    /** Told the bytes of each row; whether it is still wanted. */
    private readonly wanted?: (bytes: number) => boolean,
  ) {
    this.values = values.map(prepareValue);
    this.early = before !== undefined;
  }

  submit(connection: unknown): void {
    const wire = connection as Wire;
    const { name, text } = this;
    wire.stream.cork();
    if (this.before) this.goBefore(wire, this.before);
    if (!(name in wire.parsedStatements) && !(name in wire.submittedNamedStatements)) {
      // It may be there in spite of all, see `goBefore`; closing what is not there is no mistake.
      if (name) wire.close({ type: 'S', name });
      wire.parse({ name, text });
      if (name) wire.submittedNamedStatements[name] = text;
    }
    wire.bind({ statement: name, values: this.values });
    if (!this.known.columns) wire.describe({ type: 'P' });
    wire.execute();
    wire.sync();
    wire.stream.uncork();
  }

  /** pg takes the first statement that is understood for this one, so what it knows is put right when this one has failed. */
  private goBefore(wire: Wire, { text, values }: Before): void {
    this.wire = wire;
    if (!(BEFORE in wire.parsedStatements)) {
      wire.close({ type: 'S', name: BEFORE });
      wire.parse({ name: BEFORE, text });
    }
    wire.bind({ statement: BEFORE, values: [...values] });
    wire.execute();
  }

  handleRowDescription({ fields }: Description): void {
    const names = fields.map((field) => field.name);
    this.known.columns = {
      names,
      parsers: fields.map(({ dataTypeID }) => this.client.getTypeParser(dataTypeID, 'text')),
      empty: Object.fromEntries(names.map((column) => [column, null])),
    };
  }

  handleDataRow({ fields, length }: { fields: (string | null)[]; length: number }): void {
    if (this.failure || this.early || this.wanted?.(length) === false) return;
    const { names, parsers, empty } = this.known.columns!;
    // All its rows have one shape.
    const row = { ...empty };
    try {
      for (let index = 0; index < fields.length; index += 1) {
        const text = fields[index];
        row[names[index]!] = text === null ? null : parsers[index]!(text!);
      }
    } catch (error) {
      this.failure = error as Error;
    }
    this.rows.push(row);
  }

  /** That it has ended is told once the connection is ready for the next. */
  handleCommandComplete(): void {
    if (!this.early) return;
    this.early = false;
    this.wire!.parsedStatements[BEFORE] = this.before!.text;
  }

  handleEmptyQuery(): void {
    // The same.
  }

  handleError(error: Error): void {
    if (this.wire) delete this.wire.parsedStatements[this.name];
    this.callback(error, []);
  }

  handleReadyForQuery(): void {
    this.callback(this.failure ?? null, this.rows);
  }
}
