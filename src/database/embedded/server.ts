/**
 * The postmaster (PostgreSQL's main process): its start under a watchdog, its shutdown, and
 * connections of the superuser. The watchdog is a subshell that reads a pipe from the process that
 * started PostgreSQL. When that process ends in any way, the watchdog shuts PostgreSQL down.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { SERVER_ENV, type PostgresBinaries } from './binaries';
import { findRunningServer, findPidOfKilledServer, SUPERUSER } from './cluster';
import { SOCKET_PORT, type ClusterLocation } from './cluster-location';

/** Maximum duration of a start of PostgreSQL, including crash recovery. */
export const START_TIMEOUT_MS = 120_000;

/**
 * Messages in PostgreSQL's log if another postmaster was started first, or backends of a killed one
 * are still running.
 */
const DATA_IN_USE_MESSAGE_PATTERN = /already exists|still in use|Is another postmaster/;

const MAX_LOG_BYTES = 5_000_000;

/**
 * A quarter of the memory, as the manual of PostgreSQL suggests, but at most 1 GB, in megabytes.
 * Indexes of a million foods do not fit into the default of 128 MB.
 */
function sharedBuffersMegabytes(): number {
  const memory = Math.min(os.totalmem(), process.constrainedMemory() || Infinity);

  return Math.min(Math.max(memory / 2 ** 22, 128), 1024);
}

const POSTGRES_SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '300',
  shared_buffers: `${Math.floor(sharedBuffersMegabytes())}MB`,
  // Collects table statistics every few seconds. A new database grows fast, and outdated statistics
  // give foreign-key checks plans for nearly empty tables: with 40,000 rows, an insert of 500 rows
  // took 8 s instead of 0.2 s.
  autovacuum_naptime: '5s',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  // Omits the SQL text of failed statements: clients can cause errors as often as they like, and
  // the text may be long.
  log_min_error_statement: 'panic',
  log_destination: 'stderr',
  log_checkpoints: 'off',
  logging_collector: 'off',
};

/**
 * Exit status if another server has locked the data directory (flock). Unlike postmaster.pid, this
 * lock also works between containers, whose process ids are unrelated. PostgreSQL's processes
 * inherit the lock, so it lasts until the last of them has exited.
 */
const DATA_DIR_LOCKED_EXIT_STATUS = 75;

/**
 * Shell script that starts the watchdog and then becomes the postmaster (`exec`). The nested
 * subshell prevents the watchdog from being a child process of the postmaster. Fitgraph writes a
 * line to the socket when PostgreSQL has exited. If the socket ends without a line, Fitgraph has
 * died, and the watchdog sends SIGINT (fast shutdown). The script itself writes a line when it has
 * locked the data directory.
 */
const START_SCRIPT = `
( ( trap '' INT TERM HUP; read -r line <&3 || kill -INT $$ ) & )
if command -v flock >/dev/null; then exec 4<"$1" && flock -n 4 || exit ${DATA_DIR_LOCKED_EXIT_STATUS}; fi
echo locked >&3
shift
exec "$@" 3<&-
`;

/**
 * Options of superuser connections. The fixed search path prevents the superuser from calling
 * functions that the owner role has created. The lock timeout (10 s) ends the transfer of ownership
 * if an earlier version of Fitgraph is using the tables.
 */
const SUPERUSER_OPTIONS = '-c search_path=pg_catalog -c lock_timeout=10000';

