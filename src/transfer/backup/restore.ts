/**
 * Restores a backup: whole, or not at all. The file is read to its end before anything is touched. Its files wait in a hidden folder; its rows
 * come in one transaction, under a lock that lets nobody see half of them, in the form that the tables had, and are migrated from there. What
 * waits is published once the transaction is carried out, by this process or, should it die, by the next one that opens the database.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseError, type Client } from 'pg';
import { KnownError } from '../../core/model/errors';
import { fieldsOf } from '../../core/model/fields';
import { entities, resourceOf } from '../../core/model/registry';
import type { Database } from '../../database/connection';
import { quoteIdentifiers } from '../../database/identifiers';
import { LOCKS } from '../../database/locks';
import { applyWithin, lockMigrations, migrationNames } from '../../database/migrate';
import { rebuildWithin } from '../../database/rebuild';
import { discardKey, publishKey, stageKey } from '../../database/secretkey';
import { missingBefore02, squash } from '../../database/squashed';
import type { Media } from '../../files/media';
import { VERSION } from '../../platform/version';
import { linesIn, readArchive, verifyArchive, type Progress } from './archive';
import { broken, printable, toOneLine, type Header, type Summary, type TableShape } from './description';
import { putBack, setAside, type Aside } from '../keysaside';
import { CopyIn } from '../copy';
import { WaitingFiles } from './files';
import { LOGS, ownConnection, sequencesOf, tablesOf } from './tables';

/** Of writers that hold one of the tables and wait for another; they end, and it is tried again. */
const ATTEMPTS = 10;
const DEADLOCK = '40P01';

export interface Restore {
  file: string;
  /** As `inspect` answered it. */
  found: Found;
  database: Database;
  media: Media;
  /** Where the key of the backup is kept; absent where SECRET_KEY says it. */
  dataDir?: string;
  /** Whether what is there goes. */
  replace: boolean;
  progress?: Progress;
}

export interface Found {
  header: Header;
  summary: Summary;
  key: string;
}

/** Reads all of the file; throws where it is damaged, of a newer version, or older than Fitgraph 0.2. */
export async function inspect(file: string, progress?: Restore['progress']): Promise<Found> {
  let read = 0;
  const found = await verifyArchive(file, (passed) => progress?.('Reading, bytes', (read += passed)));
  const { header } = found;
  const program = toOneLine(header.program);
  if (missingBefore02(header.migrations) !== undefined)
    throw broken(
      file,
      `it was taken by Fitgraph ${program} and has a schema of before Fitgraph 0.2: restore it with Fitgraph 0.2, and take another one`,
    );
  const migrations = squash(header.migrations);
  const known = migrationNames();
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length)
    throw broken(
      file,
      `it was taken by Fitgraph ${program} (${toOneLine(unknown.at(-1)!)}), this is Fitgraph ${VERSION}, which knows the schema up to ${known.at(-1)}`,
    );
  // They are applied in this order where the schema is made anew.
  if (known.filter((name) => migrations.includes(name)).join() !== migrations.join()) throw broken(file, 'its migrations are out of order');
  return { ...found, header: { ...header, migrations } };
}

export async function restoreBackup(restore: Restore): Promise<void> {
  const { file, found, database, media, dataDir, replace } = restore;
  const id = randomUUID();
  const waiting = new WaitingFiles(media, id);
  const client = await ownConnection(database);
  try {
    const [lock] = (await client.query('SELECT pg_try_advisory_lock($1) AS "free"', [LOCKS.restore])).rows;
    if (!lock.free) throw new KnownError('CONFLICT', 'Another backup is being restored.');
    await lockMigrations(client);
    if (!replace) await demandEmpty(client);
    const rows = new RowsIn(client, restore, id);
    let files = 0;
    try {
      if (dataDir) stageKey(dataDir, id, found.key);
      await readArchive(file, {
        media: async (path, content) => {
          await waiting.add(path, content);
          restore.progress?.('Files', (files += 1), found.summary.files);
        },
        rows: (table, content) => rows.add(table, content),
      });
      await rows.end();
    } catch (error) {
      await rows.undo();
      await waiting.discard();
      if (dataDir) discardKey(dataDir, id);
      throw namingFile(file, error);
    }
    if (dataDir) publishKey(dataDir, id);
    await waiting.publish();
  } finally {
    await client.end();
  }
  await database.pool.query(`SELECT pg_notify('fitgraph_everything', ''), pg_notify('fitgraph_removed_file', '')`);
}

