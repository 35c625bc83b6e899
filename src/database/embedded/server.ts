/**
 * The postmaster (PostgreSQL's main process): its start under a watchdog, its shutdown, and connections of the superuser.
 *
 * If several processes start PostgreSQL at the same time, its own lock file, postmaster.pid, lets only one succeed. The watchdog is a subshell that reads a
 * pipe from the process that started the server. When that process ends in any way, the pipe ends, and the watchdog shuts PostgreSQL down.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { SERVER_ENV, type PostgresBinaries } from './binaries';
import { findRunningServer, findPidOfKilledServer, SUPERUSER } from './cluster';
import { SOCKET_PORT, type ClusterLocation } from './clusterlocation';

/** Maximum duration of a start including crash recovery. */
export const START_TIMEOUT_MS = 120_000;

/** PostgreSQL's messages if another postmaster was started first, or if backends of a killed postmaster are still running. */
const DATA_IN_USE_MESSAGE_PATTERN = /already exists|still in use|Is another postmaster/;

const MAX_LOG_BYTES = 5_000_000;

/**
 * Settings of the server. Statistics of tables are collected every few seconds instead of once a minute, because a new database grows fast. With
 * outdated statistics, foreign-key checks use plans made for nearly empty tables, which read all rows of the table or user: with 40,000 rows, an insert
 * of 500 rows took 8 s instead of 0.2 s.
 */
const POSTGRES_SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '300',
  shared_buffers: '128MB',
  autovacuum_naptime: '5s',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  // The SQL text of failed statements is not logged: clients can cause errors as often as they like, and the text may be long.
  log_min_error_statement: 'panic',
  log_destination: 'stderr',
  log_checkpoints: 'off',
  logging_collector: 'off',
};

/**
 * Exit status of the start script if another server has locked the data directory. The file postmaster.pid does not exclude servers in different
 * containers, whose process ids are unrelated: two of them could run on the same data. A kernel lock (flock) on the directory excludes them.
 * PostgreSQL's processes inherit it from the start script.
 */
const DATA_DIR_LOCKED_EXIT_STATUS = 75;

/**
 * Shell script that starts the watchdog and then becomes the postmaster (`exec`). Because of the inner parentheses, the watchdog is not a child
 * process of the postmaster, which would log the exit of such a child. The watchdog reads a pipe from the process that runs the script. It sends
 * SIGINT (fast shutdown) to the postmaster if the pipe ends without a line; a line means that the postmaster has already stopped.
 */
const START_SCRIPT = `
( ( trap '' INT TERM HUP; read -r line <&3 || kill -INT $$ ) & )
if command -v flock >/dev/null; then exec 4<"$1" && flock -n 4 || exit ${DATA_DIR_LOCKED_EXIT_STATUS}; fi
shift
exec "$@" 3<&-
`;

/** Options of superuser connections. The fixed search path prevents the superuser from calling functions that the database's owner has created. */
const SUPERUSER_OPTIONS = '-c search_path=pg_catalog -c lock_timeout=10000';

