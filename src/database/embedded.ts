/**
 * The embedded database: PostgreSQL from an npm package. The process that starts it owns it, and the database stops when its owner exits. Other processes
 * with the same data folder only connect to it; they find its socket by postmaster.pid.
 */
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { ConfigError } from '../platform/config';
import { findBinaries, findPackageFolder } from './embedded/binaries';
import { removeUnfinishedClusters, findRunningServer, ensureCluster } from './embedded/cluster';
import { DATABASE_NAME, OWNER_ROLE, ensureOwnerAndDatabase } from './embedded/owner';
import { findClusterLocation, ensureDataDir, SOCKET_PORT, type ClusterLocation } from './embedded/clusterlocation';
import {
  connectAsSuperuser,
  isNotListening,
  isPermanentRejection,
  isRunning,
  lastLogLines,
  START_LIMIT_MS,
  startServer,
  stopServer,
  truncateLog,
} from './embedded/server';

/** Connection options for pg and Sequelize. The user is not a superuser. */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  database: string;
}

export interface EmbeddedDatabase {
  connection: EmbeddedConnection;
  /** Whether another process has started the embedded PostgreSQL server and so owns it. */
  isOwnedByOtherProcess: boolean;
  /** Waits for a restart of the embedded database, if one is in progress. */
  waitForRestart(): Promise<void>;
  /** Whether the embedded PostgreSQL server has stopped since this process connected to it. */
  hasStopped(): Promise<boolean>;
  /** Stops the embedded PostgreSQL server if this process owns it. Close your connections first. */
  release(): Promise<void>;
}

/** Application name of a connection that each process keeps open to the server. When it ends, the process knows that the server has stopped. */
const MONITOR_NAME = 'fitgraph monitor';

/** Interval of checks of the socket file. The server is restarted if two consecutive checks do not find the file, which is missing for a moment while the server starts. */
const SOCKET_CHECK_INTERVAL_MS = 5_000;

const MIN_RESTART_PAUSE_MS = 500;
const MAX_RESTART_PAUSE_MS = 30_000;

type Log = (message: string) => void;

/** A pg client with the methods `ref` and `unref`, which pg's type declarations lack. */
type MonitorClient = Client & { ref(): void; unref(): void };

interface Server {
  host: string;
  monitor: MonitorClient;
  logFile: string;
  /** The PostgreSQL server as a child process; absent unless this process has started it. */
  process?: ChildProcess;
}

async function connectMonitor(host: string): Promise<MonitorClient> {
  const monitor = await connectAsSuperuser({ host, port: SOCKET_PORT }, 'postgres', MONITOR_NAME);
  try {
    await ensureOwnerAndDatabase(monitor);
  } catch (error) {
    monitor.end().catch(() => {});
    throw error;
  }
  return monitor as MonitorClient;
}

async function startOwnServer(location: ClusterLocation, log: Log): Promise<ChildProcess | undefined> {
  const binaries = findBinaries(location);
  if (ensureCluster(location, binaries)) log(`Created a database of PostgreSQL ${binaries.majorVersion} in ${location.cluster}`);
  const server = await startServer(location, binaries);
  if (server) removeUnfinishedClusters(location);
  return server;
}

/**
 * Connects to the running PostgreSQL server or starts one. If a server is just starting or stopping, waits for that. `previous`: at a restart, the server
 * that has stopped.
 */