export async function connectAsSuperuser(
  socketFolder: string,
  database: string,
  applicationName?: string,
): Promise<Client> {
  const client = new Client({
    host: socketFolder,
    port: SOCKET_PORT,
    user: SUPERUSER,
    database,
    ssl: false,
    application_name: applicationName,
    options: SUPERUSER_OPTIONS,
    connectionTimeoutMillis: 2_000,
  });

  // Without a listener, the error event of a lost connection would crash the process.
  client.on('error', () => {});

  try {
    await client.connect();
    return client;
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
}

/** Whether no server listens on the socket, or the socket does not exist. */
export const isNotListeningError = (error: unknown): boolean =>
  ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes((error as { code?: string }).code ?? '');

/** PostgreSQL error codes admin_shutdown, crash_shutdown and cannot_connect_now. */
const STARTING_OR_STOPPING_CODE_PATTERN = /^57P0[1-3]$/;

/**
 * Whether retrying is useless: PostgreSQL responded with an error although it is neither starting
 * nor stopping.
 */
export const isPermanentRejection = (error: unknown): boolean =>
  error instanceof DatabaseError && !STARTING_OR_STOPPING_CODE_PATTERN.test(error.code ?? '');

/** Last lines of a log file after the byte position `startOffset`, for an error message. */
export function lastLogLines(file: string, startOffset = 0): string {
  if (!fs.existsSync(file)) return '';
  const text = fs.readFileSync(file).subarray(startOffset).toString('utf8');

  return text.trim().split('\n').slice(-8).join('\n');
}

const fileSizeOf = (file: string): number =>
  fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Copies PostgreSQL's log file to `<log>.old` and truncates it, if it exceeds MAX_LOG_BYTES.
 * Renaming would not help, because the running server keeps the file open. Never throws: if the
 * copy fails, for example on a full disk, the old lines are lost.
 */
export function rotateLogInPlace({ logFile }: Pick<ClusterLocation, 'logFile'>): void {
  try {
    if (fileSizeOf(logFile) <= MAX_LOG_BYTES) return;

    try {
      fs.copyFileSync(logFile, `${logFile}.old`);
    } finally {
      fs.truncateSync(logFile);
    }
  } catch {
    // Ignores errors, because the next call tries again.
  }
}

function openLogFile(location: ClusterLocation): number {
  if (fileSizeOf(location.logFile) > MAX_LOG_BYTES) {
    fs.renameSync(location.logFile, `${location.logFile}.old`);
  }

  const logFileDescriptor = fs.openSync(location.logFile, 'a', 0o600);

  if (location.serverUser) {
    fs.fchownSync(logFileDescriptor, location.serverUser.uid, location.serverUser.gid);
  }

  return logFileDescriptor;
}

/** Returns when the new process has locked the data directory or has exited. */
async function spawnServer(
  location: ClusterLocation,
  { binFolder }: PostgresBinaries,
): Promise<ChildProcess> {
  // Quotes the path, because unix_socket_directories is a comma-separated list.
  const quotedSocketFolder = `"${location.socketFolder.replaceAll('"', '""')}"`;
  const settingArguments = Object.entries({
    ...POSTGRES_SETTINGS,
    port: SOCKET_PORT,
    unix_socket_directories: quotedSocketFolder,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

  // A killed server leaves the lock file of its socket behind. Removing it is safe, because no
  // other cluster uses the folder.
  fs.rmSync(path.join(location.socketFolder, `.s.PGSQL.${SOCKET_PORT}.lock`), { force: true });
  const logFileDescriptor = openLogFile(location);
  const command = [
    path.join(binFolder, 'postgres'),
    '-D',
    location.clusterFolder,
    ...settingArguments,
  ];
  const postgresProcess = spawn(
    '/bin/sh',
    ['-c', START_SCRIPT, 'fitgraph-postgres', location.clusterFolder, ...command],
    {
      // Uses a session of its own (setsid), so that Ctrl-C in the terminal does not reach
      // PostgreSQL.
      detached: true,
      stdio: ['ignore', logFileDescriptor, logFileDescriptor, 'pipe'],
      cwd: '/',
      // PostgreSQL refuses to start if another program now has the process id in a leftover
      // postmaster.pid. It ignores the id in PG_GRANDPARENT_PID, a variable that pg_ctl sets, too.
      env: { ...SERVER_ENV, PG_GRANDPARENT_PID: findPidOfKilledServer(location)?.toString() },
      uid: location.serverUser?.uid,
      gid: location.serverUser?.gid,
    },
  );

  fs.closeSync(logFileDescriptor);
  await new Promise((resolve, reject) =>
    postgresProcess.once('spawn', resolve).once('error', reject),
  );
  const watchdogSocket = postgresProcess.stdio[3] as Socket;

  watchdogSocket.on('error', () => undefined);
  // Without the watchdog, the server could outlive this process.
  watchdogSocket.on('close', () => postgresProcess.kill('SIGINT'));
  postgresProcess.once('exit', () => watchdogSocket.end('ended\n'));
  // In containers, this process may have the same id as the one that another container has recorded
  // in postmaster.pid. Only the lock tells which of them owns the data directory.
  await new Promise((resolve) => {
    watchdogSocket.once('data', resolve);
    postgresProcess.once('exit', resolve);
  });
  postgresProcess.unref();
  watchdogSocket.unref();
  return postgresProcess;
}

export const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/**
 * Starts PostgreSQL and waits until it accepts connections. Returns undefined if another
 * postmaster, or a backend of a killed one, uses the data; the new postmaster then exits by itself.
 */
export async function startServer(
  location: ClusterLocation,
  binaries: PostgresBinaries,
): Promise<ChildProcess | undefined> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  const logSize = fileSizeOf(location.logFile);
  const postgresProcess = await spawnServer(location, binaries);

  while (isRunning(postgresProcess)) {
    const server = findRunningServer(location);

    if (server?.pid === postgresProcess.pid && server?.isServerReady) return postgresProcess;
    if (Date.now() > deadline) await stopServer(postgresProcess);
    await sleep(5);
  }

  const newLogLines = lastLogLines(location.logFile, logSize);

  if (
    postgresProcess.exitCode === DATA_DIR_LOCKED_EXIT_STATUS ||
    findRunningServer(location) ||
    DATA_IN_USE_MESSAGE_PATTERN.test(newLogLines)
  ) {
    return undefined;
  }

  throw new Error(
    `PostgreSQL did not start (${postgresProcess.signalCode ?? `exit status ${postgresProcess.exitCode}`}); the end of ${location.logFile}:\n${newLogLines}`,
  );
}

/**
 * Shuts PostgreSQL down and waits for its exit. If Fitgraph is process 1 of a container, its exit
 * kills all other processes, so PostgreSQL must stop first.
 */
export async function stopServer(postgresProcess: ChildProcess): Promise<void> {
  if (!isRunning(postgresProcess)) return;
  postgresProcess.ref();
  const processExit = new Promise((resolve) => postgresProcess.once('exit', resolve));

  postgresProcess.kill('SIGINT');
  await processExit;
}
