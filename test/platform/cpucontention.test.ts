/** The factor by which other work on the machine slows this process down. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CpuContention } from '../../src/platform/cpucontention';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-contention-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

test('measures how much longer work takes than its CPU time', async () => {
  const file = path.join(folder, 'schedstat');
  const contention = new CpuContention(file);
  const measureAfter = async (running: number, waiting: number) => {
    fs.writeFileSync(file, `${running} ${waiting} 12\n`);
    await contention.measure();
    return contention.slowdown;
  };
  try {
    expect(await measureAfter(1_000, 90_000)).toBe(1);
    expect(await measureAfter(1_200, 90_600)).toBe(4);
    // The thread was idle.
    expect(await measureAfter(1_200, 90_600)).toBe(1);
    expect(await measureAfter(1_300, 90_600)).toBe(1);
    expect(await measureAfter(1_400, 90_700)).toBe(2);
    expect(await measureAfter(1_500, 99_999)).toBe(5);
    fs.rmSync(file);
    await contention.measure();
    expect(contention.slowdown).toBe(1);
  } finally {
    contention.stop();
  }
});

test('reads the times of the main thread of this process', async () => {
  const contention = new CpuContention();
  try {
    await contention.measure();
    const end = performance.now() + 20;
    while (performance.now() < end);
    await contention.measure();
    expect(contention.slowdown).toBeGreaterThanOrEqual(1);
    expect(contention.slowdown).toBeLessThanOrEqual(5);
  } finally {
    contention.stop();
  }
});
