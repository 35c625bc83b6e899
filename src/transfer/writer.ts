/** Writes dump rows to the tables in one transaction: ids kept or given anew, references checked, owners handed down. */
import type { PoolClient } from 'pg';
import { OWNER } from '../core/access';
import { fieldOf, fieldsOf, type Entity, type FieldMeta } from '../core/fields';
import { resourceOf } from '../core/resource';
import { digestOf, type TokenVault } from '../auth/tokens';
import type { Database } from '../database/connection';
import type { Kind } from '../extensions';
import { at, byModel, fail, inOrder, TOKENS, type DumpRow } from './dump';

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

const CHUNK = 500;

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
export async function writeRows(rows: readonly DumpRow[], database: Database, options: WriteOptions): Promise<Map<string, number>> {
  return database.unlimited(async (client) => {
    try {
      await client.query('BEGIN');
      const counts = await new Writer(rows, client, options).write();
      await options.before?.(client);
      await client.query('COMMIT');
      return counts;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  });
}

class Writer {
  private readonly models = byModel();
  private readonly rows = new Map<string, DumpRow[]>();
  /** Ids that exist, by table: those of the rows and, once asked for, those of the database. */
  private readonly ids = new Map<Entity, Set<number>>();
  private readonly renumbered = new Map<Entity, Map<number, number>>();
  private readonly owners = new Map<Entity, Map<number, number>>();

  constructor(
    rows: readonly DumpRow[],
    private readonly client: PoolClient,
    private readonly options: WriteOptions,
  ) {
    for (const row of rows) this.rows.set(row.model, [...(this.rows.get(row.model) ?? []).concat(row)]);
  }

  async write(): Promise<Map<string, number>> {
    const { replace, progress } = this.options;
    const order = inOrder(this.models);
    if (replace) await this.empty(order);
    const total = [...this.rows.values()].reduce((sum, rows) => sum + rows.length, 0);
    const counts = new Map<string, number>();
    let done = 0;
    for (const entity of order) {
      const model = resourceOf(entity)!.dump;
      const rows = (model && this.rows.get(model)) || [];
      if (!rows.length) continue;
      await this.number(entity, rows);
      for (let start = 0; start < rows.length; start += CHUNK) {
        await this.insert(entity, rows.slice(start, start + CHUNK));
        progress?.((done += Math.min(CHUNK, rows.length - start)), total);
      }
      await this.settle(entity);
      await this.moveSequence(entity);
      counts.set(model!, rows.length);
    }
    const tokens = this.rows.get(TOKENS) ?? [];
    for (const token of tokens) await this.insertToken(token);
    if (tokens.length) counts.set(TOKENS, tokens.length);
    return counts;
  }

  /** Empties what the rows will fill. Rows of other models that hang below it would go too, so there must be none. */
  private async empty(order: readonly Entity[]): Promise<void> {
    const filled = order.filter((entity) => this.rows.has(resourceOf(entity)!.dump ?? ''));
    for (const entity of order) {
      if (filled.includes(entity)) continue;
      const parent = fieldsOf(entity).find((field) => field.stored && field.target && filled.includes(field.target()));
      const { rows } = parent ? await this.client.query(`SELECT 1 FROM "${resourceOf(entity)!.table}" LIMIT 1`) : { rows: [] };
      if (rows.length) fail(`--replace would also delete rows of ${resourceOf(entity)!.dump ?? entity.name}, of which the file has none.`);
    }
    if (filled.length)
      await this.client.query(`TRUNCATE ${filled.map((entity) => `"${resourceOf(entity)!.table}"`).join(', ')} RESTART IDENTITY CASCADE`);
  }

  /** The ids that the rows get. */
  private async number(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const numbers = new Map<number, number>();
    if (this.options.renumber) {
      const table = resourceOf(entity)!.table;
      const { rows: next } = await this.client.query(
        `SELECT nextval(pg_get_serial_sequence('"${table}"', 'id'))::int AS id FROM generate_series(1, $1)`,
        [rows.length],
      );
      rows.forEach((row, index) => numbers.set(row.pk as number, next[index].id));
    } else for (const row of rows) numbers.set(row.pk as number, row.pk as number);
    this.renumbered.set(entity, numbers);
  }

  private async existing(entity: Entity): Promise<Set<number>> {
    if (!this.ids.has(entity)) {
      const { rows } = await this.client.query(`SELECT "id" FROM "${resourceOf(entity)!.table}"`);
      this.ids.set(entity, new Set(rows.map((row) => row.id)));
    }
    return this.ids.get(entity)!;
  }

  /** The id that a reference means, which must exist. */
  private async reference(row: DumpRow, field: FieldMeta, value: unknown): Promise<number | null> {
    if (value === null || value === undefined) return field.null ? null : fail(`${at(row)}: ${field.rest} is missing.`);
    const target = field.target!();
    const id = this.renumbered.get(target)?.get(value as number) ?? (value as number);
    const known = this.renumbered.get(target)?.has(value as number) || (await this.existing(target)).has(id);
    if (!known) fail(`${at(row)}: ${field.rest} refers to ${resourceOf(target)!.dump} ${JSON.stringify(value)}, which does not exist.`);
    return id;
  }

  private async insert(entity: Entity, rows: readonly DumpRow[]): Promise<void> {
    const { table, owned, dump } = resourceOf(entity)!;
    const fields = fieldsOf(entity).filter((field) => field.stored && !field.automatic);
    const links = fieldsOf(entity).filter((field) => field.link && !field.link.via);
    const known = new Set([...fields, ...links].map((field) => field.rest));
    const isUser = dump === 'auth.user';
    const numbers = this.renumbered.get(entity)!;
    const owners = new Map<number, number>(this.owners.get(entity) ?? []);
    const records: Record<string, unknown>[] = [];
    for (const row of rows) {
      for (const key of Object.keys(row.fields))
        if (!known.has(key) && !(isUser && (key === 'password' || EMPTY_LISTS.includes(key))))
          fail(`${at(row)}: unknown field ${JSON.stringify(key)}.`);
      const record: Record<string, unknown> = {};
      let owner: number | undefined;
      for (const field of fields) {
        if (field.name === 'id') record.id = numbers.get(row.pk as number);
        else if (field.target) {
          if (field.name === OWNER.field && !(field.rest in row.fields)) continue;
          const id = await this.reference(row, field, row.fields[field.rest]);
          record[field.column!] = id;
          if (id !== null && resourceOf(field.target())!.owned && field.name !== OWNER.field)
            owner ??= this.owners.get(field.target())?.get(id);
        } else record[field.column!] = this.value(row, field);
      }
      if (isUser) record.password = row.fields.password ?? fail(`${at(row)}: password is missing.`);
      else if (owned)
        owners.set(record.id as number, (record[OWNER.column] ??= owner ?? fail(`${at(row)}: its owner is not known.`)) as number);
      records.push(record);
    }
    if (owned && !isUser) this.owners.set(entity, owners);
    const columns = Object.keys(records[0]!).map((column) => `"${column}"`);
    await this.guarded(rows[0]!, () =>
      this.client.query(
        `INSERT INTO "${table}" (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::"${table}", $1)`,
        [JSON.stringify(records)],
      ),
    );
    for (const field of links) await this.insertLinks(entity, field, rows);
  }

  private value(row: DumpRow, field: FieldMeta): unknown {
    const value = row.fields[field.rest];
    if (value === undefined || value === null) {
      if (field.null) return null;
      if (value === undefined && field.hasDefault && typeof field.default !== 'function') return field.default;
      if (value === undefined && field.blank) return '';
      return fail(`${at(row)}: ${field.rest} is missing.`);
    }
    if (FORMS[field.kind]?.test(String(value)) === false) fail(`${at(row)}: ${field.rest} is no ${field.kind}: ${JSON.stringify(value)}.`);
    return value;
  }

  private async insertLinks(entity: Entity, field: FieldMeta, rows: readonly DumpRow[]): Promise<void> {
    const { table, own, other, fixed } = field.link!;
    const numbers = this.renumbered.get(entity)!;
    const records: Record<string, unknown>[] = [];
    for (const row of rows) {
      const ids = row.fields[field.rest] ?? [];
      if (!Array.isArray(ids)) fail(`${at(row)}: ${field.rest} must be a list of ids.`);
      for (const id of ids as unknown[]) {
        const ownId = numbers.get(row.pk as number)!;
        records.push({
          [own]: ownId,
          [other]: await this.reference(row, field, id),
          ...fixed,
          ...(this.owners.get(entity) && { [OWNER.column]: this.owners.get(entity)!.get(ownId) }),
        });
      }
    }
    if (!records.length) return;
    const columns = Object.keys(records[0]!).map((column) => `"${column}"`);
    await this.client.query(
      `INSERT INTO "${table}" (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM jsonb_populate_recordset(NULL::"${table}", $1)`,
      [JSON.stringify(records)],
    );
  }

  private async insertToken(row: DumpRow): Promise<void> {
    const user = row.fields.user;
    const token = String(row.pk);
    const { rows } = await this.client.query('SELECT 1 FROM "user_account" WHERE "id" = $1', [user]);
    if (!rows.length) fail(`${TOKENS} ${token.slice(0, 4)}…: user refers to auth.user ${JSON.stringify(user)}, which does not exist.`);
    await this.guarded({ ...row, pk: `${token.slice(0, 4)}…` }, () =>
      this.client.query(
        'INSERT INTO "token" ("user_id", "digest", "sealed", "created") VALUES ($1, $2, $3, COALESCE($4::timestamptz, now()))',
        [user, digestOf(token), this.options.vault.seal(token), row.fields.created ?? null],
      ),
    );
  }

  /** What the database refuses of the rows, said in their terms. */
  private async guarded<T>(row: DumpRow, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { code, detail, message } = error as { code?: string; detail?: string; message: string };
      if (!code || !/^2[23]/.test(code)) throw error;
      return fail(`${row.model} from ${JSON.stringify(row.pk)} on: ${detail ?? message}`);
    }
  }

  /** A dump may give several rows a flag that one may have; the newest keeps it. */
  private async settle(entity: Entity): Promise<void> {
    const { table, single } = resourceOf(entity)!;
    if (!single) return;
    const column = (name: string) => `"${fieldOf(entity, name).column}"`;
    const [flag, of] = [column(single.flag), column(single.of)];
    const among = Object.entries(single.among ?? {});
    const counts = (alias: string) =>
      [`${alias}.${flag}`, ...among.map(([name], index) => `${alias}."${name}" = $${index + 1}`)].join(' AND ');
    await this.client.query(
      `UPDATE "${table}" t SET ${flag} = false
       WHERE ${counts('t')} AND EXISTS (SELECT FROM "${table}" o WHERE o.${of} = t.${of} AND o."id" > t."id" AND ${counts('o')})`,
      among.map(([, value]) => value),
    );
  }

  private async moveSequence(entity: Entity): Promise<void> {
    const table = resourceOf(entity)!.table;
    await this.client.query(
      `SELECT setval(pg_get_serial_sequence('"${table}"', 'id'), GREATEST((SELECT max("id") FROM "${table}"), nextval(pg_get_serial_sequence('"${table}"', 'id')) - 1))`,
    );
  }
}