export async function connectAsSuperuser(
  host: string,
  database: string,
  applicationName?: string,
): Promise<Client> {
  const client = new Client({
    host,
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

export const isNotListeningError = (error: unknown): boolean =>
  ['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes((error as { code?: string }).code ?? '');

/** Whether the server rejected the connection although it is neither starting nor stopping, so that retrying is useless. */
export const isPermanentRejection = (error: unknown): boolean =>
  error instanceof DatabaseError && !/^57P0[1-3]$/.test(error.code ?? '');

/** Returns the last lines of a log file after the byte position `startOffset`, for an error message. */
export function lastLogLines(file: string, startOffset = 0): string {
  if (!fs.existsSync(file)) return '';
  const text = fs.readFileSync(file).subarray(startOffset).toString('utf8');
  return text.trim().split('\n').slice(-8).join('\n');
}

const fileSizeOf = (file: string): number =>
  fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Truncates PostgreSQL's log file if it exceeds MAX_LOG_BYTES, after copying it to `<log>.old`. It is truncated in place, because the running server keeps
 * it open for appending. Never throws: if the copy fails, for example on a full disk, the old lines are lost.
 */
export function truncateLog({ logFile }: Pick<ClusterLocation, 'logFile'>): void {
  try {
    if (fileSizeOf(logFile) <= MAX_LOG_BYTES) return;
    try {
      fs.copyFileSync(logFile, `${logFile}.old`);
    } finally {
      fs.truncateSync(logFile);
    }
  } catch {
    // Errors are ignored, because the next call tries again.
  }
}

function openLogFile(location: ClusterLocation): number {
  if (fileSizeOf(location.logFile) > MAX_LOG_BYTES)
    fs.renameSync(location.logFile, `${location.logFile}.old`);
  const logFileDescriptor = fs.openSync(location.logFile, 'a', 0o600);
  if (location.serverUser)
    fs.fchownSync(logFileDescriptor, location.serverUser.uid, location.serverUser.gid);
  return logFileDescriptor;
}

async function spawnServer(
  location: ClusterLocation,
  { binFolder }: PostgresBinaries,
): Promise<ChildProcess> {
  // The setting unix_socket_directories is a comma-separated list. The path is quoted, because it may contain a comma.
  const quotedSocketFolder = `"${location.socketFolder.replaceAll('"', '""')}"`;
  const settingArguments = Object.entries({
    ...POSTGRES_SETTINGS,
    port: SOCKET_PORT,
    unix_socket_directories: quotedSocketFolder,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A killed server leaves the lock file of its socket behind. Removing it is safe, because no other cluster uses the folder.
  fs.rmSync(path.join(location.socketFolder, `.s.PGSQL.${SOCKET_PORT}.lock`), { force: true });
  const logFileDescriptor = openLogFile(location);
  const command = [
    path.join(binFolder, 'postgres'),
    '-D',
    location.clusterFolder,
    ...settingArguments,
  ];
  const child = spawn(
    '/bin/sh',
    ['-c', START_SCRIPT, 'fitgraph-postgres', location.clusterFolder, ...command],
    {
      // Starts PostgreSQL in a session of its own (setsid), so that Ctrl-C in the terminal does not reach PostgreSQL.
      detached: true,
      stdio: ['ignore', logFileDescriptor, logFileDescriptor, 'pipe'],
      cwd: '/',
      // If a process has the id that is in a leftover lock file, PostgreSQL takes it for a running server, unless PG_GRANDPARENT_PID is that id.
      // (pg_ctl sets this variable, too.)
      env: { ...SERVER_ENV, PG_GRANDPARENT_PID: findPidOfKilledServer(location)?.toString() },
      uid: location.serverUser?.uid,
      gid: location.serverUser?.gid,
    },
  );
  fs.closeSync(logFileDescriptor);
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  child.unref();
  const watchdogSocket = child.stdio[3] as Socket;
  watchdogSocket.on('error', () => undefined);
  // Stops the server if the watchdog has ended: without it, the server could outlive this process.
  watchdogSocket.on('close', () => child.kill('SIGINT'));
  watchdogSocket.resume().unref();
  child.once('exit', () => watchdogSocket.end('ended\n'));
  return child;
}

export const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/** Starts PostgreSQL and resolves when it accepts connections. Returns undefined if another postmaster, or a backend of a killed one, uses the data. */
export async function startServer(
  location: ClusterLocation,
  binaries: PostgresBinaries,
): Promise<ChildProcess | undefined> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  const logSize = fileSizeOf(location.logFile);
  const child = await spawnServer(location, binaries);
  while (isRunning(child)) {
    const server = findRunningServer(location);
    if (server?.pid === child.pid && server?.isServerReady) return child;
    if (Date.now() > deadline) await stopServer(child);
    await sleep(5);
  }
  const newLogLines = lastLogLines(location.logFile, logSize);
  if (
    child.exitCode === DATA_DIR_LOCKED_EXIT_STATUS ||
    findRunningServer(location) ||
    DATA_IN_USE_MESSAGE_PATTERN.test(newLogLines)
  )
    return undefined;
  throw new Error(
    `PostgreSQL did not start (${child.signalCode ?? `exit status ${child.exitCode}`}); the end of ${location.logFile}:\n${newLogLines}`,
  );
}

/**
 * Shuts PostgreSQL down and waits for its exit: if this process is the first one of a container, its exit kills all others, so PostgreSQL must stop first.
 */
export async function stopServer(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  child.ref();
  const processExit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  await processExit;
}
