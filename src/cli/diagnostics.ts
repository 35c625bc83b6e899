/** Diagnostics of `fitgraph doctor`: checks configuration, disk, port, database, schema, secret key and media files. Changes nothing. */
import fs from 'node:fs';
import path from 'node:path';
import { describeUnknown, findUnknownVariables } from '../platform/unknownvariables';
import type { Config, Variables } from '../platform/config';
import type { Database } from '../database/connection';
import { secretKeyProblem } from '../auth/keyfingerprint';
import { checkDataDir } from '../database/datadir';
import { clusterMajor } from '../database/embedded/cluster';
import { schemaState } from '../database/compatibility';
import { AVAILABLE_CONNECTIONS, openDatabase } from '../database/open';
import { connectionsOf } from '../database/pools';
import { rowSecurityStatus } from '../database/viewerrole';
import { keyFile, readKey } from '../database/secretkey';
import { imageColumns } from '../files/imagecolumns';
import { Media } from '../files/media';
import { models } from '../graphql/schema';
import { choosePort } from '../server/supervisor/port';
import { VERSION } from '../platform/version';
import { COUNT_SERVERS, formatCount } from './operator';
import type { Note } from './finding';
import { examineSchema } from './schemadiagnostics';
import { examineProxies, examineTls } from './webdiagnostics';

const GB = 1024 ** 3;
const WARNING_FREE_BYTES = 2 * GB;
const FAILURE_FREE_BYTES = GB / 5;
const MAX_CLOCK_SKEW_SECONDS = 2;
const PAGE_ROWS = 1_000;
const MAX_CONCURRENT_CHECKS = 16;

export async function runDiagnostics(config: Config, variables: Variables, note: Note): Promise<void> {
  note({
    state: 'ok',
    about: 'Versions',
    said: `Fitgraph ${VERSION}, Node.js ${process.versions.node}, ${process.platform}-${process.arch}`,
  });
  note({
    state: 'ok',
    about: 'Configuration',
    said: `NODE_ENV=${config.production ? 'production' : 'development or test'}, ${formatCount(config.workers, 'worker')}`,
  });
  for (const unknown of findUnknownVariables(variables))
    note({
      state: 'warning',
      about: 'Configuration',
      said: describeUnknown(unknown),
      advice: 'see docs/configuration.md for all variables',
    });
  examineTls(config, note);
  examineProxies(config, note);
  checkDataDir(config.dataDir);
  examineFolder(config, note);
  examineDisk(config, note);
  await examinePort(config, note);
  if (config.databaseUrl || hasCluster(config)) await examineDatabase(config, note);
  else note({ state: 'ok', about: 'Database', said: 'none yet; the first start creates an embedded one' });
}

/** Whether an embedded database exists. Checked first, because opening it would create a missing one. */
function hasCluster({ dataDir }: Config): boolean {
  const locationFile = path.join(dataDir, 'location');
  const home = fs.existsSync(locationFile) ? fs.readFileSync(locationFile, 'utf8').trim() : dataDir;
  return clusterMajor({ cluster: path.join(home, 'postgres') }) !== undefined;
}

function examineFolder({ dataDir, mediaDir, ownMediaDir, bucket, secretKey }: Config, note: Note): void {
  const readablePaths: string[] = [];
  const checkMode = (file: string, forbiddenBits: number) => {
    const stats = fs.statSync(file, { throwIfNoEntry: false });
    if (stats && stats.mode & forbiddenBits) readablePaths.push(`${file} (${(stats.mode & 0o777).toString(8)})`);
  };
  // For root, PostgreSQL runs as another user, who needs execute permission for the folder.
  checkMode(dataDir, process.getuid?.() === 0 ? 0o066 : 0o077);
  checkMode(keyFile(dataDir), 0o077);
  // The permissions of a configured media folder, which instances may share, are the operator's decision.
  if (!ownMediaDir && !bucket) checkMode(mediaDir, 0o077);
  note(
    readablePaths.length
      ? {
          state: 'warning',
          about: 'Permissions',
          said: `other users can read ${readablePaths.join(', ')}`,
          advice: 'run chmod go-rwx, or restart the server, which does the same',
        }
      : { state: 'ok', about: 'Permissions', said: `${dataDir} is not accessible to other users` },
  );
  const key = secretKey ?? readKey(keyFile(dataDir));
  if (key) note({ state: 'ok', about: 'Secret key', said: secretKey ? 'from SECRET_KEY' : `in ${keyFile(dataDir)}` });
}

