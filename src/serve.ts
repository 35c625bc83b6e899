/** A running server: database opened and migrated, first data, HTTP, and an orderly end. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TokenVault } from './auth/tokens';
import { createApp } from './app';
import type { Config } from './config';
import { migrateUp } from './database/migrate';
import { openDatabase } from './database/open';
import { createLog } from './logging';
import { Origin } from './origin';
import { models } from './schema';
import { startServices } from './services';
import { followTls, readTls } from './tls';
import { seedDemo, seedReference, type DemoAccount } from './transfer/seed';
import { answerUnreadable } from './unreadable';

/** Requests that run at the end have this long to finish. */
const DRAIN_MS = 8_000;

export interface RunningServer {
  port: number;
  stop(): Promise<void>;
}

export async function serve(config: Config): Promise<RunningServer> {
  const log = createLog(config.logLevel);
  const origin = new Origin(config);
  const tls = config.tls && readTls(config.tls);
  const opened = await openDatabase(config, models, (message) => log.info(message));
  const { database } = opened;
  try {
    const applied = await migrateUp(database);
    if (applied.length) log.info({ migrations: applied }, 'database migrated');
    const vault = new TokenVault(opened.secretKey);
    const demo = opened.embedded ? await firstData() : undefined;
    const { services, stop: stopServices } = await startServices(config, database, vault, origin, log);
    const app = await createApp(services);
    const options = { keepAliveTimeout: 65_000 };
    const secure = tls && createTlsServer({ ...options, ...tls }, app.listener);
    const unfollow = secure && followTls(config.tls!, secure, log);
    const server = secure ?? createServer(options, app.listener);
    server.on('upgrade', app.upgrade);
    answerUnreadable(server);
    await listen(server, config);
    const { port } = server.address() as AddressInfo;
    announce(config, port, demo);
    log.info({ port }, 'ready');
    return {
      port,
      async stop() {
        unfollow?.();
        app.endStreams();
        await drain(server);
        await app.stop();
        await stopServices();
        await opened.close();
      },
    };

    async function firstData(): Promise<DemoAccount | undefined> {
      const seeding = { database, vault, timeZone: config.timeZone };
      const fresh = await seedReference(seeding);
      return fresh && !config.production ? seedDemo(seeding) : undefined;
    }
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function listen(server: Server, { port, host }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** No new connections; idle ones end now, busy ones after their answer. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
    // A kept-alive connection that was busy a moment ago is idle now.
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    server.once('close', () => clearInterval(sweep));
  });
}

function announce(config: Config, port: number, demo: DemoAccount | undefined): void {
  const base = config.publicUrl ?? `${config.tls ? 'https' : 'http'}://localhost:${port}`;
  const lines = [`GraphQL     ${base}/graphql`, `REST        ${base}/api/v2/`, `Playground  ${base}/playground`];
  if (demo)
    lines.push('', `A demo account was made. User ${demo.username}, password ${demo.password}`, `Authorization: Token ${demo.token}`);
  process.stdout.write(`\n${lines.map((line) => `  ${line}`).join('\n')}\n\n`);
}
