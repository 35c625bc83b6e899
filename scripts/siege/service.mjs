// Starts the service like `npm start`, with an embedded database of its own and some users.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

const dist = fileURLToPath(new URL('../../dist/src', import.meta.url));
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 20_000;

export const USERS = ['siege1', 'siege2'];
export const PASSWORD = 'a good password';

export async function startService() {
  const folder = mkdtempSync(join(tmpdir(), 'fitgraph-siege-'));

  chmodSync(folder, 0o755);
  // Each client sends its address in a header, as a proxy would.
  const environment = {
    PATH: process.env.PATH,
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'error',
    HOST: '127.0.0.1',
    PORT: '0',
    TRUSTED_PROXIES: '127.0.0.1',
  };
  const child = spawn(process.execPath, [join(dist, 'index.js')], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';

  child.stdout.on('data', (data) => (output += data));
  const base = await waitForOutput(() => /REST +(http:\S+)\/api\/v2\//.exec(output)?.[1], child);
  const tokens = USERS.map((name) => {
    const command = [join(dist, 'cli/index.js'), 'user', 'create', name, '--password', PASSWORD];
    const { stdout, stderr } = spawnSync(process.execPath, command, {
      env: environment,
      encoding: 'utf8',
    });
    const token = /Token: (\S+)/.exec(stdout)?.[1];

    if (!token) throw new Error(stderr);

    return token;
  });

  return {
    base: base.replace('localhost', '127.0.0.1'),
    tokens,
    pid: child.pid,
    async stop() {
      const exited = new Promise((resolve) =>
        child.exitCode === null ? child.once('exit', resolve) : resolve(),
      );

      child.kill('SIGTERM');
      await Promise.race([exited, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function waitForOutput(what, child) {
  for (const until = Date.now() + START_TIMEOUT_MS; Date.now() < until; await sleep(100)) {
    const value = what();

    if (value) return value;
    if (child.exitCode !== null) break;
  }

  throw new Error('the service did not start');
}

const read = (path) => readFileSync(path, 'utf8');

/** Returns the resident memory of all workers in megabytes. */
export function memoryOf(primary) {
  const workers = read(`/proc/${primary}/task/${primary}/children`)
    .trim()
    .split(' ')
    .filter((pid) => read(`/proc/${pid}/cmdline`).startsWith('fitgraph worker'));

  return workers.reduce(
    (sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))[1]) / 1024,
    0,
  );
}
