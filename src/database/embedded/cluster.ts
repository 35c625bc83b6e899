/**
 * The cluster: PostgreSQL's own folder with all databases, its creation, and the server process written down in it.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../platform/config';
import type { Binaries } from './binaries';
import { SERVER_ENV } from './participants';
import { PORT, type Place } from './place';

/** The superuser; the socket is private, so no role needs a password. */
export const SUPERUSER = 'fitgraph';

// PostgreSQL on macOS knows no C.UTF-8 of the system, but has one built in; the rest decides only what a letter is.
const LOCALE =
  process.platform === 'darwin'
    ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--lc-ctype=UTF-8']
    : ['--locale=C.UTF-8'];

/** The major version of its data; undefined where there are none. */
export function clusterMajor(place: Pick<Place, 'cluster'>): string | undefined {
  const mark = path.join(place.cluster, 'PG_VERSION');
  return fs.existsSync(mark) ? fs.readFileSync(mark, 'utf8').trim() : undefined;
}

/** Creates the cluster unless it is there. True when it did. */
export function prepareCluster(place: Place, binaries: Binaries): boolean {
  const major = clusterMajor(place);
  if (major !== undefined) {
    if (major === binaries.major) return false;
    throw new ConfigError(
      `DATA_DIR: the data in ${place.cluster} is of PostgreSQL ${major}, the embedded server is PostgreSQL ${binaries.major}: ` +
        `\`fitgraph upgrade\` moves the data over`,
    );
  }
  if (fs.existsSync(place.cluster) && fs.readdirSync(place.cluster).length > 0) {
    throw new Error(`${place.cluster} is not empty and not a PostgreSQL cluster: choose another DATA_DIR`);
  }
  // An upgrade that was killed between two names: an empty database in the place of the old one would pass for a loss.
  const [former] = fs.readdirSync(place.home).filter((name) => /^postgres\.\d+$/.test(name));
  if (former) {
    const old = path.join(place.home, former);
    throw new ConfigError(
      `DATA_DIR: there is no ${place.cluster}, but ${old}: an upgrade was cut short; rename that one and upgrade again`,
    );
  }
  createCluster(place, binaries);
  return true;
}

/** Under another name first: a cluster whose creation was cut short is never taken for one. */
function createCluster(place: Place, { bin }: Binaries): void {
  for (const name of fs.readdirSync(place.home)) {
    if (name.startsWith('postgres.new-')) fs.rmSync(path.join(place.home, name), { recursive: true, force: true, maxRetries: 3 });
  }
  const draft = `${place.cluster}.new-${randomBytes(4).toString('hex')}`;
  fs.mkdirSync(draft, { mode: 0o700 });
  if (place.owner) fs.chownSync(draft, place.owner.uid, place.owner.gid);
  const made = spawnSync(path.join(bin, 'initdb'), ['-D', draft, '-U', SUPERUSER, '--auth=trust', '-E', 'UTF8', ...LOCALE], {
    encoding: 'utf8',
    cwd: '/',
    env: SERVER_ENV,
    ...place.owner,
  });
  if (made.status !== 0) {
    fs.rmSync(draft, { recursive: true, force: true });
    throw new Error(`the database could not be created in ${place.home}: ${(made.stderr || String(made.error)).trim()}`);
  }
  fs.renameSync(draft, place.cluster);
}

const pidFile = (place: Place): string => path.join(place.cluster, 'postmaster.pid');

function readPid(place: Place): { pid: number; sockets?: string } | undefined {
  try {
    const lines = fs.readFileSync(pidFile(place), 'utf8').split('\n');
    const pid = Number.parseInt(lines[0] ?? '', 10);
    return pid > 0 ? { pid, sockets: lines[4] || undefined } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A process number may have been given to another program since; the command line tells. */
function commandOf(pid: number): string {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    // Null where there is no such program.
    return (stdout as string | null) ?? '';
  }
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** The living server of this cluster, with the directory of its socket if it has one by now. */
export function findServer(place: Place): { pid: number; sockets?: string } | undefined {
  const noted = readPid(place);
  return noted && commandOf(noted.pid).includes(place.cluster) ? noted : undefined;
}

/**
 * Removes what a server killed outright left behind, only to be called when it is known to be gone. PostgreSQL copes with
 * most of it, and its own check for surviving children needs the pid file. But it takes any process that now has the old
 * number for a server; so does it a dead one that nobody collects, hence `stubborn`.
 */
export function clearRemains(place: Place, stubborn: boolean): void {
  for (const name of [`.s.PGSQL.${PORT}`, `.s.PGSQL.${PORT}.lock`]) fs.rmSync(path.join(place.sockets, name), { force: true });
  const noted = readPid(place);
  if (noted && !findServer(place) && (stubborn || commandOf(noted.pid) !== '')) fs.rmSync(pidFile(place), { force: true });
}
