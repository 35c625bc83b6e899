/** Writes dump rows to the tables in one transaction: ids kept or given anew, references checked, owners handed down. */
import type { PoolClient } from 'pg';
import { OWNER } from '../core/model/registry';
import { acceptsNull, fieldsOf, type Entity, type FieldMeta } from '../core/model/fields';
import { resourceOf } from '../core/model/registry';
import type { TokenVault } from '../auth/tokens';
import type { Database } from '../database/connection';
import type { Row } from '../database/rows';
import type { Kind } from '../contract/facts';
import { putBack, setAsideAlone } from './keysaside';
import { CopyIn, linesOf } from './copy';
import { at, byModel, fail, inMemory, inOrder, TOKENS, USERS, type DumpRow, type DumpRows } from './dump';
import { References } from './references';
import { inTermsOf, type RowName } from './refusals';
import { keepNewestFlags, moveSequence } from './settled';
import { insertTokens } from './tokens';

export interface WriteOptions {
  vault: TokenVault;
  /** Empties the tables of every model first. */
  replace?: boolean;
  /** Ids of the rows are local to them: new ones are given, references among the rows follow. */
  renumber?: boolean;
  progress?: (done: number, total: number) => void;
  /** Runs in the transaction, after the rows are written. */
  before?: (client: PoolClient) => Promise<void>;
}

const CHUNK_ROWS = 1_000;

/** Rows of one COPY: each has its price, and its keys are looked at in its end. */
const MAX_COPIED = 10_000;

/** Users' fields that the dumps have and this service has no use for. */
const EMPTY_LISTS = ['groups', 'user_permissions'];

/** PostgreSQL itself would also take `today`, `infinity` and `NaN`. */
const FORMS: Partial<Record<Kind, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d/,
  datetime: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  decimal: /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i,
};

/** All or nothing. Answers how many rows of each model were written. */
export async function writeRows(
  rows: readonly DumpRow[] | DumpRows,
  database: Database,
  options: WriteOptions,
): Promise<Map<string, number>> {
  return database.unlimited(async (client) => {
    try {
      await client.query('BEGIN');
      const counts = await new Writer('of' in rows ? rows : inMemory(rows), client, options).written();
      await options.before?.(client);
      await client.query('COMMIT');
      return counts;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  });
}

async function* chunks(rows: Iterable<DumpRow> | AsyncIterable<DumpRow>): AsyncGenerator<DumpRow[]> {
  let chunk: DumpRow[] = [];
  for await (const row of rows) {
    chunk.push(row);
    if (chunk.length < CHUNK_ROWS) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length) yield chunk;
}

/** What comes next is read while PostgreSQL has what was given: both are busy then, and the rows of two chunks are in memory. */
async function* ahead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = items.next();
      // It is waited for in its turn, unless what was given fails first.
      next.catch(() => undefined);
      yield value as T;
    }
  } finally {
    await items.return(undefined);
  }
}

class Writer {
  private readonly models = byModel();
  private readonly references = new References((text, values) => this.ask(text, values));
  /** The rows that PostgreSQL is at, of which it may still refuse some. */
  private copied?: { copy: CopyIn; table: string; columns: readonly string[]; rows: RowName[] };

  constructor(
    private readonly rows: DumpRows,
    private readonly client: PoolClient,
    private readonly options: WriteOptions,
  ) {}

  async written(): Promise<Map<string, number>> {
    try {
      return await this.write();
    } finally {
      await this.copied?.copy.abandon();
    }
  }

  private async write(): Promise<Map<string, number>> {
    const { replace, progress } = this.options;
    const order = inOrder(this.models);
    if (replace) await this.empty(order);
    const total = [...this.rows.counts.values()].reduce((sum, count) => sum + count, 0);
    const counts = new Map<string, number>();
    let done = 0;
    for (const entity of order) {
      const model = resourceOf(entity)!.dump;
      const count = (model && this.rows.counts.get(model)) || 0;
      if (!count) continue;
      const aside = await setAsideAlone(this.client, resourceOf(entity)!.table, count);
      let first: RowName | undefined;
      for await (const chunk of ahead(chunks(this.rows.of(model!)))) {
        first ??= chunk[0]!;
        if (this.options.renumber) await this.references.renumber(entity, chunk);
        await this.insert(entity, chunk);
        progress?.((done += chunk.length), total);
      }
      await this.settle();
      await inTermsOf([first!], () => putBack(this.client, aside));
      await keepNewestFlags(entity, this.client);
      await moveSequence(entity, this.client);
      counts.set(model!, count);
    }
    const tokens = this.rows.counts.get(TOKENS);
    if (tokens) {
      for await (const chunk of chunks(this.rows.of(TOKENS))) {
        await insertTokens(chunk, this.client, this.options.vault);
        progress?.((done += chunk.length), total);
      }
      counts.set(TOKENS, tokens);
    }
    return counts;
  }