/** Values that PostgreSQL rejects are the archive's fault, and said in one line; other failures as they are. */
function namingFile(file: string, error: unknown): unknown {
  const { code, message, where = '' } = error as { code?: string; message: string; where?: string };
  return error instanceof DatabaseError && /^2[23]/.test(code ?? '') ? broken(file, toOneLine(`${message} (${where})`)) : error;
}

async function demandEmpty(client: Client): Promise<void> {
  for (const { name } of await tablesOf(client))
    if ((await client.query(`SELECT FROM ${quoteIdentifiers([name])} LIMIT 1`)).rowCount)
      throw new KnownError(
        'CONFLICT',
        `The database has data already (in ${name}): with --replace they go, and what the backup holds comes in their place.`,
      );
}

/** The rows of the backup on their way into the tables. */
class RowsIn {
  private begun = false;
  private copy?: CopyIn;
  private table = '';
  private done = 0;
  private readonly total: number;
  private aside: Aside = [];

  constructor(
    private readonly client: Client,
    private readonly restore: Restore,
    private readonly id: string,
  ) {
    this.total = Object.values(restore.found.summary.rows).reduce((sum, rows) => sum + rows, 0);
  }

  private get tables(): string[] {
    return this.restore.found.header.tables.map(({ name }) => name);
  }

  async add(table: string, content: AsyncIterable<Buffer>): Promise<void> {
    if (!this.begun) await this.begin();
    if (table !== this.table) await this.open(table);
    for await (const chunk of content) {
      await this.copy!.write(chunk);
      this.restore.progress?.('Rows', (this.done += linesIn(chunk)), this.total);
    }
  }

  private async open(table: string): Promise<void> {
    await this.close();
    const shape = this.restore.found.header.tables.find(({ name }) => name === table);
    // Only where the file has been replaced since it was inspected.
    if (!shape) throw broken(this.restore.file, `it has rows of an unknown table ${printable(table)}`);
    this.table = table;
    this.copy = new CopyIn(this.client, table, shape.columns);
  }

  private async close(): Promise<void> {
    await this.copy?.end();
    this.copy = undefined;
  }

  /** The tables are ours alone, empty, and as they were when the backup was taken. */
  private async begin(): Promise<void> {
    this.begun = true;
    const { client, restore } = this;
    await this.lock();
    await this.removed();
    if (await this.isIntact()) await this.empty();
    else await rebuildWithin(client, restore.found.header.migrations);
    await this.demandKnownNames();
    await this.triggers('DISABLE');
    this.aside = await setAside(client, this.tables);
  }

  /** Whether the tables are those of the backup. They are not where it is older, or where one was dropped. */
  private async isIntact(): Promise<boolean> {
    const { migrations, tables } = this.restore.found.header;
    const applied = (await this.client.query('SELECT "name" FROM "migration" ORDER BY "name"')).rows.map(({ name }) => name as string);
    const shape = (those: readonly TableShape[]) => those.map(({ name, columns }) => JSON.stringify([name, columns])).sort();
    const found = new Set(shape(await tablesOf(this.client)));
    return (
      applied.join() === migrations.join() && shape(tables).every((one) => found.has(one)) && (await this.logs()).length === LOGS.length
    );
  }

  /** Throws where the archive names a table, a column or a sequence that the schema of its migrations lacks. */
  private async demandKnownNames(): Promise<void> {
    const { file, found } = this.restore;
    const columns = new Map((await tablesOf(this.client)).map((table) => [table.name, table.columns]));
    for (const table of found.header.tables) {
      const known = columns.get(table.name);
      if (!known) throw broken(file, `it names the table ${printable(table.name)}, which its schema lacks`);
      const unknown = table.columns.find((name) => !known.includes(name));
      if (unknown !== undefined) throw broken(file, `it names the column ${printable(unknown)} of ${table.name}, which its schema lacks`);
    }
    const sequences = await sequencesOf(this.client, found.header.tables);
    for (const { table, column } of found.summary.sequences)
      if (!sequences.some((one) => one.table === table && one.column === column))
        throw broken(file, `it names a sequence of ${printable(`${table}.${column}`)}, which its schema lacks`);
  }

