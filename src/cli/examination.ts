/** What `fitgraph doctor` looks at. */
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../platform/config';
import type { Database } from '../database/connection';
import { checkDataDir } from '../database/datadir';
import { clusterMajor } from '../database/embedded/cluster';
import { migrated, refuseUnsupported } from '../database/migrate';
import { AVAILABLE_CONNECTIONS, openDatabase } from '../database/open';
import { connectionsOf } from '../database/pools';
import { standingOf } from '../database/viewerrole';
import { keyFile, readKey } from '../database/secretkey';
import { fieldsOf } from '../core/model/fields';
import { entities, resourceOf } from '../core/model/registry';
import { Media } from '../files/media';
import { models } from '../graphql/schema';
import { freePort } from '../server/supervisor/port';
import { VERSION } from '../platform/version';
import { counted } from './operator';

export interface Finding {
  state: 'ok' | 'warning' | 'failure';
  about: string;
  said: string;
  advice?: string;
}

type Note = (finding: Finding) => void;

const GB = 1024 ** 3;
const LITTLE_ROOM = 2 * GB;
const NO_ROOM = GB / 5;
const SKEW_SECONDS = 2;
const PATHS = 1_000;
/** Looked for at the same time. */
const AT_ONCE = 16;

export async function examine(config: Config, note: Note): Promise<void> {
  note({
    state: 'ok',
    about: 'Versions',
    said: `Fitgraph ${VERSION}, Node.js ${process.versions.node}, ${process.platform}-${process.arch}`,
  });
  note({
    state: 'ok',
    about: 'Configuration',
    said: `NODE_ENV=${config.production ? 'production' : 'development or test'}, ${counted(config.workers, 'worker')}`,
  });
  checkDataDir(config.dataDir);
  examineFolder(config, note);
  examineRoom(config, note);
  await examinePort(config, note);
  if (config.databaseUrl || hasCluster(config)) await examineDatabase(config, note);
  else note({ state: 'ok', about: 'Database', said: 'none yet: the first start makes an embedded one' });
}

/** Joining a database makes one where there is none, and that is for the server to do. */
function hasCluster({ dataDir }: Config): boolean {
  const located = path.join(dataDir, 'location');
  const home = fs.existsSync(located) ? fs.readFileSync(located, 'utf8').trim() : dataDir;
  return clusterMajor({ cluster: path.join(home, 'postgres') }) !== undefined;
}

function examineFolder({ dataDir, mediaDir, ownMediaDir, bucket, secretKey }: Config, note: Note): void {
  const open: string[] = [];
  const shared = (file: string, bits: number) => {
    const found = fs.statSync(file, { throwIfNoEntry: false });
    if (found && found.mode & bits) open.push(`${file} (${(found.mode & 0o777).toString(8)})`);
  };
  // Whoever runs PostgreSQL for root passes through the folder.
  shared(dataDir, process.getuid?.() === 0 ? 0o066 : 0o077);
  shared(keyFile(dataDir), 0o077);
  // One that several instances share is theirs to close.
  if (!ownMediaDir && !bucket) shared(mediaDir, 0o077);
  note(
    open.length
      ? {
          state: 'warning',
          about: 'Permissions',
          said: `other users can read ${open.join(', ')}`,
          advice: 'chmod go-rwx, or restart the server, which does it',
        }
      : { state: 'ok', about: 'Permissions', said: `${dataDir} is closed to other users` },
  );
  const key = secretKey ?? readKey(keyFile(dataDir));
  if (key) note({ state: 'ok', about: 'Secret key', said: secretKey ? 'of SECRET_KEY' : `in ${keyFile(dataDir)}` });
}

function examineRoom({ dataDir }: Config, note: Note): void {
  let place = dataDir;
  while (!fs.existsSync(place)) place = path.dirname(place);
  const { bavail, bsize, blocks } = fs.statfsSync(place);
  const [free, all] = [bavail * bsize, blocks * bsize];
  const said = `${(free / GB).toFixed(1)} of ${(all / GB).toFixed(1)} GB are free at ${place}`;
  if (free > LITTLE_ROOM) return note({ state: 'ok', about: 'Disk', said });
  note({ state: free > NO_ROOM ? 'warning' : 'failure', about: 'Disk', said, advice: 'make room: a full disk stops all writes' });
}

