// Runs a server for a replay of the recorded REST contract.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The folder with the cases and the data set. */
export const contract = join(root, 'test/system/contract');

/**
 * Runs `work` with a server that listens on `port`, then stops the server and deletes its data.
 * `node` is the Node.js program, `stdout` the target of the server's output. `work` receives {
 * base, folder, reset }; `reset` restores the data set of the contract.
 */
export async function withServer(
  { kit = contract, port, settings = {}, node = process.execPath, stdout = 'inherit' },
  work,
) {
  const folder = mkdtempSync(join(tmpdir(), 'fitgraph-contract-'));
  const environment = {
    ...process.env,
    DATA_DIR: folder,
    PORT: String(port),
    TIME_ZONE: 'Europe/Berlin',
    LOGIN_RATE: '100000/min',
    BUDGET: 'off',
    // A busy machine must not change the responses.
    MAX_LAG: 'off',
    WORKER_TIMEOUT: 'off',
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const server = spawn(node, [join(root, 'dist/src/index.js')], {
    env: environment,
    stdio: ['ignore', stdout, 'inherit'],
  });
  const base = `http://127.0.0.1:${port}`;

  try {
    await ready(server, base);
    const args = ['import', join(kit, 'dataset.json'), '--media', join(kit, 'media'), '--replace'];
    const reset = () =>
      promisify(execFile)(node, [join(root, 'dist/src/cli/index.js'), ...args], {
        env: environment,
      });

    return await work({ base, folder, reset });
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ready(server, base) {
  for (let attempt = 0; attempt < 240; attempt++) {
    if (server.exitCode !== null || server.signalCode !== null) {
      throw new Error('the server did not start');
    }

    const response = await fetch(`${base}/health/ready`).catch(() => undefined);

    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }

  throw new Error('the server did not become ready');
}
