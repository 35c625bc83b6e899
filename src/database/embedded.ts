/**
 * The embedded database: PostgreSQL from an npm package. It stops when the process that started it
 * exits. Other processes with the same data folder connect to it: they read the path of its socket
 * from postmaster.pid.
 */
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { ConfigError } from '../shared/config';
import { findBinaries, findPackageFolder } from './embedded/binaries';
import { removeUnfinishedClusters, findRunningServer, ensureCluster } from './embedded/cluster';
import { DATABASE_NAME, OWNER_ROLE, ensureRolesAndDatabase } from './embedded/owner';
import {
  findClusterLocation,
  ensureDataDir,
  SOCKET_PORT,
  type ClusterLocation,
} from './embedded/cluster-location';
import {
  connectAsSuperuser,
  isNotListeningError,
  isPermanentRejection,
  isRunning,
  lastLogLines,
  START_TIMEOUT_MS,
  startServer,
  stopServer,
  rotateLogInPlace,
} from './embedded/server';

/**
 * Connection options for pg: the folder of the socket as `host`, and a user without superuser
 * privileges.
 */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  database: string;
}

export interface EmbeddedDatabase {
  connection: EmbeddedConnection;

  isStartedByOtherProcess: boolean;

  /** Waits until a restart in progress has completed. */
  waitForRestart(): Promise<void>;

  /** Whether the PostgreSQL server has stopped since this process connected to it. */
  hasStopped(): Promise<boolean>;

  /** Stops the PostgreSQL server if this process has started it. Close all connections first. */
  release(): Promise<void>;
}

/**
 * Application name of the connection that each process keeps open to notice when the server stops.
 */
const MONITOR_APPLICATION_NAME = 'fitgraph monitor';

const SOCKET_CHECK_INTERVAL_MS = 5_000;

/**
 * A single check is not enough, because the socket file is missing for a moment while the server
 * starts.
 */
const MISSING_SOCKET_CHECKS_BEFORE_RESTART = 2;

const MIN_RESTART_PAUSE_MS = 500;
const MAX_RESTART_PAUSE_MS = 30_000;

type Log = (message: string) => void;

/** pg's client with the methods `ref` and `unref`, which its type declarations lack. */
type MonitorClient = Client & { ref(): void; unref(): void };

interface PostgresServer {
  socketFolder: string;
  monitorClient: MonitorClient;
  logFile: string;

  /** The PostgreSQL process, if this process has started it. */
  postgresProcess?: ChildProcess;
}

