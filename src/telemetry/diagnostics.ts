/**
 * Diagnostics of an installation: configuration, disk, database, schema, secret key and media files.
 * They change nothing.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Config, EnvironmentVariables } from '../shared/config';
import { formatCount } from '../shared/messages';
import { describeUnknownSetting, findUnknownSettings } from '../shared/unknown-settings';
import type { Database } from '../database/connection';
import { findSecretKeyProblem } from '../accounts/key-fingerprint';
import { checkDataDir } from '../database/data-dir';
import {
  findPendingMaintenanceMigration,
  checkSchemaIsSupported,
  readSchemaState,
} from '../database/compatibility';
import { CONNECTION_LIMIT_SQL } from '../database/open';
import { type ConnectionOptions, maxConnectionsPerWorker } from '../database/pools';
import { checkRowSecurityStatus } from '../database/viewer-role';
import { RUNNING_WORKER_COUNT_SQL } from '../engine/changes/listener';
import { secretKeyPath, readKey } from '../database/secret-key';
import { imageColumns } from '../files/image-columns';
import { Media } from '../files/media';
import { VERSION } from '../shared/version';

export interface Finding {
  result: 'ok' | 'WARN' | 'FAIL';
  topic: string;
  text: string;
  advice?: string;
}

type Report = (topic: string, text: string, advice?: string) => void;

/** Receives the results of the checks. */
export type DiagnosticReporter = Record<'ok' | 'warn' | 'fail', Report>;

export function createReporter(onFinding: (finding: Finding) => void): DiagnosticReporter {
  const reportAs =
    (result: Finding['result']): Report =>
    (topic, text, advice) =>
      onFinding({ result, topic, text, advice });

  return { ok: reportAs('ok'), warn: reportAs('WARN'), fail: reportAs('FAIL') };
}

const GB = 1024 ** 3;
const LOW_DISK_SPACE_BYTES = 2 * GB;
const CRITICAL_DISK_SPACE_BYTES = GB / 5;
const MAX_CLOCK_SKEW_SECONDS = 2;
const PAGE_SIZE = 1_000;
const MAX_CONCURRENT_FILE_CHECKS = 16;

/** Checks the configuration and the data folder. */
export function checkInstallation(
  config: Config,
  variables: EnvironmentVariables,
  report: DiagnosticReporter,
): void {
  report.ok(
    'Versions',
    `Fitgraph ${VERSION}, Node.js ${process.versions.node}, ${process.platform}-${process.arch}`,
  );
  const environment = config.production ? 'production' : 'development or test';

  report.ok('Configuration', `NODE_ENV=${environment}, ${formatCount(config.workers, 'worker')}`);

  for (const unknownSetting of findUnknownSettings(variables)) {
    report.warn(
      'Configuration',
      describeUnknownSetting(unknownSetting),
      'see docs/configuration.md for all variables',
    );
  }

  if (config.publicUrl?.startsWith('https:') && !config.tls && !config.trustedProxies.length) {
    report.warn(
      'Public URL',
      `${config.publicUrl} is HTTPS, but without TLS_CERT or TRUSTED_PROXIES all requests count as unencrypted, and all clients as the proxy`,
      'set TRUSTED_PROXIES to the address of the proxy',
    );
  }

  checkDataDir(config.dataDir);
  checkPermissions(config, report);
  checkDisk(config, report);
}

function checkPermissions(
  { dataDir, mediaDir, isMediaDirSet, bucket, secretKey }: Config,
  report: DiagnosticReporter,
): void {
  const exposedPaths: string[] = [];

  const checkMode = (file: string, forbiddenBits: number) => {
    const stats = fs.statSync(file, { throwIfNoEntry: false });

    if (stats && stats.mode & forbiddenBits) {
      exposedPaths.push(`${file} (${(stats.mode & 0o777).toString(8)})`);
    }
  };

  // The owner of the data folder may be root while PostgreSQL runs as another user, who needs
  // execute permission for it.
  checkMode(dataDir, process.getuid?.() === 0 ? 0o066 : 0o077);
  checkMode(secretKeyPath(dataDir), 0o077);
  // Instances may share a configured media folder, so its permissions are the operator's decision.
  if (!isMediaDirSet && !bucket) checkMode(mediaDir, 0o077);
  if (exposedPaths.length) {
    report.warn(
      'Permissions',
      `other users can read ${exposedPaths.join(', ')}`,
      'run chmod go-rwx, or restart the server, which does the same',
    );
  } else report.ok('Permissions', `${dataDir} is not accessible to other users`);
  const key = secretKey ?? readKey(secretKeyPath(dataDir));

  if (key) report.ok('Secret key', secretKey ? 'from SECRET_KEY' : `in ${secretKeyPath(dataDir)}`);
}