async function startOrJoinServer(dataDir: string, log: Log, previous?: Server): Promise<Server> {
  const location = findClusterLocation(dataDir, log);
  if (previous && fs.existsSync(previous.host)) location.socketFolder = previous.host;
  let ownProcess = previous?.process;
  const deadline = Date.now() + START_LIMIT_MS;
  try {
    for (;;) {
      const runningServer = findRunningServer(location);
      const host = runningServer?.socketFolder ?? location.socketFolder;
      try {
        const monitor = await connectMonitor(host);
        return { host, monitor, logFile: location.logFile, process: ownProcess && isRunning(ownProcess) ? ownProcess : undefined };
      } catch (error) {
        if (error instanceof ConfigError || isPermanentRejection(error)) throw error;
        if (Date.now() > deadline) {
          const lastLines = lastLogLines(location.logFile);
          throw new Error(`the database in ${location.cluster} neither responds nor exits; the end of ${location.logFile}:\n${lastLines}`, {
            cause: error,
          });
        }
        // A server in another container can be detected only by its socket, because its process is not visible here. If the server is not detected,
        // starting a second one is harmless: it fails, because the first one has locked the data directory.
        if (!runningServer && isNotListening(error)) ownProcess = (await startOwnServer(location, log)) ?? ownProcess;
        await sleep(10);
      }
    }
  } catch (error) {
    if (ownProcess && ownProcess !== previous?.process) await stopServer(ownProcess);
    throw error;
  }
}

/**
 * Opens the embedded database. `restart`: whether this process restarts a server that has stopped unexpectedly and becomes its owner, unless another process
 * does so first.
 */
export async function openEmbedded(options: { dataDir: string; log?: Log; restart?: boolean }): Promise<EmbeddedDatabase> {
  const { log = () => {}, restart = false } = options;
  findPackageFolder();
  const dataDir = ensureDataDir(options.dataDir);
  let server = await startOrJoinServer(dataDir, log);
  let startAttempt: Promise<Server> | undefined;
  let restartCompletion = Promise.resolve();
  let releaseCompletion: Promise<void> | undefined;

  /** Restarts the database if it stops unexpectedly and `restart` is set. Watching the database does not keep this process running. */
  const restartOnStop = (): void => {
    server.monitor.unref();
    server.monitor.once('end', () => {
      if (restart && !releaseCompletion) restartCompletion = restartServer();
    });
  };

  const restartServer = async (): Promise<void> => {
    log('The embedded database has stopped unexpectedly; restarting it');
    for (let pause = MIN_RESTART_PAUSE_MS; !releaseCompletion; pause = Math.min(pause * 2, MAX_RESTART_PAUSE_MS)) {
      try {
        server = await (startAttempt = startOrJoinServer(dataDir, log, server));
        restartOnStop();
        return log(`The embedded database is available again${server.process ? ', restarted by this process' : ''}`);
      } catch (error) {
        log(`The embedded database could not be restarted: ${(error as Error).message}`);
      }
      await sleep(pause, undefined, { ref: false });
    }
  };

  let missedChecks = 0;
  // A program that cleans up temporary files may remove the socket file. Then the server accepts no connections until it is restarted.
  const checkServer = setInterval(() => {
    if (server.process) truncateLog(server);
    missedChecks = !server.process || fs.existsSync(path.join(server.host, `.s.PGSQL.${SOCKET_PORT}`)) ? 0 : missedChecks + 1;
    if (missedChecks < 2) return;
    missedChecks = 0;
    log('The socket of the embedded database was removed; restarting the database');
    server.process?.kill('SIGINT');
  }, SOCKET_CHECK_INTERVAL_MS).unref();

  const release = async (): Promise<void> => {
    clearInterval(checkServer);
    server.monitor.ref();
    await startAttempt?.catch(() => {});
    await server.monitor.end().catch(() => {});
    if (server.process) await stopServer(server.process);
  };

  restartOnStop();
  return {
    connection: { host: server.host, port: SOCKET_PORT, user: OWNER_ROLE, database: DATABASE_NAME },
    isOwnedByOtherProcess: !server.process,
    waitForRestart: () => restartCompletion,
    async hasStopped() {
      server.monitor.ref();
      // Tests an existing connection and a new one, because a server that is shutting down still serves existing connections but accepts no new ones.
      const connectionTests = [
        server.monitor.query('SELECT 1'),
        connectAsSuperuser({ host: server.host, port: SOCKET_PORT }, 'postgres').then((client) => client.end()),
      ];
      return Promise.all(connectionTests).then(
        () => false,
        () => true,
      );
    },
    release: () => (releaseCompletion ??= release()),
  };
}