async function connectMonitor(socketFolder: string): Promise<MonitorClient> {
  const monitorClient = await connectAsSuperuser(
    socketFolder,
    'postgres',
    MONITOR_APPLICATION_NAME,
  );

  try {
    await ensureRolesAndDatabase(monitorClient);
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

  if (ensureCluster(location, binaries)) {
    log(`Created a database of PostgreSQL ${binaries.majorVersion} in ${location.clusterFolder}`);
  }

  const postgresProcess = await startServer(location, binaries);

  if (postgresProcess) removeUnfinishedClusters(location);

  return postgresProcess;
}

function unresponsiveServerError(
  { clusterFolder, logFile }: ClusterLocation,
  cause: unknown,
): Error {
  return new Error(
    `the database in ${clusterFolder} neither responds nor exits; the end of ${logFile}:\n${lastLogLines(logFile)}`,
    { cause },
  );
}

/**
 * Connects to the running PostgreSQL server or starts one. Waits for a server that is starting or
 * stopping. At a restart, `previousServer` is the server that has stopped.
 */
async function startOrConnect(
  dataDir: string,
  log: Log,
  previousServer?: PostgresServer,
): Promise<PostgresServer> {
  const location = findClusterLocation(dataDir, log);

  if (previousServer && fs.existsSync(previousServer.socketFolder)) {
    location.socketFolder = previousServer.socketFolder;
  }

  let postgresProcess = previousServer?.postgresProcess;
  const deadline = Date.now() + START_TIMEOUT_MS;

  try {
    for (;;) {
      const runningServer = findRunningServer(location);
      const socketFolder = runningServer?.socketFolder ?? location.socketFolder;

      try {
        const monitorClient = await connectMonitor(socketFolder);

        return {
          socketFolder,
          monitorClient,
          logFile: location.logFile,
          postgresProcess:
            postgresProcess && isRunning(postgresProcess) ? postgresProcess : undefined,
        };
      } catch (error) {
        if (error instanceof ConfigError || isPermanentRejection(error)) throw error;

        if (Date.now() > deadline) throw unresponsiveServerError(location, error);

        // A server in another container can be detected only by its socket, because its process is
        // not visible here. Starting a second one is harmless: it fails, because the first has
        // locked the data directory.
        if (!runningServer && isNotListeningError(error)) {
          postgresProcess = (await startOwnServer(location, log)) ?? postgresProcess;
        }

        await sleep(10);
      }
    }
  } catch (error) {
    if (postgresProcess && postgresProcess !== previousServer?.postgresProcess) {
      await stopServer(postgresProcess);
    }

    throw error;
  }
}

/**
 * Opens the embedded database. With `shouldRestart`, this process starts the server again if it
 * stops unexpectedly, unless another process has done so first.
 */
export async function openEmbeddedDatabase(options: {
  dataDir: string;
  log?: Log;
  shouldRestart?: boolean;
}): Promise<EmbeddedDatabase> {
  const { log = () => {}, shouldRestart = false } = options;

  // Throws if the npm package is not installed.
  findPackageFolder();
  const dataDir = ensureDataDir(options.dataDir);
  let server = await startOrConnect(dataDir, log);
  let startAttempt: Promise<PostgresServer> | undefined;
  let restartPromise = Promise.resolve();
  let releasePromise: Promise<void> | undefined;

  /**
   * Watches the monitor connection, and restarts the database when it ends unexpectedly. Does not
   * keep this process running.
   */
  const restartOnStop = (): void => {
    server.monitorClient.unref();
    server.monitorClient.once('end', () => {
      if (shouldRestart && !releasePromise) restartPromise = restartServer();
    });
  };

  const restartServer = async (): Promise<void> => {
    log('The embedded database has stopped unexpectedly; restarting it');

    let pauseMs = MIN_RESTART_PAUSE_MS;

    while (!releasePromise) {
      try {
        startAttempt = startOrConnect(dataDir, log, server);
        server = await startAttempt;
        restartOnStop();
        const restarter = server.postgresProcess ? ', restarted by this process' : '';

        return log(`The embedded database is available again${restarter}`);
      } catch (error) {
        log(`The embedded database could not be restarted: ${(error as Error).message}`);
      }

      await sleep(pauseMs, undefined, { ref: false });
      pauseMs = Math.min(pauseMs * 2, MAX_RESTART_PAUSE_MS);
    }
  };

  let failedCheckCount = 0;
  // A program that cleans up temporary files may remove the socket file. Without it, the server
  // accepts no connections until it is restarted.
  const checkTimer = setInterval(() => {
    if (server.postgresProcess) rotateLogInPlace(server);
    const socketFile = path.join(server.socketFolder, `.s.PGSQL.${SOCKET_PORT}`);
    const isSocketMissing = server.postgresProcess && !fs.existsSync(socketFile);

    failedCheckCount = isSocketMissing ? failedCheckCount + 1 : 0;
    if (failedCheckCount < MISSING_SOCKET_CHECKS_BEFORE_RESTART) return;
    failedCheckCount = 0;
    log('The socket of the embedded database was removed; restarting the database');
    server.postgresProcess?.kill('SIGINT');
  }, SOCKET_CHECK_INTERVAL_MS).unref();

  const release = async (): Promise<void> => {
    clearInterval(checkTimer);
    server.monitorClient.ref();
    await startAttempt?.catch(() => {});
    await server.monitorClient.end().catch(() => {});
    if (server.postgresProcess) await stopServer(server.postgresProcess);
  };

  restartOnStop();
  return {
    connection: {
      host: server.socketFolder,
      port: SOCKET_PORT,
      user: OWNER_ROLE,
      database: DATABASE_NAME,
    },
    isStartedByOtherProcess: !server.postgresProcess,
    waitForRestart: () => restartPromise,
    async hasStopped() {
      server.monitorClient.ref();
      // Tests an existing connection and a new one, because a server that is shutting down still
      // serves existing connections but accepts no new ones.
      const connectionTests = [
        server.monitorClient.query('SELECT 1'),
        connectAsSuperuser(server.socketFolder, 'postgres').then((client) => client.end()),
      ];

      return Promise.all(connectionTests).then(
        () => false,
        () => true,
      );
    },
    release: () => (releasePromise ??= release()),
  };
}