async function examinePort({ host, port, tls }: Config, note: Note): Promise<void> {
  try {
    await freePort(host, port);
    return note({ state: 'ok', about: 'Port', said: `${port || 'any'} is free: no server runs` });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') {
      return note({ state: 'failure', about: 'Port', said: (error as Error).message, advice: 'choose another HOST or PORT' });
    }
  }
  if (tls) return note({ state: 'ok', about: 'Port', said: `${port} is taken, by the server perhaps` });
  const answer = await fetch(`http://localhost:${port}/health/ready`, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined);
  const body = (await answer?.json().catch(() => undefined)) as { status?: string; reason?: string } | undefined;
  if (answer?.ok && body?.status === 'ok') return note({ state: 'ok', about: 'Port', said: `a server answers at ${port}, and is ready` });
  const said = body?.status
    ? `a server answers at ${port}, and is not ready${body.reason ? ` (${body.reason})` : ''}`
    : `${port} is taken by something else`;
  note({ state: 'failure', about: 'Port', said, advice: body?.status ? 'see its log' : 'choose another PORT' });
}

async function examineDatabase(config: Config, note: Note): Promise<void> {
  const { database, close, embedded } = await openDatabase(config, models, () => undefined, { key: false });
  try {
    const before = Date.now();
    const [server] = (
      await database.pool.query(
        `SELECT current_setting('server_version') AS "version", extract(epoch FROM clock_timestamp())::float8 * 1000 AS "now",
           ${AVAILABLE_CONNECTIONS} AS "connections",
           pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly",
           pg_size_pretty(pg_database_size(current_database())) AS "size", to_regclass('user_account') IS NOT NULL AS "filled"`,
      )
    ).rows;
    note({ state: 'ok', about: 'Database', said: `${embedded ? 'embedded ' : ''}PostgreSQL ${server.version}, ${server.size}` });
    if (server.readOnly)
      note({ state: 'failure', about: 'Database', said: 'it takes no writes', advice: 'name the primary by DATABASE_URL' });
    const skew = Math.abs(server.now - (before + Date.now()) / 2) / 1000;
    note(
      skew > SKEW_SECONDS
        ? { state: 'warning', about: 'Clock', said: `that of the database differs by ${skew.toFixed(1)} s`, advice: 'let NTP set both' }
        : { state: 'ok', about: 'Clock', said: 'as that of the database' },
    );
    examineConnections(config, server.connections, note);
    const isWhole = await examineSchema(database, note);
    if (!server.filled || !isWhole) return;
    await examineReplica(database, note);
    await examineSecurity(config, database, note);
    await examineKey(config, database, note);
    await examineFiles(config, database, note);
  } finally {
    await close();
  }
}

function examineConnections({ workers, poolSize }: Config, available: number, note: Note): void {
  const needed = Math.max(1, workers) * connectionsOf(poolSize);
  const said = `${available} are to be had, ${needed} may be wanted`;
  note(
    needed > available
      ? { state: 'warning', about: 'Connections', said, advice: 'lower DATABASE_POOL or WEB_CONCURRENCY, or raise max_connections' }
      : { state: 'ok', about: 'Connections', said },
  );
}

/** Answers whether all that there should be is there. */
async function examineSchema(database: Database, note: Note): Promise<boolean> {
  if ((await database.pool.query(`SELECT to_regclass('migration') AS "table"`)).rows[0].table) await refuseUnsupported(database.pool);
  const current = await migrated(database);
  const gone = current ? await missingIn(database) : [];
  note(
    gone.length
      ? {
          state: 'failure',
          about: 'Schema',
          said: `${gone.join(', ')} ${gone.length > 1 ? 'are' : 'is'} missing`,
          advice: 'fitgraph restore FILE --replace makes it anew',
        }
      : { state: 'ok', about: 'Schema', said: current ? 'up to date' : 'older than this version: the next start brings it up to date' },
  );
  const { rows } = await database.pool.query(
    `SELECT "name" FROM unnest(ARRAY['pg_trgm', 'unaccent']) AS "name" WHERE "name" NOT IN (SELECT "name" FROM pg_available_extensions)`,
  );
  if (rows.length)
    note({
      state: 'failure',
      about: 'Extensions',
      said: `${rows.map(({ name }) => name).join(', ')} missing`,
      advice: "install PostgreSQL's contrib package",
    });
  return gone.length === 0;
}

