// A server of its own for a replay of the recorded REST contract, which lies beside the repository or nowhere.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
export const kit = join(root, '..', 'shared', 'contract');

/** Works with a server that listens on `port` and is gone afterwards, its data too. `node` is what it runs on, `stdout` where it prints. */
export async function withServer({ port, settings = {}, node = process.execPath, stdout = 'inherit' }, work) {
  const folder = mkdtempSync(join(tmpdir(), 'fitgraph-contract-'));
  const environment = {
    ...process.env,
    DATA_DIR: folder,
    PORT: String(port),
    TIME_ZONE: 'Europe/Berlin',
    LOGIN_RATE: '100000/min',
    BUDGET: 'off',
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const server = spawn(node, [join(root, 'dist/src/index.js')], { env: environment, stdio: ['ignore', stdout, 'inherit'] });
  const base = `http://127.0.0.1:${port}`;
  try {
    await ready(server, base);
    const reset = `'${node}' '${join(root, 'dist/src/cli/index.js')}' import '${kit}/dataset.json' --media '${kit}/media' --replace >/dev/null`;
    return await work({ base, folder, environment, reset });
  } finally {
    server.kill('SIGTERM');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ready(server, base) {
  for (let attempt = 0; attempt < 240; attempt++) {
    if (server.exitCode !== null || server.signalCode !== null) throw new Error('the server did not start');
    const response = await fetch(`${base}/health/ready`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error('the server did not become ready');
}