function checkDisk({ dataDir }: Config, report: DiagnosticReporter): void {
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

/** Checks the database and the files to which it refers. */
export async function checkDatabase(
  config: Config,
  database: Database,
  report: DiagnosticReporter,
): Promise<void> {
  const queriedAt = Date.now();
  const [server] = (
    await database.pool.query(
      `SELECT current_setting('server_version') AS "version",
        extract(epoch FROM clock_timestamp())::float8 * 1000 AS "now",
         ${CONNECTION_LIMIT_SQL} AS "availableConnections",
         (${RUNNING_WORKER_COUNT_SQL}) AS "runningWorkers",
         pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "readOnly",
         pg_size_pretty(pg_database_size(current_database())) AS "size",
         to_regclass('user_account') IS NOT NULL AS "filled"`,
    )
  ).rows;

  report.ok(
    'Database',
    `${config.databaseUrl ? '' : 'embedded '}PostgreSQL ${server.version}, ${server.size}`,
  );

  if (server.readOnly) {
    report.fail('Database', 'it is read-only', 'set DATABASE_URL to the primary');
  }

  const skewSeconds = Math.abs(server.now - (queriedAt + Date.now()) / 2) / 1000;

  if (skewSeconds > MAX_CLOCK_SKEW_SECONDS) {
    report.warn(
      'Clock',
      `differs from the clock of the database by ${skewSeconds.toFixed(1)} s`,
      'synchronize both with NTP',
    );
  } else report.ok('Clock', 'in sync with the database');
  checkConnections(config, database.options, server, report);
  await checkSchema(database, report);
  if (!server.filled) return;
  await checkRowSecurity(config, database, report);
  await checkSecretKeyOfDatabase(config, database, report);
  await checkMediaFiles(config, database, report);
}

interface ConnectionUsage {
  availableConnections: number;
  runningWorkers: number;
}

function checkConnections(
  { workers, poolSize }: Config,
  { directConnection }: ConnectionOptions,
  { availableConnections, runningWorkers }: ConnectionUsage,
  report: DiagnosticReporter,
): void {
  const configuredWorkers = Math.max(1, workers);

  if (runningWorkers > configuredWorkers) {
    report.warn(
      'Connections',
      `${runningWorkers} workers use the database, but WEB_CONCURRENCY is ${workers} here`,
      'unless they belong to several instances, run fitgraph doctor with the variables of the service: --environment FILE',
    );
  }

  if (directConnection) return report.ok('Connections', 'the workers share those of a pooler');
  const neededConnections =
    Math.max(configuredWorkers, runningWorkers) * maxConnectionsPerWorker(poolSize);
  const message = `${availableConnections} available, up to ${neededConnections} needed`;

  if (neededConnections > availableConnections) {
    report.warn(
      'Connections',
      message,
      'lower DATABASE_POOL or WEB_CONCURRENCY, or raise max_connections',
    );
  } else report.ok('Connections', message);
}

/** Checks the database schema and the required PostgreSQL extensions. */
async function checkSchema(database: Database, report: DiagnosticReporter): Promise<void> {
  const hasMigrationTable =
    (await database.pool.query(`SELECT to_regclass('migration') AS "table"`)).rows[0].table !==
    null;
  const newerMigrations = hasMigrationTable ? await checkSchemaIsSupported(database.pool) : [];
  const isSchemaCurrent = (await readSchemaState(database)) === 'current';
  const maintenanceMigration = await findPendingMaintenanceMigration(database);

  if (maintenanceMigration !== undefined) {
    report.warn(
      'Schema',
      `older than this version; the migration ${maintenanceMigration} needs a maintenance window, so this version does not start`,
      'stop all servers, take a backup and run fitgraph migrate --maintenance',
    );
  } else if (!isSchemaCurrent) {
    report.ok('Schema', 'older than this version; the next start migrates it');
  } else if (newerMigrations.length) {
    report.ok('Schema', `of a newer version that this one supports (${newerMigrations[0]})`);
  } else report.ok('Schema', 'up to date');
  const { rows } = await database.pool.query(
    `SELECT "name" FROM unnest(ARRAY['pg_trgm', 'unaccent']) AS "name"
      WHERE "name" NOT IN (SELECT "name" FROM pg_available_extensions)`,
  );

  if (rows.length) {
    report.fail(
      'Extensions',
      `${rows.map(({ name }) => name).join(', ')} missing`,
      "install PostgreSQL's contrib package",
    );
  }
}

async function checkRowSecurity(
  { rowSecurity }: Config,
  database: Database,
  report: DiagnosticReporter,
): Promise<void> {
  const topic = 'Row security';

  if (rowSecurity === 'off') {
    return report.ok(topic, 'off: only the application restricts which rows a request can read');
  }

  const status =
    (await readSchemaState(database)) === 'current' &&
    (await checkRowSecurityStatus(database.pool));

  if (!status) return;
  const { role, problem, advice, appliesToServer } = status;

  if (problem === undefined) {
    report.ok(topic, `requests use the role ${role}, which can read only the rows of their viewer`);
  } else if (appliesToServer || rowSecurity === 'required') {
    report.fail(topic, problem, `run: ${advice}`);
  } else report.warn(topic, problem, `run: ${advice}`);
}

async function checkSecretKeyOfDatabase(
  { secretKey, dataDir }: Config,
  database: Database,
  report: DiagnosticReporter,
): Promise<void> {
  const key = secretKey ?? readKey(secretKeyPath(dataDir));
  const problem = key && (await findSecretKeyProblem(database, key));

  if (problem) {
    report.fail(
      'Secret key',
      problem,
      'set the key that was used before, or see fitgraph rotate-key',
    );
  }

  const { rows } = await database.pool.query(
    'SELECT EXISTS (SELECT FROM "user_account") AS "some"',
  );

  if (rows[0].some && !key) {
    report.fail(
      'Secret key',
      `${secretKeyPath(dataDir)} is missing`,
      'restore it from a backup (tar -xzOf FILE secret-key)',
    );
  }
}

async function checkMediaFiles(
  config: Config,
  { pool }: Database,
  report: DiagnosticReporter,
): Promise<void> {
  const media = Media.fromConfig(config);

  if (config.bucket) await media.files.checkAccess();
  let [fileCount, missingFileCount] = [0, 0];

  for (const { table, column } of imageColumns()) {
    for (let lastId = 0, hasMore = true; hasMore;) {
      const { rows } = await pool.query(
        `SELECT "id", "${column}" AS "path" FROM "${table}" WHERE "id" > $1 ORDER BY "id"
          LIMIT ${PAGE_SIZE}`,
        [lastId],
      );

      for (let start = 0; start < rows.length; start += MAX_CONCURRENT_FILE_CHECKS) {
        const paths = rows
          .slice(start, start + MAX_CONCURRENT_FILE_CHECKS)
          .map((row) => row.path as string);

        const fileExists = await Promise.all(paths.map((file) => media.exists(file)));

        missingFileCount += fileExists.filter((exists) => !exists).length;
      }

      fileCount += rows.length;
      lastId = rows.at(-1)?.id ?? lastId;
      hasMore = rows.length === PAGE_SIZE;
    }
  }

  if (missingFileCount) {
    report.warn(
      'Files',
      `${missingFileCount} of ${fileCount} images have no file`,
      `restore them from a backup into ${media.files.location}`,
    );
  } else report.ok('Files', `the files of all ${fileCount} images are in ${media.files.location}`);
}
