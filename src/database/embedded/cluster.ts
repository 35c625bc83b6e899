/** The database cluster (PostgreSQL's data directory): creation, version, and the server process recorded in it. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../platform/config';
import { SERVER_ENV, type Binaries } from './binaries';
import type { ClusterLocation } from './clusterlocation';

/** Name of the cluster's superuser. It needs no password, because only the server's user can access the socket. */
export const SUPERUSER = 'fitgraph';

// Uses PostgreSQL's built-in locale on macOS, which has no system locale C.UTF-8. `--lc-ctype` then only determines which characters are letters.
const INITDB_LOCALE_OPTIONS =
  process.platform === 'darwin'
    ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--lc-ctype=UTF-8']
    : ['--locale=C.UTF-8'];

/** Returns the PostgreSQL major version of the cluster; undefined if it does not exist. */
export function majorVersionOfCluster(place: Pick<ClusterLocation, 'cluster'>): string | undefined {
  const versionFile = path.join(place.cluster, 'PG_VERSION');
  return fs.existsSync(versionFile) ? fs.readFileSync(versionFile, 'utf8').trim() : undefined;
}

/** Creates the cluster if it does not exist. Returns whether it was created. */
export function ensureCluster(place: ClusterLocation, binaries: Binaries): boolean {
  // Lists the folder before reading the version: otherwise a cluster that another process creates in between would be mistaken for foreign files.
  const names = fs.existsSync(place.cluster) ? fs.readdirSync(place.cluster) : [];
  const major = majorVersionOfCluster(place);
  if (major !== undefined) {
    if (major === binaries.majorVersion) return false;
    throw new ConfigError(
      `DATA_DIR: the data in ${place.cluster} is of PostgreSQL ${major}, but the embedded server is PostgreSQL ${binaries.majorVersion}: ` +
        `run \`fitgraph upgrade\``,
    );
  }
  if (names.length > 0) {
    throw new Error(`${place.cluster} is not empty and not a PostgreSQL cluster: choose another DATA_DIR`);
  }
  // If only the cluster of an old version exists, an upgrade was interrupted between its two renames. Creating an empty database would look like data
  // loss.
  const [oldName] = fs.readdirSync(place.parentFolder).filter((name) => /^postgres\.\d+$/.test(name));
  if (oldName) {
    const old = path.join(place.parentFolder, oldName);
    throw new ConfigError(
      `DATA_DIR: ${place.cluster} does not exist, but ${old} does: an upgrade was interrupted. Rename ${old} to ${place.cluster} and upgrade again`,
    );
  }
  return createCluster(place, binaries);
}

/** Removes unfinished clusters. Call this only while the server is running, because before that another process may be creating a cluster. */
export function removeUnfinishedClusters(place: ClusterLocation): void {
  for (const name of fs.readdirSync(place.parentFolder)) {
    if (name.startsWith('postgres.new-')) fs.rmSync(path.join(place.parentFolder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Creates the cluster under a temporary name, so that an interrupted creation is never used. Returns false if another process was faster. */
function createCluster(place: ClusterLocation, { bin }: Binaries): boolean {
  const draft = `${place.cluster}.new-${randomBytes(4).toString('hex')}`;
  fs.mkdirSync(draft, { mode: 0o700 });
  if (place.serverUser) fs.chownSync(draft, place.serverUser.uid, place.serverUser.gid);
  const initdb = spawnSync(
    path.join(bin, 'initdb'),
    ['-D', draft, '-U', SUPERUSER, '--auth=trust', '-E', 'UTF8', ...INITDB_LOCALE_OPTIONS],
    { encoding: 'utf8', cwd: '/', env: SERVER_ENV, ...place.serverUser },
  );
  try {
    if (initdb.status !== 0)
      throw new Error(`the database could not be created in ${place.parentFolder}: ${(initdb.stderr || String(initdb.error)).trim()}`);
    fs.renameSync(draft, place.cluster);
    return true;
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true, maxRetries: 3 });
    if (majorVersionOfCluster(place) === undefined) throw error;
    return false;
  }
}

interface PidFile {
  pid: number;
  /** Folder of the server's socket; absent until the server has written it to the file. */
  socketFolder?: string;
  isReady: boolean;
}

/** Reads postmaster.pid (https://www.postgresql.org/docs/current/storage-file-layout.html); undefined if the file does not exist. */
function readPidFile(place: ClusterLocation): PidFile | undefined {
  try {
    const lines = fs.readFileSync(path.join(place.cluster, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number.parseInt(lines[0] ?? '', 10);
    return pid > 0 ? { pid, socketFolder: lines[4] || undefined, isReady: /^(?:ready|standby)/.test(lines[7] ?? '') } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the command line of a process; an empty string if the process has ended. Throws on other failures, after which the process may still exist. */
function commandLineOf(pid: number): string {
  if (process.platform !== 'linux') {
    const { stdout, error } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
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

/** Whether the process is the postmaster of this cluster. It is not if the postmaster was killed and another program now has its process id. */
const isServer = (place: ClusterLocation, { pid }: PidFile): boolean => commandLineOf(pid).includes(place.cluster);

/** Returns the running server of the cluster, whichever process has started it. */
export function findRunningServer(place: ClusterLocation): PidFile | undefined {
  const pidFile = readPidFile(place);
  return pidFile && isServer(place, pidFile) ? pidFile : undefined;
}

/** Returns the process id in postmaster.pid if the server was killed and has left the file behind. */
export function findPidOfKilledServer(place: ClusterLocation): number | undefined {
  const pidFile = readPidFile(place);
  return pidFile && !isServer(place, pidFile) ? pidFile.pid : undefined;
}