function examineDisk({ dataDir }: Config, note: Note): void {
  let folder = dataDir;
  while (!fs.existsSync(folder)) folder = path.dirname(folder);
  const { bavail, bsize, blocks } = fs.statfsSync(folder);
  const [free, total] = [bavail * bsize, blocks * bsize];
  const said = `${(free / GB).toFixed(1)} of ${(total / GB).toFixed(1)} GB are free at ${folder}`;
  if (free > WARNING_FREE_BYTES) return note({ state: 'ok', about: 'Disk', said });
  note({
    state: free > FAILURE_FREE_BYTES ? 'warning' : 'failure',
    about: 'Disk',
    said,
    advice: 'free disk space: a full disk stops all writes',
  });
}

async function examinePort({ host, port, tls }: Config, note: Note): Promise<void> {
  try {
    await choosePort(host, port);
    return note({ state: 'ok', about: 'Port', said: `${port || 'any'} is free: no server is running` });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') {
      return note({ state: 'failure', about: 'Port', said: (error as Error).message, advice: 'choose another HOST or PORT' });
    }
  }
  if (tls) return note({ state: 'ok', about: 'Port', said: `${port} is in use, possibly by the server` });
  const response = await fetch(`http://localhost:${port}/health/ready`, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined);
  const body = (await response?.json().catch(() => undefined)) as { status?: string; reason?: string; degraded?: string[] } | undefined;
  if (response?.ok && (body?.status === 'ok' || body?.status === 'degraded'))
    return note(
      body.degraded
        ? {
            state: 'warning',
            about: 'Port',
            said: `a server is running on ${port}, but ${body.degraded.join(', ')}`,
            advice: 'see its log',
          }
        : { state: 'ok', about: 'Port', said: `a server is running on ${port} and is ready` },
    );
  const said = body?.status
    ? `a server is running on ${port} but is not ready${body.reason ? ` (${body.reason})` : ''}`
    : `${port} is in use by another program`;
  note({ state: 'failure', about: 'Port', said, advice: body?.status ? 'see its log' : 'choose another PORT' });
}

async function examineDatabase(config: Config, note: Note): Promise<void> {
  const { database, close, embedded } = await openDatabase(config, models, () => undefined, { key: false });
  try {
    const queriedAt = Date.now();
    const [server] = (
      await database.pool.query(
        `SELECT current_setting('server_version') AS "version", extract(epoch FROM clock_timestamp())::float8 * 1000 AS "now",
           ${AVAILABLE_CONNECTIONS} AS "available", (${COUNT_SERVERS}) AS "running",
           pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly",
           pg_size_pretty(pg_database_size(current_database())) AS "size", to_regclass('user_account') IS NOT NULL AS "filled"`,
      )
    ).rows;
    note({ state: 'ok', about: 'Database', said: `${embedded ? 'embedded ' : ''}PostgreSQL ${server.version}, ${server.size}` });
    if (server.readOnly) note({ state: 'failure', about: 'Database', said: 'it is read-only', advice: 'set DATABASE_URL to the primary' });
    const skew = Math.abs(server.now - (queriedAt + Date.now()) / 2) / 1000;
    note(
      skew > MAX_CLOCK_SKEW_SECONDS
        ? {
            state: 'warning',
            about: 'Clock',
            said: `differs from the clock of the database by ${skew.toFixed(1)} s`,
            advice: 'synchronize both with NTP',
          }
        : { state: 'ok', about: 'Clock', said: 'in sync with the database' },
    );
    examineConnections(config, server, note);
    const isComplete = await examineSchema(database, note);
    if (!server.filled || !isComplete) return;
    await examineReplica(database, note);
    await examineSecurity(config, database, note);
    await examineKey(config, database, note);
    await examineFiles(config, database, note);
  } finally {
    await close();
  }
}

