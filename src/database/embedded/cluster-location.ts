/**
 * Location and operating-system user of the embedded database. PostgreSQL refuses to run as root: a
 * root process starts it as the user to whom the data folder belongs, or else as `postgres` or
 * `nobody`. If that user cannot enter the data folder, the cluster is stored elsewhere.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ConfigError } from '../../shared/config';
import { createFolder } from '../../shared/folders';
import { checkDataDir } from '../data-dir';

export interface SystemUser {
  uid: number;
  gid: number;
}

export interface ClusterLocation {
  dataDir: string;

  /**
   * Parent folder of the cluster: the data folder, or a fallback that PostgreSQL's user can enter.
   */
  parentFolder: string;
  clusterFolder: string;

  /** Folder of the Unix socket, which only the user that runs PostgreSQL can enter. */
  socketFolder: string;
  logFile: string;

  /** Operating-system user that runs PostgreSQL, if it is not the user of this process. */
  serverUser?: SystemUser;
}

/** Port number in the name of the Unix socket. The server listens on no TCP port. */
export const SOCKET_PORT = 5432;

/** Maximum length of the path of a Unix socket. Linux permits 107 bytes, macOS 103. */
const MAX_SOCKET_PATH_BYTES = 99;

const isRoot = (): boolean => process.getuid?.() === 0;
const shortHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);

/**
 * Creates the data folder if necessary. Returns its real path, so that all processes agree on it.
 */
export function ensureDataDir(dataDir: string): string {
  checkDataDir(dataDir);

  try {
    createFolder(path.resolve(dataDir, '..'));
    createFolder(dataDir, 0o700);
    const realPath = fs.realpathSync(dataDir);

    // PostgreSQL's user must be able to pass through a folder of root, but not to list it.
    fs.chmodSync(realPath, isRoot() && fs.statSync(realPath).uid === 0 ? 0o711 : 0o700);
    return realPath;
  } catch (error) {
    throw new ConfigError(`DATA_DIR: ${dataDir} cannot be used: ${(error as Error).message}`);
  }
}

/**
 * Creates a folder that only `folderOwner` (default: the user of this process) can enter. Rejects
 * an existing folder of another user.
 */
function createPrivateFolder(folder: string, folderOwner?: SystemUser): string {
  createFolder(folder, 0o700);
  const uid = folderOwner?.uid ?? process.getuid?.();
  const stats = fs.lstatSync(folder);

  if (!stats.isDirectory() || (stats.uid !== uid && stats.uid !== process.getuid?.())) {
    throw new Error(`${folder} belongs to another user; remove it or choose another DATA_DIR`);
  }

  if (folderOwner) fs.chownSync(folder, folderOwner.uid, folderOwner.gid);
  fs.chmodSync(folder, 0o700);
  return folder;
}

/** Looks up the ids of an operating-system user. */
function lookUpSystemUser(name: string): SystemUser | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10),
  );

  return uid && gid ? { uid, gid } : undefined;
}

/**
 * User that runs PostgreSQL if this process is root: the user to whom the data belongs, or else an
 * unprivileged user.
 */
function chooseServerUser(dataDir: string, clusterFolder: string): SystemUser {
  for (const folder of [clusterFolder, dataDir]) {
    const { uid, gid } = fs.existsSync(folder) ? fs.statSync(folder) : { uid: 0, gid: 0 };

    if (uid !== 0) return { uid, gid };
  }

  const account = lookUpSystemUser('postgres') ?? lookUpSystemUser('nobody');

  if (account) return account;
  throw new Error(
    'PostgreSQL does not run as root, and neither the user "postgres" nor "nobody" exists: run as another user or set DATABASE_URL',
  );
}

/**
 * Tests by a child process whether the user can enter the folder, which depends on the permissions
 * of all parent folders.
 */
export function canEnterFolder(folder: string, user: SystemUser): boolean {
  return (
    spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/', stdio: 'ignore' })
      .status === 0
  );
}

/**
 * Creates a parent folder for the cluster outside of the data folder, and stores its path in the
 * file `location`.
 */
function createFallbackFolder(
  dataDir: string,
  serverUser: SystemUser,
  log: (message: string) => void,
): string {
  const parentFolder = `/var/lib/fitgraph-${shortHash(dataDir)}`;

  createPrivateFolder(parentFolder, serverUser);

  if (!canEnterFolder(parentFolder, serverUser)) {
    throw new Error(
      `user id ${serverUser.uid} can access neither DATA_DIR ${dataDir} nor ${parentFolder}`,
    );
  }

  fs.writeFileSync(path.join(dataDir, 'location'), `${parentFolder}\n`);
  log(
    `User id ${serverUser.uid}, which runs PostgreSQL, cannot access DATA_DIR ${dataDir}: the database is stored in ${parentFolder}`,
  );

  return parentFolder;
}

/**
 * Creates a folder for the Unix socket: the first candidate in which the path of the socket is
 * short enough.
 */
function createSocketFolder(parentFolder: string, serverUser?: SystemUser): string {
  const name = `fitgraph-${shortHash(parentFolder)}`;

  for (const folder of [
    path.join(parentFolder, 'socket'),
    path.join(os.tmpdir(), name),
    path.join('/tmp', name),
  ]) {
    if (Buffer.byteLength(path.join(folder, `.s.PGSQL.${SOCKET_PORT}`)) <= MAX_SOCKET_PATH_BYTES) {
      return createPrivateFolder(folder, serverUser);
    }
  }

  throw new Error(`no folder has a path short enough for a socket: ${parentFolder}`);
}

/**
 * Determines the location of the database and creates its folders. `dataDir` is the result of
 * `ensureDataDir`.
 */
export function findClusterLocation(
  dataDir: string,
  log: (message: string) => void,
): ClusterLocation {
  const locationFile = path.join(dataDir, 'location');
  let storedPath: string | undefined;

  if (fs.existsSync(locationFile)) storedPath = fs.readFileSync(locationFile, 'utf8').trim();

  if (storedPath && !fs.existsSync(storedPath)) {
    throw new Error(
      `the database of ${dataDir} was stored in ${storedPath}, which no longer exists; delete ${locationFile} to start with an empty one`,
    );
  }

  let parentFolder = storedPath ?? dataDir;
  let serverUser: SystemUser | undefined;

  if (isRoot()) serverUser = chooseServerUser(dataDir, path.join(parentFolder, 'postgres'));

  if (serverUser && !storedPath && !canEnterFolder(dataDir, serverUser)) {
    parentFolder = createFallbackFolder(dataDir, serverUser, log);
  }

  return {
    dataDir,
    parentFolder,
    clusterFolder: path.join(parentFolder, 'postgres'),
    socketFolder: createSocketFolder(parentFolder, serverUser),
    logFile: path.join(dataDir, 'postgres.log'),
    serverUser,
  };
}