  /** Empties what the rows will fill. Rows of other models that hang below it would go too, so there must be none. */
  private async empty(order: readonly Entity[]): Promise<void> {
    const filled = order.filter((entity) => this.rows.counts.has(resourceOf(entity)!.dump ?? ''));
    for (const entity of order) {
      if (filled.includes(entity)) continue;
      const parent = fieldsOf(entity).find((field) => field.stored && field.target && filled.includes(field.target()));
      const { rows } = parent ? await this.client.query(`SELECT 1 FROM "${resourceOf(entity)!.table}" LIMIT 1`) : { rows: [] };
      if (rows.length) fail(`--replace would also delete rows of ${resourceOf(entity)!.dump ?? entity.name}, of which the file has none.`);
    }
    if (filled.length)
      await this.client.query(`TRUNCATE ${filled.map((entity) => `"${resourceOf(entity)!.table}"`).join(', ')} RESTART IDENTITY CASCADE`);
  }

  private async insert(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const { table, owned, dump } = resourceOf(entity)!;
    const fields = fieldsOf(entity).filter((field) => field.stored && !field.automatic);
    const links = fieldsOf(entity).filter((field) => field.link && !field.link.via);
    const known = new Set([...fields, ...links].map((field) => field.rest));
    const isUser = dump === USERS;
    await this.references.lookUp(
      rows,
      [...fields, ...links].filter((field) => field.target),
    );
    const owners = new Map<number, number>();
    const records: Record<string, unknown>[] = [];
    for (const row of rows) {
      for (const key of Object.keys(row.fields))
        if (!known.has(key) && !(isUser && (key === 'password' || EMPTY_LISTS.includes(key))))
          fail(`${at(row)}: unknown field ${JSON.stringify(key)}.`);
      const record: Record<string, unknown> = {};
      const parents: { field: FieldMeta; owner?: number }[] = [];
      for (const field of fields) {
        if (field.name === 'id') record.id = this.references.idOf(entity, row.pk);
        else if (field.target) {
          if (field.name === OWNER.field && !(field.rest in row.fields)) continue;
          const id = this.references.idIn(row, field, row.fields[field.rest]);
          record[field.column!] = id;
          if (id !== null && resourceOf(field.target())!.owned && field.name !== OWNER.field)
            parents.push({ field, owner: this.references.ownerOf(field.target(), id) });
        } else record[field.column!] = this.value(row, field);
      }
      if (isUser) record.password = row.fields.password ?? fail(`${at(row)}: password is missing.`);
      else if (owned) owners.set(record.id as number, (record[OWNER.column] ??= this.ownerOf(row, parents)) as number);
      for (const { field, owner } of parents)
        if (owner !== record[OWNER.column]) fail(`${at(row)}: ${field.rest} refers to what is another user's.`);
      records.push(record);
    }
    await this.copy(table, records, rows);
    for (const field of links) {
      const linked = this.linked(entity, field, rows, owners);
      await this.copy(
        field.link!.table,
        linked.map(({ values }) => values),
        linked.map(({ row }) => row),
      );
    }
  }

  /** Whose a row is that does not say so: of what it hangs below. */
  private ownerOf(row: DumpRow, [first]: readonly { owner?: number }[]): number {
    return first?.owner ?? fail(`${at(row)}: its owner is not known.`);
  }

  /** `rows`: what the records are made of. */
  private async copy(table: string, records: readonly Record<string, unknown>[], rows: readonly DumpRow[]): Promise<void> {
    if (!records.length) return;
    if (this.copied && (this.copied.table !== table || this.copied.rows.length >= MAX_COPIED)) await this.settle();
    // All records of a table have the same fields.
    const columns = this.copied?.columns ?? Object.keys(records[0]!);
    const copied = (this.copied ??= { copy: new CopyIn(this.client, table, columns), table, columns, rows: [] });
    for (const { model, pk } of rows) copied.rows.push({ model, pk });
    await inTermsOf(copied.rows, () => copied.copy.write(linesOf(records, columns)));
  }

  private async ask(text: string, values: unknown[]): Promise<Row[]> {
    await this.settle();
    return (await this.client.query(text, values)).rows;
  }

  /** Waits for what was copied: before the connection is asked for anything else. */
  private async settle(): Promise<void> {
    const copied = this.copied;
    if (!copied) return;
    await inTermsOf(copied.rows, () => copied.copy.end());
    this.copied = undefined;
  }

  private value(row: DumpRow, field: FieldMeta): unknown {
    const value = row.fields[field.rest];
    if (value === undefined || value === null) {
      if (acceptsNull(field)) return null;
      if (value === undefined && field.hasDefault && typeof field.default !== 'function') return field.default;
      if (value === undefined && field.blank) return '';
      return fail(`${at(row)}: ${field.rest} is missing.`);
    }
    if (FORMS[field.kind]?.test(String(value)) === false) fail(`${at(row)}: ${field.rest} is no ${field.kind}: ${JSON.stringify(value)}.`);
    return value;
  }

  private linked(
    entity: Entity,
    field: FieldMeta,
    rows: readonly DumpRow[],
    owners: ReadonlyMap<number, number>,
  ): { row: DumpRow; values: Record<string, unknown> }[] {
    const { own, other, fixed } = field.link!;
    return rows.flatMap((row) => {
      const ids = row.fields[field.rest] ?? [];
      if (!Array.isArray(ids)) return fail(`${at(row)}: ${field.rest} must be a list of ids.`);
      const ownId = this.references.idOf(entity, row.pk);
      return (ids as unknown[]).map((id) => ({
        row,
        values: {
          [own]: ownId,
          [other]: this.references.idIn(row, field, id),
          ...fixed,
          ...(owners.has(ownId) && { [OWNER.column]: owners.get(ownId) }),
        },
      }));
    });
  }
}
