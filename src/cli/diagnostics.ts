/** Diagnostics of `fitgraph doctor`: checks configuration, disk, port, database, schema, secret key and media files. Changes nothing. */
import fs from 'node:fs';
import { isIPv6 } from 'node:net';
import path from 'node:path';
import { describeUnknownSetting, findUnknownSettings } from '../platform/unknownsettings';
import type { Config, EnvironmentVariables } from '../platform/config';
import type { Database } from '../database/connection';
import { findSecretKeyProblem } from '../auth/keyfingerprint';
import { checkDataDir } from '../database/datadir';
import { majorVersionOfCluster } from '../database/embedded/cluster';
import {
  findPendingMaintenanceMigration,
  requireSupportedSchema,
  readSchemaState,
} from '../database/compatibility';
import { CONNECTION_LIMIT_SQL, openDatabase } from '../database/open';
import type { ConnectionOptions } from '../database/options';
import { maxConnectionsPerWorker } from '../database/pools';
import { checkRowSecurityStatus } from '../database/viewerrole';
import { secretKeyPath, readKey } from '../database/secretkey';
import { imageColumns } from '../files/imagecolumns';
import { Media } from '../files/media';
import { models } from '../graphql/schema';
import { choosePort } from '../server/port';
import { VERSION } from '../platform/version';
import { RUNNING_WORKER_COUNT_SQL, formatCount } from './commandcontext';
import type { DiagnosticReporter } from './diagnosticreporter';
import { examinePublicUrl, examineTls } from './httpsdiagnostics';

const GB = 1024 ** 3;
const LOW_DISK_SPACE_BYTES = 2 * GB;
const CRITICAL_DISK_SPACE_BYTES = GB / 5;
const MAX_CLOCK_SKEW_SECONDS = 2;
const PAGE_SIZE = 1_000;
const MAX_CONCURRENT_FILE_CHECKS = 16;

export async function runDiagnostics(
  config: Config,
  variables: EnvironmentVariables,
  report: DiagnosticReporter,
): Promise<void> {
  report.ok(
    'Versions',
    `Fitgraph ${VERSION}, Node.js ${process.versions.node}, ${process.platform}-${process.arch}`,
  );
  const environment = config.production ? 'production' : 'development or test';
  report.ok('Configuration', `NODE_ENV=${environment}, ${formatCount(config.workers, 'worker')}`);
  for (const unknownSetting of findUnknownSettings(variables))
    report.warn(
      'Configuration',
      describeUnknownSetting(unknownSetting),
      'see docs/configuration.md for all variables',
    );
  examineTls(config, report);
  examinePublicUrl(config, report);
  checkDataDir(config.dataDir);
  examinePermissions(config, report);
  examineDisk(config, report);
  await examinePort(config, report);
  if (config.databaseUrl || hasEmbeddedDatabase(config)) await examineDatabase(config, report);
  else report.ok('Database', 'none yet; the first start creates an embedded one');
}

/** Whether an embedded database exists. Call this before `openDatabase`, which creates the database if it does not exist. */
function hasEmbeddedDatabase({ dataDir }: Config): boolean {
  const locationFile = path.join(dataDir, 'location');
  const clusterParentFolder = fs.existsSync(locationFile)
    ? fs.readFileSync(locationFile, 'utf8').trim()
    : dataDir;
  return (
    majorVersionOfCluster({ clusterFolder: path.join(clusterParentFolder, 'postgres') }) !==
    undefined
  );
}

function examinePermissions(
  { dataDir, mediaDir, ownMediaDir, bucket, secretKey }: Config,
  report: DiagnosticReporter,
): void {
  const exposedPaths: string[] = [];
  const checkMode = (file: string, forbiddenBits: number) => {
    const stats = fs.statSync(file, { throwIfNoEntry: false });
    if (stats && stats.mode & forbiddenBits)
      exposedPaths.push(`${file} (${(stats.mode & 0o777).toString(8)})`);
  };
  // If root starts PostgreSQL, it runs as another user, who needs execute permission for the data folder.
  checkMode(dataDir, process.getuid?.() === 0 ? 0o066 : 0o077);
  checkMode(secretKeyPath(dataDir), 0o077);
  // The permissions of a configured media folder, which instances may share, are not checked: they are the operator's decision.
  if (!ownMediaDir && !bucket) checkMode(mediaDir, 0o077);
  if (exposedPaths.length)
    report.warn(
      'Permissions',
      `other users can read ${exposedPaths.join(', ')}`,
      'run chmod go-rwx, or restart the server, which does the same',
    );
  else report.ok('Permissions', `${dataDir} is not accessible to other users`);
  const key = secretKey ?? readKey(secretKeyPath(dataDir));
  if (key) report.ok('Secret key', secretKey ? 'from SECRET_KEY' : `in ${secretKeyPath(dataDir)}`);
}