/** Tables that somebody has dropped, and columns. */
async function missingIn({ pool }: Database): Promise<string[]> {
  const { rows } = await pool.query(
    `SELECT "table_name" AS "table", array_agg("column_name"::text) AS "columns" FROM information_schema.columns
     WHERE "table_schema" = current_schema() GROUP BY 1`,
  );
  const there = new Map(rows.map(({ table, columns }) => [table as string, columns as string[]]));
  return entities().flatMap((entity) => {
    const { table } = resourceOf(entity)!;
    const columns = there.get(table);
    const stored = fieldsOf(entity).filter(({ stored: kept }) => kept);
    return columns ? stored.filter(({ column }) => !columns.includes(column!)).map(({ column }) => `${table}.${column!}`) : [table];
  });
}

async function examineReplica(database: Database, note: Note): Promise<void> {
  const { replica } = database;
  if (!replica) return;
  const why = await replica.inspect((text) => database.ask(text));
  note(
    why === undefined
      ? { state: 'ok', about: 'Replica', said: 'it follows the database' }
      : {
          state: 'warning',
          about: 'Replica',
          said: why,
          advice: 'mend it, or take DATABASE_REPLICA_URL away; until then the database itself is read',
        },
  );
}

async function examineSecurity({ rowSecurity }: Config, database: Database, note: Note): Promise<void> {
  const about = 'Row security';
  if (rowSecurity === 'off') return note({ state: 'ok', about, said: 'off: the program alone decides whose rows a request reads' });
  const standing = (await migrated(database)) && (await standingOf(database.pool));
  if (!standing) return;
  const { role, lacking, advice, isBound } = standing;
  if (lacking === undefined)
    return note({ state: 'ok', about, said: `requests ask in the name of ${role}, which sees their viewer's rows alone` });
  note({
    state: isBound || rowSecurity === 'required' ? 'failure' : 'warning',
    about,
    said: lacking,
    advice: `to be run: ${advice}`,
  });
}

async function examineKey({ secretKey, dataDir }: Config, { pool }: Database, note: Note): Promise<void> {
  const { rows } = await pool.query('SELECT EXISTS (SELECT FROM "user_account") AS "some"');
  if (rows[0].some && !secretKey && !fs.existsSync(keyFile(dataDir)))
    note({
      state: 'failure',
      about: 'Secret key',
      said: `${keyFile(dataDir)} is gone`,
      advice: 'put it back from a backup (tar -xzOf FILE secret-key)',
    });
}

async function examineFiles(config: Config, { pool }: Database, note: Note): Promise<void> {
  const media = Media.of(config);
  if (config.bucket) await media.files.check();
  let [all, missing, last] = [0, 0, 0];
  for (const entity of entities())
    for (const { kind, column } of fieldsOf(entity)) {
      if (kind !== 'image') continue;
      for (let more = true; more;) {
        const { rows } = await pool.query(
          `SELECT "id", "${column}" AS "path" FROM "${resourceOf(entity)!.table}" WHERE "id" > $1 ORDER BY "id" LIMIT ${PATHS}`,
          [last],
        );
        for (let at = 0; at < rows.length; at += AT_ONCE)
          for (const holds of await Promise.all(rows.slice(at, at + AT_ONCE).map(({ path: file }) => media.holds(file as string))))
            if (!holds) missing += 1;
        all += rows.length;
        last = rows.at(-1)?.id ?? last;
        more = rows.length === PATHS;
      }
      last = 0;
    }
  note(
    missing
      ? {
          state: 'warning',
          about: 'Files',
          said: `of ${all} images ${missing} have no file`,
          advice: `put them back from a backup into ${media.files.name}`,
        }
      : { state: 'ok', about: 'Files', said: `all ${all} images have their file in ${media.files.name}` },
  );
}
