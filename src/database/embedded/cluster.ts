/**
 * The database cluster (PostgreSQL's data directory): its creation, its version, and the server
 * process recorded in it.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../shared/config';
import { SERVER_ENV, type PostgresBinaries } from './binaries';
import type { ClusterLocation } from './cluster-location';

/**
 * Name of the cluster's superuser. It needs no password, because only the operating-system user
 * that runs the server can access the socket.
 */
export const SUPERUSER = 'fitgraph';

// macOS has no system locale C.UTF-8, so PostgreSQL's built-in one is used. `--lc-ctype` is a
// system locale even then: the extension pg_trgm recognizes letters outside of ASCII by it.
const INITDB_LOCALE_OPTIONS =
  process.platform === 'darwin'
    ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--lc-ctype=UTF-8']
    : ['--locale=C.UTF-8'];

/** Prefix of the temporary names of clusters that are being created. */
const UNFINISHED_CLUSTER_PREFIX = 'postgres.new-';

/**
 * Indices of lines in postmaster.pid
 * (https://www.postgresql.org/docs/current/storage-file-layout.html).
 */
const PID_LINE = 0;
const SOCKET_FOLDER_LINE = 4;
const STATUS_LINE = 7;

export function majorVersionOfCluster(
  location: Pick<ClusterLocation, 'clusterFolder'>,
): string | undefined {
  const versionFile = path.join(location.clusterFolder, 'PG_VERSION');

  return fs.existsSync(versionFile) ? fs.readFileSync(versionFile, 'utf8').trim() : undefined;
}

/** Creates the database cluster if it does not exist. Returns whether it was created. */
export function ensureCluster(location: ClusterLocation, binaries: PostgresBinaries): boolean {
  // Lists the folder before reading the version: otherwise a cluster that another process creates
  // in between would be mistaken for foreign files.
  const existingFileNames = fs.existsSync(location.clusterFolder)
    ? fs.readdirSync(location.clusterFolder)
    : [];
  const majorVersion = majorVersionOfCluster(location);

  if (majorVersion !== undefined) {
    if (majorVersion === binaries.majorVersion) return false;
    throw new ConfigError(
      `DATA_DIR: the data in ${location.clusterFolder} is of PostgreSQL ${majorVersion}, but the embedded server is PostgreSQL ${binaries.majorVersion}: ` +
        `back it up with the release that ran PostgreSQL ${majorVersion}, and restore the backup into another DATA_DIR with this one`,
    );
  }

  if (existingFileNames.length > 0) {
    throw new Error(
      `${location.clusterFolder} is not empty and not a PostgreSQL cluster: choose another DATA_DIR`,
    );
  }

  // If only the cluster of an old version exists, an upgrade was interrupted between its two
  // renames. Creating an empty database would look like data loss.
  const [oldFolderName] = fs
    .readdirSync(location.parentFolder)
    .filter((name) => /^postgres\.\d+$/.test(name));

  if (oldFolderName) {
    const oldClusterFolder = path.join(location.parentFolder, oldFolderName);

    throw new ConfigError(
      `DATA_DIR: ${location.clusterFolder} does not exist, but ${oldClusterFolder} does: an earlier release was interrupted while it upgraded the database. Rename ${oldClusterFolder} to ${location.clusterFolder}`,
    );
  }

  return createCluster(location, binaries);
}

/**
 * Removes unfinished clusters. Call this only while the server is running, because before that
 * another process may be creating one.
 */
export function removeUnfinishedClusters(location: ClusterLocation): void {
  for (const name of fs.readdirSync(location.parentFolder)) {
    if (name.startsWith(UNFINISHED_CLUSTER_PREFIX)) {
      fs.rmSync(path.join(location.parentFolder, name), {
        recursive: true,
        force: true,
        maxRetries: 3,
      });
    }
  }
}

/**
 * Creates the cluster under a temporary name, so that an interrupted creation is never used.
 * Returns false if another process was faster.
 */
function createCluster(location: ClusterLocation, { binFolder }: PostgresBinaries): boolean {
  const temporaryName = `${UNFINISHED_CLUSTER_PREFIX}${randomBytes(4).toString('hex')}`;
  const temporaryFolder = path.join(location.parentFolder, temporaryName);

  fs.mkdirSync(temporaryFolder, { mode: 0o700 });

  if (location.serverUser) {
    fs.chownSync(temporaryFolder, location.serverUser.uid, location.serverUser.gid);
  }

  const initdbResult = spawnSync(
    path.join(binFolder, 'initdb'),
    [
      '-D',
      temporaryFolder,
      '-U',
      SUPERUSER,
      '--auth=trust',
      '-E',
      'UTF8',
      ...INITDB_LOCALE_OPTIONS,
    ],
    { encoding: 'utf8', cwd: '/', env: SERVER_ENV, ...location.serverUser },
  );

  try {
    if (initdbResult.status !== 0) {
      throw new Error(
        `the database could not be created in ${location.parentFolder}: ${(initdbResult.stderr || String(initdbResult.error)).trim()}`,
      );
    }

    fs.renameSync(temporaryFolder, location.clusterFolder);
    return true;
  } catch (error) {
    fs.rmSync(temporaryFolder, { recursive: true, force: true, maxRetries: 3 });
    if (majorVersionOfCluster(location) === undefined) throw error;

    return false;
  }
}

/** A server as recorded in postmaster.pid. */
interface RecordedServer {
  pid: number;

  /** Folder of the server's socket. Absent until the server has written it to postmaster.pid. */
  socketFolder?: string;
  isServerReady: boolean;
}

/** Reads postmaster.pid. The recorded server may have been killed. */
function readPidFile(location: ClusterLocation): RecordedServer | undefined {
  try {
    const lines = fs
      .readFileSync(path.join(location.clusterFolder, 'postmaster.pid'), 'utf8')
      .split('\n');
    const pid = Number.parseInt(lines[PID_LINE] ?? '', 10);

    if (!(pid > 0)) return undefined;

    return {
      pid,
      socketFolder: lines[SOCKET_FOLDER_LINE] || undefined,
      isServerReady: /^(?:ready|standby)/.test(lines[STATUS_LINE] ?? ''),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Command line of a process, empty if the process has ended. Throws if it cannot be read; the
 * process may then still be running.
 */
function commandLineOf(pid: number): string {
  if (process.platform !== 'linux') {
    const { stdout, error } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
    });

    if (error) throw error;

    return stdout;
  }

  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

/**
 * Whether the process is the postmaster of this cluster. Another program may have got the process
 * id of a killed postmaster.
 */
const isServerProcess = (location: ClusterLocation, { pid }: RecordedServer): boolean =>
  commandLineOf(pid).includes(location.clusterFolder);

/** Finds the running server of the cluster, whichever process has started it. */
export function findRunningServer(location: ClusterLocation): RecordedServer | undefined {
  const pidFile = readPidFile(location);

  return pidFile && isServerProcess(location, pidFile) ? pidFile : undefined;
}

/** Finds the process id that a killed server has left behind in postmaster.pid. */
export function findPidOfKilledServer(location: ClusterLocation): number | undefined {
  const pidFile = readPidFile(location);

  return pidFile && !isServerProcess(location, pidFile) ? pidFile.pid : undefined;
}
