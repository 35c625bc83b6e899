/** A running server: its address, the site behind it, and an orderly end. */
import cluster from 'node:cluster';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Config } from '../platform/config';
import { endStalled, patience } from './connections';
import { checkDataDir } from '../database/datadir';
import { Draining } from './draining';
import { createLog } from '../platform/logging';
import { Origin } from '../exchange/origin';
import { serveMetrics } from '../telemetry/scrape';
import { Guard } from './guard';
import { answerOnceOpen, others } from './opening';
import { followTls, readTls } from './tls';
import { answerUnreadable } from './unreadable';

type Site = import('./site').Site;

/** When those who waited for the start have been answered. */
const IDLE_AFTER_MS = 2_000;

export interface RunningServer {
  port: number;
  stop(): Promise<void>;
}

export interface Terms {
  /** Whether connections are taken at once and wait for the site, or only once it is there. */
  early?: boolean;
  /** Whether it is printed where everything is. */
  announce?: boolean;
  /** Called when requests are answered, before anybody can read that they are. */
  ready?: () => void;
}

/** Loaded when it is needed, because it takes a second: until then the process is one that already listens. */
async function loadSite() {
  await import('../database/open.ts');
  await others();
  await import('../graphql/schema.ts');
  await others();
  return import('./site.ts');
}

/** All of a start that needs neither a port nor a database. */
export async function makeReady(): Promise<void> {
  await loadSite();
  await others();
  await (await import('./app.ts')).makeSchemas();
}

/** What nobody needs at start, and no request shall wait for. */
const loadLater = async () => (await import('../pages/browse/chart.ts')).loadCharts();

/** Throws where the configuration names what cannot be used, before anything is started. */
export function checkFiles(config: Config) {
  checkDataDir(config.dataDir);
  return { origin: new Origin(config), tls: config.tls && readTls(config.tls) };
}

export async function serve(config: Config, { early = true, announce = true, ready }: Terms = {}): Promise<RunningServer> {
  const { origin, tls } = checkFiles(config);
  const log = createLog(config.logLevel);
  const guard = new Guard(log);
  const options = { ...patience(config), ...guard.options };
  const secure = tls && createTlsServer({ ...options, ...tls });
  const server = secure ?? createServer(options);
  answerUnreadable(server, log);
  endStalled(server, config);
  const draining = new Draining(server);
  const open = answerOnceOpen(server, origin, log);
  if (early) await listen(server, config);
  let site: Site;
  try {
    site = await (await loadSite()).openSite(config, origin, log);
    guard.failures = site.app.failures;
    guard.containOthers();
    open(site);
    if (!early) await listen(server, config).catch((error) => site.close().then(() => Promise.reject(error)));
  } catch (error) {
    server.close();
    server.closeAllConnections();
    throw error;
  }
  const { scrape } = site.app;
  // Of several workers the supervisor tells.
  const metrics = scrape && !cluster.isWorker && config.metrics?.port !== undefined && (await serveMetrics(config.metrics, scrape));
  const unfollow = secure && followTls(config.tls!, secure, log);
  const { port } = server.address() as AddressInfo;
  ready?.();
  if (announce) print(config, port, site);
  log.info({ port }, 'ready');
  const loading = setTimeout(() => void loadLater().catch((error) => log.error({ err: error }, 'charts cannot be drawn')), IDLE_AFTER_MS);
  return {
    port,
    async stop() {
      clearTimeout(loading);
      unfollow?.();
      if (metrics) metrics.close();
      site.app.leave();
      await draining.end(config.drainNotice);
      await site.close();
    },
  };
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

function print(config: Config, port: number, { demo, deserted, bare }: Site): void {
  const base = config.publicUrl ?? `${config.tls ? 'https' : 'http'}://localhost:${port}`;
  const lines = [`GraphQL     ${base}/graphql`, `REST        ${base}/api/v2/`, `Playground  ${base}/playground`];
  if (demo)
    lines.push('', `A demo account was made. User ${demo.username}, password ${demo.password}`, `Authorization: Token ${demo.token}`);
  if (bare) lines.push('', 'The database has no catalogue yet. Fill it: fitgraph seed, or fitgraph import');
  if (deserted) lines.push('', 'There are no accounts yet. Make the first: fitgraph user create <name> --superuser');
  process.stdout.write(`\n${lines.map((line) => line && `  ${line}`).join('\n')}\n\n`);
}
