/**
 * The embedded database: PostgreSQL from an npm package, started and kept by whoever needs it first, shared by every
 * process that opens the same data folder, and gone when the last of them is.
 *
 * Opening means, one process at a time: join the server that runs, or wait for the end of one that is stopping and start
 * it anew. Losing the server (its process was killed) means opening again; whichever participant comes first starts it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { findBinaries, findPackage } from './embedded/binaries';
import { findServer, prepareCluster } from './embedded/cluster';
import { withLock } from './embedded/lock';
import { DATABASE, OWNER, prepareOwner } from './embedded/owner';
import { join, leave, type Lease } from './embedded/participants';
import { findPlace, openDataDir, PORT, type Place } from './embedded/place';
import { askToStop, connect, lastLines, START_LIMIT, startServer, stateOf } from './embedded/server';

export interface Embedded {
  /** For `pg` and Sequelize; its user is no superuser. */
  connection: { host: string; port: number; user: string; database: string };
  /** True when another process had already started the server. */
  joined: boolean;
  /** Gives up this process's share; the server stops when the last participant has left. End your connections before. */
  release(): Promise<void>;
}

/** The name under which each participant's own connection is seen in pg_stat_activity. */
const SENTRY = 'fitgraph participant';

/** The socket file is missing in two checks in a row before the server is restarted: one that starts has none for a moment. */
const SOCKET_CHECK_MS = 5_000;

/** How long the last participant waits for the server's end. */
const STOP_LIMIT = 10_000;

type Log = (message: string) => void;

/** Missing in the type declarations of pg. */
type Sentry = Client & { ref(): void; unref(): void };

/** What one participant holds: its lease keeps the server alive, its sentry tells when the server dies. */
interface Share {
  place: Place;
  lease: Lease;
  sentry: Sentry;
  host: string;
  joined: boolean;
}

/** A lease at a server that answers. Runs under the lock, so nobody else starts or joins meanwhile. */
async function takeLease(place: Place, log: Log): Promise<{ lease: Lease; host: string; joined: boolean }> {
  const giveUp = Date.now() + START_LIMIT;
  let asked = 0;
  let lease: Lease | undefined;
  try {
    for (;;) {
      lease ??= join(place.run);
      const server = findServer(place);
      const host = server?.sockets ?? place.sockets;
      const state = await stateOf(host);
      if (lease && state === 'ready') return { lease, host, joined: true };
      if (!server && state === 'gone') {
        // A watchdog may have outlived its server; the lease at it is worth nothing.
        leave(lease);
        lease = undefined;
        const binaries = findBinaries(place);
        if (prepareCluster(place, binaries)) log(`Created a database of PostgreSQL ${binaries.major} in ${place.cluster}`);
        return { lease: await startServer(place, binaries), host: place.sockets, joined: false };
      }
      // No lease but a server: it is stopping, or it has lost its watchdog and would run for ever.
      if (!lease && server && Date.now() - asked > 1_000) {
        askToStop(server.pid);
        asked = Date.now();
      }
      if (Date.now() > giveUp) {
        throw new Error(`the database in ${place.cluster} neither answers nor ends; the end of ${place.log}:\n${lastLines(place.log)}`);
      }
      await sleep(10);
    }
  } catch (error) {
    leave(lease);
    throw error;
  }
}

/** The participant's own connection, of the superuser. */
async function postSentry(host: string): Promise<Sentry> {
  const client = await connect(host, 'postgres', SENTRY);
  await prepareOwner(client, host);
  return client as Sentry;
}

/** `host`: where this process knows the server's socket to be, if it has known one. */
async function takeShare(dataDir: string, log: Log, host?: string): Promise<Share> {
  const real = openDataDir(dataDir);
  return withLock(real, START_LIMIT + 30_000, async () => {
    const place = findPlace(real, log);
    if (host && fs.existsSync(host)) place.sockets = host;
    const taken = await takeLease(place, log);
    try {
      return { place, ...taken, sentry: await postSentry(taken.host) };
    } catch (error) {
      leave(taken.lease);
      throw error;
    }
  });
}

async function dropShare({ place, lease, sentry }: Share): Promise<void> {
  let others = 0;
  try {
    sentry.ref();
    const { rows } = await sentry.query('SELECT count(*)::int AS seen FROM pg_stat_activity WHERE application_name = $1', [SENTRY]);
    others = rows[0].seen - 1;
    await sentry.end();
  } catch {
    // The server is gone already.
  }
  const server = findServer(place)?.pid;
  leave(lease);
  // If that was the last one, wait for the end: a container is torn down with its first process, and PostgreSQL should have
  // ended cleanly by then. The watchdog shows it by renaming the pipe; several may leave at once, so the count is a hint only.
  const began = Date.now();
  while (fs.existsSync(lease.path)) {
    if (Date.now() - began > (others > 0 ? 50 : 500)) return;
    await sleep(5);
  }
  // Not for a successor: somebody who found it stopping may have started the next one already.
  while (server && findServer(place)?.pid === server && Date.now() - began < STOP_LIMIT) await sleep(10);
}

export async function openEmbedded(options: { dataDir: string; log?: Log }): Promise<Embedded> {
  const log = options.log ?? (() => {});
  findPackage();
  let share = await takeShare(options.dataDir, log);
  let attempt: Promise<void> | undefined;
  let released: Promise<void> | undefined;
  let dropped = false;

  /** Listens for the end of the server, without keeping this process from ending. */
  const watch = (): void => {
    const { sentry } = share;
    sentry.once('end', () => {
      if (!released) void recover();
    });
    sentry.unref();
  };

  const renew = async (): Promise<void> => {
    const next = await takeShare(options.dataDir, log, share.host);
    // Only now: our old lease may be the one that keeps a living server from stopping.
    leave(share.lease);
    share = next;
    if (dropped) await dropShare(share);
    else if (!released) watch();
  };

  const recover = async (): Promise<void> => {
    log('The embedded database has stopped unexpectedly; bringing it back');
    for (let pause = 500; !released; pause = Math.min(pause * 2, 30_000)) {
      try {
        await (attempt = renew());
        return log(`The embedded database is back${share.joined ? '' : ', restarted by this process'}`);
      } catch (error) {
        log(`The embedded database could not be restarted: ${(error as Error).message}`);
      }
      await sleep(pause, undefined, { ref: false });
    }
  };

  let missing = 0;
  // Without its socket file (a cleaner of temporary files may remove it) a server takes no connections until it is restarted.
  const checkSocket = setInterval(() => {
    missing = fs.existsSync(path.join(share.host, `.s.PGSQL.${PORT}`)) ? 0 : missing + 1;
    if (missing < 2) return;
    missing = 0;
    try {
      const server = findServer(share.place);
      if (!server) return;
      log('The socket of the embedded database has been removed; restarting the database');
      askToStop(server.pid);
    } catch (error) {
      log(`The embedded database cannot be restarted: ${(error as Error).message}`);
    }
  }, SOCKET_CHECK_MS).unref();

  const release = async (): Promise<void> => {
    clearInterval(checkSocket);
    // A share that is being renewed is given up afterwards, here or, if that takes too long, there.
    await Promise.race([attempt?.catch(() => {}), sleep(STOP_LIMIT, undefined, { ref: false })]);
    dropped = true;
    await dropShare(share);
  };

  watch();
  return {
    connection: { host: share.host, port: PORT, user: OWNER, database: DATABASE },
    joined: share.joined,
    release: () => (released ??= release()),
  };
}
