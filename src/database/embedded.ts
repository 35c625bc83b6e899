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
import {
  findClusterLocation,
  ensureDataDir,
  SOCKET_PORT,
  type ClusterLocation,
} from './embedded/clusterlocation';
import {
  connectAsSuperuser,
  isNotListeningError,
  isPermanentRejection,
  isRunning,
  lastLogLines,
  START_TIMEOUT_MS,
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
const MONITOR_APPLICATION_NAME = 'fitgraph monitor';

/** Interval of checks of the socket file. The server is restarted if two consecutive checks do not find the file, which is missing for a moment while the server starts. */
const SOCKET_CHECK_INTERVAL_MS = 5_000;

const MIN_RESTART_PAUSE_MS = 500;
const MAX_RESTART_PAUSE_MS = 30_000;

type Log = (message: string) => void;

/** A pg client with the methods `ref` and `unref`, which pg's type declarations lack. */
type MonitorClient = Client & { ref(): void; unref(): void };

interface PostgresServer {
  host: string;
  monitorClient: MonitorClient;
  logFile: string;
  /** The PostgreSQL server as a child process; absent unless this process has started it. */
  childProcess?: ChildProcess;
}

async function connectMonitor(host: string): Promise<MonitorClient> {
  const monitorClient = await connectAsSuperuser(host, 'postgres', MONITOR_APPLICATION_NAME);
  try {
    await ensureOwnerAndDatabase(monitorClient);
  } catch (error) {
    monitorClient.end().catch(() => {});
    throw error;
  }
  return monitorClient as MonitorClient;
}

async function startOwnServer(
  location: ClusterLocation,
  log: Log,
): Promise<ChildProcess | undefined> {
  const binaries = findBinaries(location);
  if (ensureCluster(location, binaries))
    log(`Created a database of PostgreSQL ${binaries.majorVersion} in ${location.clusterFolder}`);
  const server = await startServer(location, binaries);
  if (server) removeUnfinishedClusters(location);
  return server;
}

/**
 * Connects to the running PostgreSQL server or starts one. If a server is just starting or stopping, waits for that. `previous`: at a restart, the server
 * that has stopped.
 */
async function startOrJoinServer(
  dataDir: string,
  log: Log,
  previous?: PostgresServer,
): Promise<PostgresServer> {
  const location = findClusterLocation(dataDir, log);
  if (previous && fs.existsSync(previous.host)) location.socketFolder = previous.host;
  let ownProcess = previous?.childProcess;
  const deadline = Date.now() + START_TIMEOUT_MS;
  try {
    for (;;) {
      const runningServer = findRunningServer(location);
      const host = runningServer?.socketFolder ?? location.socketFolder;
      try {
        const monitorClient = await connectMonitor(host);
        return {
          host,
          monitorClient,
          logFile: location.logFile,
          childProcess: ownProcess && isRunning(ownProcess) ? ownProcess : undefined,
        };
      } catch (error) {
        if (error instanceof ConfigError || isPermanentRejection(error)) throw error;
        if (Date.now() > deadline) {
          const lastLines = lastLogLines(location.logFile);
          throw new Error(
            `the database in ${location.clusterFolder} neither responds nor exits; the end of ${location.logFile}:\n${lastLines}`,
            {
              cause: error,
            },
          );
        }
        // A server in another container can be detected only by its socket, because its process is not visible here. If the server is not detected,
        // starting a second one is harmless: it fails, because the first one has locked the data directory.
        if (!runningServer && isNotListeningError(error))
          ownProcess = (await startOwnServer(location, log)) ?? ownProcess;
        await sleep(10);
      }
    }
  } catch (error) {
    if (ownProcess && ownProcess !== previous?.childProcess) await stopServer(ownProcess);
    throw error;
  }
}

/**
 * Opens the embedded database. `shouldRestart`: whether this process restarts a server that has stopped unexpectedly and becomes its owner, unless another process
 * does so first.
 */
export async function openEmbeddedDatabase(options: {
  dataDir: string;
  log?: Log;
  shouldRestart?: boolean;
}): Promise<EmbeddedDatabase> {
  const { log = () => {}, shouldRestart = false } = options;
  findPackageFolder();
  const dataDir = ensureDataDir(options.dataDir);
  let server = await startOrJoinServer(dataDir, log);
  let startAttempt: Promise<PostgresServer> | undefined;
  let restartCompletion = Promise.resolve();
  let releaseCompletion: Promise<void> | undefined;

  /** Restarts the database if it stops unexpectedly and `shouldRestart` is set. Watching the database does not keep this process running. */
  const restartOnStop = (): void => {
    server.monitorClient.unref();
    server.monitorClient.once('end', () => {
      if (shouldRestart && !releaseCompletion) restartCompletion = restartServer();
    });
  };

  const restartServer = async (): Promise<void> => {
    log('The embedded database has stopped unexpectedly; restarting it');
    for (
      let pauseMs = MIN_RESTART_PAUSE_MS;
      !releaseCompletion;
      pauseMs = Math.min(pauseMs * 2, MAX_RESTART_PAUSE_MS)
    ) {
      try {
        server = await (startAttempt = startOrJoinServer(dataDir, log, server));
        restartOnStop();
        return log(
          `The embedded database is available again${server.childProcess ? ', restarted by this process' : ''}`,
        );
      } catch (error) {
        log(`The embedded database could not be restarted: ${(error as Error).message}`);
      }
      await sleep(pauseMs, undefined, { ref: false });
    }
  };

  let failedCheckCount = 0;
  // A program that cleans up temporary files may remove the socket file. Then the server accepts no connections until it is restarted.
  const checkTimer = setInterval(() => {
    if (server.childProcess) truncateLog(server);
    failedCheckCount =
      !server.childProcess || fs.existsSync(path.join(server.host, `.s.PGSQL.${SOCKET_PORT}`))
        ? 0
        : failedCheckCount + 1;
    if (failedCheckCount < 2) return;
    failedCheckCount = 0;
    log('The socket of the embedded database was removed; restarting the database');
    server.childProcess?.kill('SIGINT');
  }, SOCKET_CHECK_INTERVAL_MS).unref();

  const release = async (): Promise<void> => {
    clearInterval(checkTimer);
    server.monitorClient.ref();
    await startAttempt?.catch(() => {});
    await server.monitorClient.end().catch(() => {});
    if (server.childProcess) await stopServer(server.childProcess);
  };

  restartOnStop();
  return {
    connection: { host: server.host, port: SOCKET_PORT, user: OWNER_ROLE, database: DATABASE_NAME },
    isOwnedByOtherProcess: !server.childProcess,
    waitForRestart: () => restartCompletion,
    async hasStopped() {
      server.monitorClient.ref();
      // Tests an existing connection and a new one, because a server that is shutting down still serves existing connections but accepts no new ones.
      const connectionTests = [
        server.monitorClient.query('SELECT 1'),
        connectAsSuperuser(server.host, 'postgres').then((client) => client.end()),
      ];
      return Promise.all(connectionTests).then(
        () => false,
        () => true,
      );
    },
    release: () => (releaseCompletion ??= release()),
  };
}
