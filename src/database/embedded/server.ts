/**
 * The server itself: starting it, asking it how it is, stopping one that nobody watches.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Binaries } from './binaries';
import { clearRemains, SUPERUSER } from './cluster';
import { launch, leave, type Lease } from './participants';
import { PORT, type Place } from './place';

/** How long a start may take, recovery after a crash included. */
export const START_LIMIT = 120_000;

/** After `kill -9` the children of the old server need a moment to notice; until then a new one refuses to start. */
const REMAINS = /already exists|still in use|Is another postmaster/;
const REMAINS_LIMIT = 15_000;
const STUBBORN_AFTER = 3_000;

const LOG_LIMIT = 5_000_000;

const SETTINGS = {
  listen_addresses: '',
  port: String(PORT),
  unix_socket_permissions: '0700',
  max_connections: '300',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  log_destination: 'stderr',
  log_checkpoints: 'off',
  logging_collector: 'off',
};

/** Of the superuser. The owner of a database may give it a search path, and with it functions that the superuser would call unwittingly. */
const OPTIONS = '-c search_path=pg_catalog -c lock_timeout=10000';

export async function connect(host: string, database: string, applicationName?: string): Promise<Client> {
  const client = new Client({
    host,
    port: PORT,
    user: SUPERUSER,
    database,
    ssl: false,
    application_name: applicationName,
    options: OPTIONS,
    connectionTimeoutMillis: 2_000,
  });
  // Without a listener a lost connection would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
}

/** `busy` is a server on its way up or down. */
export type State = 'ready' | 'busy' | 'gone';

export async function stateOf(host: string): Promise<State> {
  try {
    const client = await connect(host, 'postgres');
    await client.end();
    return 'ready';
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code)) return 'gone';
    // Any other answer of the server, such as "too many connections", comes from one that works.
    return /^[0-9A-Z]{5}$/.test(code) && code !== '57P03' ? 'ready' : 'busy';
  }
}

const sizeOf = (file: string): number => (fs.existsSync(file) ? fs.statSync(file).size : 0);

/** The end of the log, from `start` on: what PostgreSQL says about its own failure. */
export function lastLines(file: string, start = 0): string {
  if (!fs.existsSync(file)) return '';
  const text = fs.readFileSync(file).subarray(start).toString('utf8');
  return text.trim().split('\n').slice(-8).join('\n');
}

function openLog(place: Place): number {
  if (sizeOf(place.log) > LOG_LIMIT) fs.renameSync(place.log, `${place.log}.old`);
  const log = fs.openSync(place.log, 'a', 0o600);
  if (place.owner) fs.fchownSync(log, place.owner.uid, place.owner.gid);
  return log;
}

/** One attempt. Resolves when the server answers; undefined when it can't start yet because of its predecessor. */
async function attempt(place: Place, { bin }: Binaries): Promise<Lease | undefined> {
  // A list by its syntax, hence the quotes: a path may contain a comma.
  const sockets = `"${place.sockets.replaceAll('"', '""')}"`;
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: sockets }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openLog(place);
  const before = sizeOf(place.log);
  const { child, lease } = launch(place.run, [path.join(bin, 'postgres'), '-D', place.cluster, ...settings], log, place.owner);
  fs.closeSync(log);
  let ended: string | undefined;
  child.once('error', (error) => (ended = error.message));
  child.once('exit', (status) => (ended = `exit status ${status}`));
  try {
    const giveUp = Date.now() + START_LIMIT;
    while ((await stateOf(place.sockets)) !== 'ready') {
      if (ended === undefined && Date.now() < giveUp) {
        await sleep(5);
        continue;
      }
      const said = lastLines(place.log, before);
      leave(lease);
      if (ended !== undefined && REMAINS.test(said)) return undefined;
      throw new Error(`PostgreSQL did not start (${ended ?? 'no answer'}); the end of ${place.log}:\n${said}`);
    }
    return lease;
  } finally {
    child.removeAllListeners();
  }
}

export async function startServer(place: Place, binaries: Binaries): Promise<Lease> {
  const began = Date.now();
  for (;;) {
    clearRemains(place, Date.now() - began > STUBBORN_AFTER);
    const lease = await attempt(place, binaries);
    if (lease) return lease;
    if (Date.now() - began > REMAINS_LIMIT) {
      throw new Error(`PostgreSQL did not start; the end of ${place.log}:\n${lastLines(place.log)}`);
    }
    await sleep(50);
  }
}

/** The fast shutdown of a server without a watchdog; harmless for one that is stopping anyhow. */
export function askToStop(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
