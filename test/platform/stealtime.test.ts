/** The share of CPU time that the hypervisor withholds, and its effect on load shedding. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StealTime } from '../../src/platform/stealtime';
import { LoadShedder } from '../../src/server/loadshedding';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-steal-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

test('measures the stolen share of the time in which a CPU was needed', async () => {
  const file = path.join(folder, 'stat');
  const write = (user: number, idle: number, steal: number) =>
    fs.writeFileSync(file, `cpu  ${user} 5 10 ${idle} 3 0 2 ${steal} 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 1 2 3\n`);
  const stealTime = new StealTime(file);
  try {
    write(1_000, 50_000, 100);
    await stealTime.measure();
    expect(stealTime.stolenCpuShare).toBe(0);
    write(1_025, 60_000, 175);
    await stealTime.measure();
    expect(stealTime.stolenCpuShare).toBe(0.75);
    fs.rmSync(file);
    await stealTime.measure();
    expect(stealTime.stolenCpuShare).toBe(0);
  } finally {
    stealTime.stop();
  }
});

test.each([
  [0, true],
  [0.9, false],
])('with %d of the CPU stolen, a queueing delay of five times MAX_LAG sheds requests: %p', async (share, sheds) => {
  const loadShedder = new LoadShedder(
    10_000,
    () => 50_000,
    () => share,
  );
  try {
    await sleep(1_500);
    // The probability of rejection has reached 1 by now, or is still 0 because of the stolen time.
    expect(Array.from({ length: 200 }, () => loadShedder.shouldReject(true)).includes(true)).toBe(sheds);
  } finally {
    loadShedder.stop();
  }
});
