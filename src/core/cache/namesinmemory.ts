/**
 * The names of large public tables in memory, to be searched by a part of them: there 100,000 are read in a millisecond, in the database in
 * more than ten. With each search the database is asked whether they are still the names, so that nothing outdated is found.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../database/connection';
import type { Session } from '../../database/session';
import { published } from '../access/access';
import { MAX_STATE_AGE_MS, tableChanged } from '../changes/changes';
import { binder, whereOf } from '../access/conditions';
import { fieldOf, type Entity } from '../model/fields';
import type { Listener } from '../changes/listener';
import { expression, from } from '../sql/expressions';
import { resourceOf } from '../model/registry';
import { folded } from '../sql/texts';

const CHANNEL = 'fitgraph_names';
/** Those of a larger table are not kept. */
const MAX_NAMES = 500_000;
/** After each reading there is none for so many times as long as it took, or for so long if there were too many. */
const REST = 10;
const LONG_REST_MS = 3_600_000;
/** Neither a name nor a part of one can hold it. */
const BETWEEN = '\0';

export interface Named {
  id: number;
  name: string;
}

/** By name, then by id, as they were at a moment. */
interface Names {
  snapshot: string;
  /** By `performance.now()`. */
  readAt: number;
  ids: Int32Array;
  /** Of each its kind, such as a language. */
  kinds: Int32Array;
  names: string[];
  /** Each as it is compared, one behind the other. */
  text: string;
  /** Where in the text the next one begins. */
  ends: Int32Array;
}

export class NamesInMemory {
  private readonly tables = new Map<Entity, Table>();

  constructor(
    database: Database,
    entities: readonly Entity[],
    listener: Listener,
    private readonly log: Logger,
  ) {
    for (const entity of entities) if (resourceOf(entity)!.namesInMemory) this.tables.set(entity, new Table(database, entity, log));
    const tables = [...this.tables.values()];
    listener.on(CHANNEL, {
      notified: (name) => tables.find((table) => table.name === name)?.readSoon(),
      missed: () => tables.forEach((table) => table.readSoon()),
    });
  }

  /** What cannot be read, such as a damaged page, keeps nobody from starting: the database itself is searched then. */
  async start(): Promise<void> {
    for (const table of this.tables.values())
      await table.read().catch((error) => this.log.error({ err: error, table: table.name }, 'the names of a table could not be read'));
  }

  stop(): void {
    for (const table of this.tables.values()) table.stop();
  }

  get size(): number {
    return [...this.tables.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Rows of these kinds with the part in their name, whatever its case, by name, no more than `max` of them. Undefined where only the
   * database can tell: after a change, until the names have been read again, and of very large tables.
   */
  find(entity: Entity, part: string, kinds: readonly number[], max: number, session: Session): Promise<Named[] | undefined> {
    return this.tables.get(entity)!.find(part, kinds, max, session);
  }
}

class Table {
  readonly name: string;
  private names?: Names;
  private reading: Promise<void> = Promise.resolve();
  /** The next reading, until it begins. */
  private next?: Promise<void>;
  private readonly stopped = new AbortController();
  /** By `performance.now()`; not to be read again before that. */
  private restsUntil = 0;

  constructor(
    private readonly database: Database,
    private readonly entity: Entity,
    private readonly log: Logger,
  ) {
    this.name = resourceOf(entity)!.table;
  }

  get size(): number {
    return this.names?.names.length ?? 0;
  }

  async find(part: string, kinds: readonly number[], max: number, session: Session): Promise<Named[] | undefined> {
    const { names } = this;
    if (names && performance.now() - names.readAt < MAX_STATE_AGE_MS) {
      const [now] = await session.query(`SELECT search_fold($1) AS "part", ${tableChanged('$2', '$3')} AS "changed"`, [
        part,
        [this.name],
        names.snapshot,
      ]);
      if (!now!.changed) return found(names, now!.part, new Set(kinds), max);
    }
    this.readSoon();
    return undefined;
  }

  /** One reading after the other, each after a rest; whoever asks before one begins shares it. */
  readSoon(): void {
    const { signal } = this.stopped;
    this.next ??= this.reading = this.reading
      .then(() => sleep(Math.max(0, this.restsUntil - performance.now()), undefined, { ref: false, signal }))
      .then(() => {
        this.next = undefined;
        return this.read();
      })
      .catch((error) => {
        if (!signal.aborted) this.log.error({ err: error }, 'the names of a table could not be read');
      });
  }

  stop(): void {
    this.stopped.abort();
  }

  async read(): Promise<void> {
    const began = performance.now();
    try {
      this.names = await this.database.unlimited(async (client) => {
        const { name, kind } = resourceOf(this.entity)!.namesInMemory!;
        const called = fieldOf(this.entity, name);
        const shown = [expression(fieldOf(this.entity, kind), 't'), expression(called, 't'), folded(called, 't')];
        const { bind, values } = binder();
        // What changes after this and is read nevertheless counts as changed, and is read once more.
        const { rows: snapshots } = await client.query('SELECT pg_current_snapshot()::text AS "snapshot"');
        const { rows } = await client.query({
          text: `SELECT t."id", ${shown.join(', ')} ${from(this.entity)}${whereOf(published(this.entity), 't', bind)}
            ORDER BY ${expression(called, 't')}, t."id" LIMIT ${MAX_NAMES + 1}`,
          values,
          rowMode: 'array',
        });
        // A row without a name is a damaged one.
        const named = (rows as (NameRow | null[])[]).filter((row): row is NameRow => row.every((value) => value !== null));
        return rows.length > MAX_NAMES ? undefined : namesOf(snapshots[0].snapshot, named);
      });
    } finally {
      const ended = performance.now();
      this.restsUntil = ended + (this.names ? REST * (ended - began) : LONG_REST_MS);
    }
  }
}

type NameRow = [id: number, kind: number, name: string, folded: string];

function namesOf(snapshot: string, rows: readonly NameRow[]): Names {
  const [ids, kinds, ends] = [new Int32Array(rows.length), new Int32Array(rows.length), new Int32Array(rows.length)];
  const names: string[] = [];
  const texts: string[] = [];
  let end = 0;
  rows.forEach(([id, kind, name, text], row) => {
    ids[row] = id;
    kinds[row] = kind;
    names.push(name);
    texts.push(text);
    ends[row] = end += text.length + BETWEEN.length;
  });
  return { snapshot, readAt: performance.now(), ids, kinds, names, text: texts.join(BETWEEN), ends };
}

function found({ ids, kinds, names, text, ends }: Names, part: string, wanted: ReadonlySet<number>, max: number): Named[] {
  const hits: Named[] = [];
  let row = 0;
  for (let at = text.indexOf(part); at >= 0 && hits.length < max; at = text.indexOf(part, ends[row])) {
    while (at >= ends[row]!) row += 1;
    if (wanted.has(kinds[row]!)) hits.push({ id: ids[row]!, name: names[row]! });
  }
  return hits;
}
