/** The database cluster (PostgreSQL's data directory): creation, version, and the server process recorded in it. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../platform/config';
import { SERVER_ENV, type Binaries } from './binaries';
import type { Place } from './place';

/** The superuser; the socket is private, so no role needs a password. */
export const SUPERUSER = 'fitgraph';

// PostgreSQL on macOS knows no C.UTF-8 of the system, but has one built in; the rest decides only what a letter is.
const LOCALE =
  process.platform === 'darwin'
    ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--lc-ctype=UTF-8']
    : ['--locale=C.UTF-8'];

/** Major version of the data; undefined if there are none. */
export function clusterMajor(place: Pick<Place, 'cluster'>): string | undefined {
  const mark = path.join(place.cluster, 'PG_VERSION');
  return fs.existsSync(mark) ? fs.readFileSync(mark, 'utf8').trim() : undefined;
}

/** Creates the cluster if it does not exist; returns whether it did. */
export function prepareCluster(place: Place, binaries: Binaries): boolean {
  // Listed before the version is read: another process may create the cluster meanwhile.
  const names = fs.existsSync(place.cluster) ? fs.readdirSync(place.cluster) : [];
  const major = clusterMajor(place);
  if (major !== undefined) {
    if (major === binaries.major) return false;
    throw new ConfigError(
      `DATA_DIR: the data in ${place.cluster} is of PostgreSQL ${major}, but the embedded server is PostgreSQL ${binaries.major}: ` +
        `run \`fitgraph upgrade\``,
    );
  }
  if (names.length > 0) {
    throw new Error(`${place.cluster} is not empty and not a PostgreSQL cluster: choose another DATA_DIR`);
  }
  // An upgrade was killed between its two renames. Creating an empty database here would look like data loss.
  const [former] = fs.readdirSync(place.home).filter((name) => /^postgres\.\d+$/.test(name));
  if (former) {
    const old = path.join(place.home, former);
    throw new ConfigError(
      `DATA_DIR: ${place.cluster} does not exist, but ${old} does: an upgrade was interrupted. Rename ${old} to ${place.cluster} and upgrade again`,
    );
  }
  return createCluster(place, binaries);
}

/** Removes unfinished clusters. Only for the owner of a running server: other processes may be creating a cluster before. */
export function clearDrafts(place: Place): void {
  for (const name of fs.readdirSync(place.home)) {
    if (name.startsWith('postgres.new-')) fs.rmSync(path.join(place.home, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Creates it under a temporary name, so that an interrupted creation is never used. Returns false if another process was faster. */
function createCluster(place: Place, { bin }: Binaries): boolean {
  const draft = `${place.cluster}.new-${randomBytes(4).toString('hex')}`;
  fs.mkdirSync(draft, { mode: 0o700 });
  if (place.owner) fs.chownSync(draft, place.owner.uid, place.owner.gid);
  const made = spawnSync(path.join(bin, 'initdb'), ['-D', draft, '-U', SUPERUSER, '--auth=trust', '-E', 'UTF8', ...LOCALE], {
    encoding: 'utf8',
    cwd: '/',
    env: SERVER_ENV,
    ...place.owner,
  });
  try {
    if (made.status !== 0)
      throw new Error(`the database could not be created in ${place.home}: ${(made.stderr || String(made.error)).trim()}`);
    fs.renameSync(draft, place.cluster);
    return true;
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true, maxRetries: 3 });
    if (clusterMajor(place) === undefined) throw error;
    return false;
  }
}

interface Noted {
  pid: number;
  /** Directory of the socket, once it exists. */
  sockets?: string;
  isReady: boolean;
}

/** https://www.postgresql.org/docs/current/storage-file-layout.html: postmaster.pid */
function readPidFile(place: Place): Noted | undefined {
  try {
    const lines = fs.readFileSync(path.join(place.cluster, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number.parseInt(lines[0] ?? '', 10);
    return pid > 0 ? { pid, sockets: lines[4] || undefined, isReady: /^(?:ready|standby)/.test(lines[7] ?? '') } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Command line of a process; empty if it has ended. Throws on other failures, which do not prove the end of a server. */
function commandOf(pid: number): string {
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

/** Whether the process is a postmaster of this cluster. The id may have been reused by another program. */
const isServer = (place: Place, { pid }: Noted): boolean => commandOf(pid).includes(place.cluster);

export function findServer(place: Place): Noted | undefined {
  const noted = readPidFile(place);
  return noted && isServer(place, noted) ? noted : undefined;
}

/** Process id in a stale postmaster.pid of a killed server. */
export function findStalePid(place: Place): number | undefined {
  const noted = readPidFile(place);
  return noted && !isServer(place, noted) ? noted.pid : undefined;
}
