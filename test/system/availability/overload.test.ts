/** Overload: a run of `npm run siege` that takes seconds instead of ten minutes. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from '../../setup/server-process';
import { raisePriority, resetPriority } from './server-under-attack';

const ROOT = path.join(__dirname, '../../..');

beforeAll(() => {
  build();
  raisePriority();
});
afterAll(resetPriority);

interface Kind {
  sent: number;
  statuses: Record<string, number>;
}

test('rejects a larger share of anonymous than of signed-in requests at three times the capacity', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-overload-'));

  try {
    const report = path.join(folder, 'report.json');
    const environment = {
      ...process.env,
      SIEGE_SECONDS: '12',
      SIEGE_TIMES: '3',
      SIEGE_REPORT: report,
    };
    const child = spawn(process.execPath, [path.join(ROOT, 'scripts/siege.mjs')], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errorOutput = '';

    child.stderr.on('data', (chunk: Buffer) => (errorOutput += chunk.toString()));
    const status = await new Promise((resolve) => child.once('close', resolve));

    expect(errorOutput).toBe('');
    const { broken, kinds } = JSON.parse(fs.readFileSync(report, 'utf8')) as {
      broken: string[];
      kinds: Record<string, Kind>;
    };

    expect(broken).toEqual([]);
    expect(status).toBe(0);
    const shedShare = ({ sent, statuses }: Kind) => (statuses[503] ?? 0) / sent;

    expect(shedShare(kinds['strangers, REST']!)).toBeGreaterThan(0);
    expect(shedShare(kinds['users, REST']!)).toBeLessThan(shedShare(kinds['strangers, REST']!));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