  private async logs(): Promise<string[]> {
    const { rows } = await this.client.query('SELECT "name" FROM unnest($1::text[]) AS "name" WHERE to_regclass("name") IS NOT NULL', [
      LOGS,
    ]);
    return rows.map(({ name }) => name as string);
  }

  private async lock(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await this.client.query('BEGIN');
      try {
        const names = [...(await tablesOf(this.client)).map(({ name }) => name), ...(await this.logs())];
        return void (await this.client.query(`LOCK TABLE ${quoteIdentifiers(names)} IN ACCESS EXCLUSIVE MODE`));
      } catch (error) {
        await this.client.query('ROLLBACK');
        if ((error as { code?: string }).code !== DEADLOCK || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** The files of the rows that go are noted, as when rows are deleted; those that are named again stay. */
  private async removed(): Promise<void> {
    const there = new Set((await tablesOf(this.client)).map(({ name }) => name));
    const places = entities().flatMap((entity) =>
      fieldsOf(entity)
        .filter(({ kind }) => kind === 'image')
        .map(({ column }) => ({ column, table: resourceOf(entity)!.table })),
    );
    const paths = [...places, { column: 'path', table: 'removed_file' }]
      .filter(({ table }) => there.has(table))
      .map(({ column, table }) => `SELECT "${column}" AS "path" FROM "${table}"`);
    const nothing = `SELECT '' AS "path" WHERE false`;
    await this.client.query(`CREATE TEMPORARY TABLE "former_path" ON COMMIT DROP AS ${[nothing, ...paths].join(' UNION ')}`);
  }

  private async empty(): Promise<void> {
    await this.triggers('DISABLE');
    await this.client.query(`TRUNCATE ${quoteIdentifiers((await tablesOf(this.client)).map(({ name }) => name))}`);
    await this.triggers('ENABLE');
  }

  private async triggers(state: 'ENABLE' | 'DISABLE'): Promise<void> {
    for (const { name } of await tablesOf(this.client))
      await this.client.query(`ALTER TABLE ${quoteIdentifiers([name])} ${state} TRIGGER USER`);
  }

  async end(): Promise<void> {
    const { client, restore, id } = this;
    const { header, summary } = restore.found;
    if (!this.begun) await this.begin();
    await this.close();
    await client.query(`ANALYZE ${quoteIdentifiers(this.tables)}`);
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    await putBack(client, this.aside);
    for (const { table, column, last, called } of summary.sequences)
      await client.query('SELECT setval(pg_get_serial_sequence(quote_ident($1), $2), $3, $4)', [table, column, last, called]);
    for (const name of this.tables) {
      const [{ count }] = (await client.query(`SELECT count(*)::float8 AS "count" FROM ${quoteIdentifiers([name])}`)).rows as [
        { count: number },
      ];
      if (count !== summary.rows[name]) throw broken(restore.file, `${name} has ${count} rows instead of ${summary.rows[name]}`);
    }
    await this.triggers('ENABLE');
    const since = migrationNames().filter((name) => !header.migrations.includes(name));
    await applyWithin(client, since);
    await this.beginLog();
    await client.query(`INSERT INTO "removed_file" ("path") SELECT "path" FROM "former_path" WHERE "path" <> ''
      ON CONFLICT ("path") DO UPDATE SET "settled" = false`);
    await client.query('INSERT INTO "restored" ("id", "taken", "program") VALUES ($1, $2, $3)', [id, header.taken, header.program]);
    await client.query('COMMIT');
  }

  /** Nobody's cursor knows these rows, and nothing that anybody keeps in memory is right any more. */
  private async beginLog(): Promise<void> {
    await this.client.query('DELETE FROM "former_change_log"');
    await this.client.query('DELETE FROM "change"');
    await this.client.query('DELETE FROM "table_change"');
    await this.client.query('UPDATE "change_log" SET "id" = gen_random_uuid()');
    await this.client.query('INSERT INTO "table_change" ("table") SELECT unnest($1::text[])', [this.tables]);
  }

  async undo(): Promise<void> {
    await this.copy?.abandon();
    await this.client.query('ROLLBACK').catch(() => undefined);
  }
}