interface Capacity {
  available: number;
  running: number;
}

function examineConnections({ workers, poolSize }: Config, { available, running }: Capacity, note: Note): void {
  const about = 'Connections';
  const configured = Math.max(1, workers);
  if (running > configured)
    note({
      state: 'warning',
      about,
      said: `${running} workers use the database, but WEB_CONCURRENCY is ${workers} here`,
      advice: 'unless they belong to several instances, run fitgraph doctor with the variables of the service: --environment FILE',
    });
  const needed = Math.max(configured, running) * connectionsOf(poolSize);
  const said = `${available} available, up to ${needed} needed`;
  note(
    needed > available
      ? { state: 'warning', about, said, advice: 'lower DATABASE_POOL or WEB_CONCURRENCY, or raise max_connections' }
      : { state: 'ok', about, said },
  );
}

async function examineReplica(database: Database, note: Note): Promise<void> {
  const { replica } = database;
  if (!replica) return;
  const problem = await replica.inspect((text) => database.ask(text));
  note(
    problem === undefined
      ? { state: 'ok', about: 'Replica', said: 'it follows the database' }
      : {
          state: 'warning',
          about: 'Replica',
          said: problem,
          advice: 'repair it or remove DATABASE_REPLICA_URL; until then all reads use the primary',
        },
  );
}

async function examineSecurity({ rowSecurity }: Config, database: Database, note: Note): Promise<void> {
  const about = 'Row security';
  if (rowSecurity === 'off') return note({ state: 'ok', about, said: 'off: only the application restricts which rows a request can read' });
  const status = (await schemaState(database)) === 'current' && (await rowSecurityStatus(database.pool));
  if (!status) return;
  const { role, lacking, advice, isBound } = status;
  if (lacking === undefined)
    return note({ state: 'ok', about, said: `requests use the role ${role}, which can read only the rows of their viewer` });
  note({
    state: isBound || rowSecurity === 'required' ? 'failure' : 'warning',
    about,
    said: lacking,
    advice: `run: ${advice}`,
  });
}

async function examineKey({ secretKey, dataDir }: Config, database: Database, note: Note): Promise<void> {
  const key = secretKey ?? readKey(keyFile(dataDir));
  const problem = key && (await secretKeyProblem(database, key));
  if (problem)
    note({ state: 'failure', about: 'Secret key', said: problem, advice: 'set the key that was used before, or see fitgraph rotate-key' });
  const { rows } = await database.pool.query('SELECT EXISTS (SELECT FROM "user_account") AS "some"');
  if (rows[0].some && !key)
    note({
      state: 'failure',
      about: 'Secret key',
      said: `${keyFile(dataDir)} is missing`,
      advice: 'restore it from a backup (tar -xzOf FILE secret-key)',
    });
}

async function examineFiles(config: Config, { pool }: Database, note: Note): Promise<void> {
  const media = Media.of(config);
  if (config.bucket) await media.files.check();
  let [total, missing] = [0, 0];
  for (const { table, column } of imageColumns())
    for (let lastId = 0, hasMore = true; hasMore;) {
      const { rows } = await pool.query(
        `SELECT "id", "${column}" AS "path" FROM "${table}" WHERE "id" > $1 ORDER BY "id" LIMIT ${PAGE_ROWS}`,
        [lastId],
      );
      for (let at = 0; at < rows.length; at += MAX_CONCURRENT_CHECKS) {
        const paths = rows.slice(at, at + MAX_CONCURRENT_CHECKS).map((row) => row.path as string);
        missing += (await Promise.all(paths.map((file) => media.holds(file)))).filter((exists) => !exists).length;
      }
      total += rows.length;
      lastId = rows.at(-1)?.id ?? lastId;
      hasMore = rows.length === PAGE_ROWS;
    }
  note(
    missing
      ? {
          state: 'warning',
          about: 'Files',
          said: `${missing} of ${total} images have no file`,
          advice: `restore them from a backup into ${media.files.name}`,
        }
      : { state: 'ok', about: 'Files', said: `the files of all ${total} images are in ${media.files.name}` },
  );
}