function examineDisk({ dataDir }: Config, report: DiagnosticReporter): void {
  let existingFolder = dataDir;
  while (!fs.existsSync(existingFolder)) existingFolder = path.dirname(existingFolder);
  const { bavail, bsize, blocks } = fs.statfsSync(existingFolder);
  const [freeBytes, totalBytes] = [bavail * bsize, blocks * bsize];
  const message = `${(freeBytes / GB).toFixed(1)} of ${(totalBytes / GB).toFixed(1)} GB are free at ${existingFolder}`;
  const advice = 'free disk space: a full disk stops all writes';
  if (freeBytes > LOW_DISK_SPACE_BYTES) report.ok('Disk', message);
  else if (freeBytes > CRITICAL_DISK_SPACE_BYTES) report.warn('Disk', message, advice);
  else report.fail('Disk', message, advice);
}

/** Returns the host for a URL by which this machine reaches a server that listens on `host`. */
function localUrlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}

async function examinePort({ host, port, tls }: Config, report: DiagnosticReporter): Promise<void> {
  try {
    await choosePort(host, port);
    return report.ok('Port', `${port || 'any'} is free: no server is running`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE')
      return report.fail('Port', (error as Error).message, 'choose another HOST or PORT');
  }
  if (tls) return report.ok('Port', `${port} is in use, possibly by the server`);
  const response = await fetch(`http://${localUrlHost(host)}:${port}/health/ready`, {
    signal: AbortSignal.timeout(3_000),
  }).catch(() => undefined);
  const body = (await response?.json().catch(() => undefined)) as
    { status?: string; reason?: string; degraded?: string[] } | undefined;
  const runningMessage = `a server is running on ${port}`;
  if (!body?.status)
    report.fail('Port', `${port} is in use by another program`, 'choose another PORT');
  else if (!response!.ok || !['ok', 'degraded'].includes(body.status))
    report.fail(
      'Port',
      `${runningMessage} but is not ready${body.reason ? ` (${body.reason})` : ''}`,
      'see its log',
    );
  else if (body.degraded)
    report.warn('Port', `${runningMessage}, but ${body.degraded.join(', ')}`, 'see its log');
  else report.ok('Port', `${runningMessage} and is ready`);
}

async function examineDatabase(config: Config, report: DiagnosticReporter): Promise<void> {
  const {
    database,
    close: closeDatabase,
    isEmbedded,
  } = await openDatabase(config, models, () => undefined, { needsSecretKey: false });
  try {
    const queriedAt = Date.now();
    const [server] = (
      await database.pool.query(
        `SELECT current_setting('server_version') AS "version", extract(epoch FROM clock_timestamp())::float8 * 1000 AS "now",
           ${CONNECTION_LIMIT_SQL} AS "availableConnections", (${RUNNING_WORKER_COUNT_SQL}) AS "runningWorkers",
           pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly",
           pg_size_pretty(pg_database_size(current_database())) AS "size", to_regclass('user_account') IS NOT NULL AS "filled"`,
      )
    ).rows;
    report.ok(
      'Database',
      `${isEmbedded ? 'embedded ' : ''}PostgreSQL ${server.version}, ${server.size}`,
    );
    if (server.readOnly)
      report.fail('Database', 'it is read-only', 'set DATABASE_URL to the primary');
    const skewSeconds = Math.abs(server.now - (queriedAt + Date.now()) / 2) / 1000;
    if (skewSeconds > MAX_CLOCK_SKEW_SECONDS)
      report.warn(
        'Clock',
        `differs from the clock of the database by ${skewSeconds.toFixed(1)} s`,
        'synchronize both with NTP',
      );
    else report.ok('Clock', 'in sync with the database');
    examineConnections(config, database.options, server, report);
    await examineSchema(database, report);
    if (!server.filled) return;
    await examineRowSecurity(config, database, report);
    await examineSecretKey(config, database, report);
    await examineMediaFiles(config, database, report);
  } finally {
    await closeDatabase();
  }
}

interface ConnectionUsage {
  availableConnections: number;
  runningWorkers: number;
}

function examineConnections(
  { workers, poolSize }: Config,
  { poolerMode, directConnection }: ConnectionOptions,
  { availableConnections, runningWorkers }: ConnectionUsage,
  report: DiagnosticReporter,
): void {
  const configuredWorkers = Math.max(1, workers);
  if (runningWorkers > configuredWorkers)
    report.warn(
      'Connections',
      `${runningWorkers} workers use the database, but WEB_CONCURRENCY is ${workers} here`,
      'unless they belong to several instances, run fitgraph doctor with the variables of the service: --environment FILE',
    );
  if (poolerMode === 'transaction')
    return report.ok('Connections', 'the workers share those of a pooler in transaction mode');
  const neededConnections =
    Math.max(configuredWorkers, runningWorkers) *
    maxConnectionsPerWorker(poolSize, directConnection !== undefined);
  const message = `${availableConnections} available, up to ${neededConnections} needed`;
  if (neededConnections > availableConnections)
    report.warn(
      'Connections',
      message,
      'lower DATABASE_POOL or WEB_CONCURRENCY, or raise max_connections',
    );
  else report.ok('Connections', message);
}

/** Checks the database schema and the required PostgreSQL extensions. */
async function examineSchema(database: Database, report: DiagnosticReporter): Promise<void> {
  const hasMigrationTable =
    (await database.pool.query(`SELECT to_regclass('migration') AS "table"`)).rows[0].table !==
    null;
  const newerMigrations = hasMigrationTable ? await requireSupportedSchema(database.pool) : [];
  const isSchemaCurrent = (await readSchemaState(database)) === 'current';
  const maintenanceMigration = isSchemaCurrent
    ? undefined
    : await findPendingMaintenanceMigration(database);
  if (maintenanceMigration !== undefined)
    report.warn(
      'Schema',
      `older than this version; the migration ${maintenanceMigration} needs a maintenance window, so this version does not start`,
      'stop all servers, take a backup and run fitgraph migrate --maintenance',
    );
  else if (!isSchemaCurrent)
    report.ok('Schema', 'older than this version; the next start migrates it');
  else if (newerMigrations.length)
    report.ok('Schema', `of a newer version that this one supports (${newerMigrations[0]})`);
  else report.ok('Schema', 'up to date');
  const { rows } = await database.pool.query(
    `SELECT "name" FROM unnest(ARRAY['pg_trgm', 'unaccent']) AS "name" WHERE "name" NOT IN (SELECT "name" FROM pg_available_extensions)`,
  );
  if (rows.length)
    report.fail(
      'Extensions',
      `${rows.map(({ name }) => name).join(', ')} missing`,
      "install PostgreSQL's contrib package",
    );
}

async function examineRowSecurity(
  { rowSecurity }: Config,
  database: Database,
  report: DiagnosticReporter,
): Promise<void> {
  const topic = 'Row security';
  if (rowSecurity === 'off')
    return report.ok(topic, 'off: only the application restricts which rows a request can read');
  const status =
    (await readSchemaState(database)) === 'current' &&
    (await checkRowSecurityStatus(database.pool));
  if (!status) return;
  const { role, problem, advice, appliesToServer } = status;
  if (problem === undefined)
    report.ok(topic, `requests use the role ${role}, which can read only the rows of their viewer`);
  else if (appliesToServer || rowSecurity === 'required')
    report.fail(topic, problem, `run: ${advice}`);
  else report.warn(topic, problem, `run: ${advice}`);
}

async function examineSecretKey(
  { secretKey, dataDir }: Config,
  database: Database,
  report: DiagnosticReporter,
): Promise<void> {
  const key = secretKey ?? readKey(secretKeyPath(dataDir));
  const problem = key && (await findSecretKeyProblem(database, key));
  if (problem)
    report.fail(
      'Secret key',
      problem,
      'set the key that was used before, or see fitgraph rotate-key',
    );
  const { rows } = await database.pool.query(
    'SELECT EXISTS (SELECT FROM "user_account") AS "some"',
  );
  if (rows[0].some && !key)
    report.fail(
      'Secret key',
      `${secretKeyPath(dataDir)} is missing`,
      'restore it from a backup (tar -xzOf FILE secret-key)',
    );
}

async function examineMediaFiles(
  config: Config,
  { pool }: Database,
  report: DiagnosticReporter,
): Promise<void> {
  const media = Media.fromConfig(config);
  if (config.bucket) await media.files.checkAccess();
  let [fileCount, missingFileCount] = [0, 0];
  for (const { table, column } of imageColumns())
    for (let lastId = 0, hasMore = true; hasMore;) {
      const { rows } = await pool.query(
        `SELECT "id", "${column}" AS "path" FROM "${table}" WHERE "id" > $1 ORDER BY "id" LIMIT ${PAGE_SIZE}`,
        [lastId],
      );
      for (let start = 0; start < rows.length; start += MAX_CONCURRENT_FILE_CHECKS) {
        const paths = rows
          .slice(start, start + MAX_CONCURRENT_FILE_CHECKS)
          .map((row) => row.path as string);
        missingFileCount += (await Promise.all(paths.map((file) => media.exists(file)))).filter(
          (exists) => !exists,
        ).length;
      }
      fileCount += rows.length;
      lastId = rows.at(-1)?.id ?? lastId;
      hasMore = rows.length === PAGE_SIZE;
    }
  if (missingFileCount)
    report.warn(
      'Files',
      `${missingFileCount} of ${fileCount} images have no file`,
      `restore them from a backup into ${media.files.location}`,
    );
  else report.ok('Files', `the files of all ${fileCount} images are in ${media.files.location}`);
}
