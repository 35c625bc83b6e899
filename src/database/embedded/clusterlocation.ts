/**
 * Location and operating-system user of the embedded database.
 *
 * PostgreSQL refuses to run as root. If this process runs as root, it starts PostgreSQL as the owner of the data, or else as `postgres`, or else as `nobody`.
 * That user may be unable to enter the data folder, for example below /root. Then the cluster is stored in another folder.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ConfigError } from '../../platform/config';
import { createFolder } from '../../platform/folders';
import { checkDataDir } from '../datadir';

export interface SystemUser {
  uid: number;
  gid: number;
}

export interface ClusterLocation {
  dataDir: string;
  /** Parent folder of the cluster: the data folder, or a fallback if the operating-system user that runs PostgreSQL has no access to it. */
  parentFolder: string;
  clusterFolder: string;
  /** Folder of the socket, which only the server's user can enter. */
  socketFolder: string;
  logFile: string;
  /** User of the operating system under which PostgreSQL runs; absent if it is the user of this process. */
  serverUser?: SystemUser;
}

/** Port number in the name of the Unix socket. The server listens on no TCP port. */
export const SOCKET_PORT = 5432;

/** Maximum length of a socket path in bytes. Linux permits 107, macOS 103. */
const MAX_SOCKET_PATH_BYTES = 99;

const isRoot = (): boolean => process.getuid?.() === 0;
const shortHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Creates the data folder if necessary and returns its real path, so that all processes agree on it. */
export function ensureDataDir(dataDir: string): string {
  checkDataDir(dataDir);
  try {
    createFolder(path.resolve(dataDir, '..'));
    createFolder(dataDir, 0o700);
    const realPath = fs.realpathSync(dataDir);
    // If the folder belongs to root, the user that runs the server must be able to pass through it (execute permission), but not to list it.
    fs.chmodSync(realPath, isRoot() && fs.statSync(realPath).uid === 0 ? 0o711 : 0o700);
    return realPath;
  } catch (error) {
    throw new ConfigError(`DATA_DIR: ${dataDir} cannot be used: ${(error as Error).message}`);
  }
}

/** Creates a folder that only `owner` can enter. Throws if it exists and belongs to another user. */
function createPrivateFolder(folder: string, owner?: SystemUser): string {
  createFolder(folder, 0o700);
  const uid = owner?.uid ?? process.getuid?.();
  const stats = fs.lstatSync(folder);
  if (!stats.isDirectory() || (stats.uid !== uid && stats.uid !== process.getuid?.())) {
    throw new Error(`${folder} belongs to another user; remove it or choose another DATA_DIR`);
  }
  if (owner) fs.chownSync(folder, owner.uid, owner.gid);
  fs.chmodSync(folder, 0o700);
  return folder;
}

/** Returns the user id and group id of an operating-system user; undefined if the user does not exist. */
function findSystemUser(name: string): SystemUser | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10),
  );
  return uid && gid ? { uid, gid } : undefined;
}

/** Returns the user that runs the server if this process is root: the owner of the data, else an unprivileged user. */
function chooseServerUser(dataDir: string, clusterFolder: string): SystemUser {
  for (const folder of [clusterFolder, dataDir]) {
    const { uid, gid } = fs.existsSync(folder) ? fs.statSync(folder) : { uid: 0, gid: 0 };
    if (uid !== 0) return { uid, gid };
  }
  const account = findSystemUser('postgres') ?? findSystemUser('nobody');
  if (account) return account;
  throw new Error(
    'PostgreSQL does not run as root, and neither the user "postgres" nor "nobody" exists: run as another user or set DATABASE_URL',
  );
}

/** Whether the user can enter the folder. Tested by a child process of that user, because it depends on the permissions of all parent folders. */
export function canEnterFolder(folder: string, user: SystemUser): boolean {
  return (
    spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/', stdio: 'ignore' })
      .status === 0
  );
}

/**
 * Creates and returns the parent folder of the cluster for the case that the server's user cannot enter the data folder. Stores its path in the file
 * `location` in the data folder.
 */
function createFallbackFolder(
  dataDir: string,
  owner: SystemUser,
  log: (message: string) => void,
): string {
  const parentFolder = `/var/lib/fitgraph-${shortHash(dataDir)}`;
  createPrivateFolder(parentFolder, owner);
  if (!canEnterFolder(parentFolder, owner))
    throw new Error(
      `user id ${owner.uid} can access neither DATA_DIR ${dataDir} nor ${parentFolder}`,
    );
  fs.writeFileSync(path.join(dataDir, 'location'), `${parentFolder}\n`);
  log(
    `User id ${owner.uid}, which runs PostgreSQL, cannot access DATA_DIR ${dataDir}: the database is stored in ${parentFolder}`,
  );
  return parentFolder;
}

/** Creates and returns a folder for the socket: the first candidate in which the path of the socket does not exceed MAX_SOCKET_PATH_BYTES. */
function createSocketFolder(parentFolder: string, owner?: SystemUser): string {
  const name = `fitgraph-${shortHash(parentFolder)}`;
  for (const folder of [
    path.join(parentFolder, 'socket'),
    path.join(os.tmpdir(), name),
    path.join('/tmp', name),
  ]) {
    if (Buffer.byteLength(path.join(folder, `.s.PGSQL.${SOCKET_PORT}`)) <= MAX_SOCKET_PATH_BYTES)
      return createPrivateFolder(folder, owner);
  }
  throw new Error(`no folder has a path short enough for a socket: ${parentFolder}`);
}

/** Determines the location of the database and creates its folders. `dataDir`: the result of `ensureDataDir`. */
export function findClusterLocation(
  dataDir: string,
  log: (message: string) => void,
): ClusterLocation {
  const locationFile = path.join(dataDir, 'location');
  const storedPath = fs.existsSync(locationFile)
    ? fs.readFileSync(locationFile, 'utf8').trim()
    : undefined;
  if (storedPath && !fs.existsSync(storedPath)) {
    throw new Error(
      `the database of ${dataDir} was stored in ${storedPath}, which no longer exists; delete ${locationFile} to start with an empty one`,
    );
  }
  let parentFolder = storedPath ?? dataDir;
  const owner = isRoot()
    ? chooseServerUser(dataDir, path.join(parentFolder, 'postgres'))
    : undefined;
  if (owner && !storedPath && !canEnterFolder(dataDir, owner))
    parentFolder = createFallbackFolder(dataDir, owner, log);
  return {
    dataDir,
    parentFolder,
    clusterFolder: path.join(parentFolder, 'postgres'),
    socketFolder: createSocketFolder(parentFolder, owner),
    logFile: path.join(dataDir, 'postgres.log'),
    serverUser: owner,
  };
}
