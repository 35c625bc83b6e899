/** The factor by which other work on the machine slows this process down. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CpuContention } from '../../src/platform/cpucontention';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-contention-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

test('measures how much longer work takes than its CPU time', () => {
  const file = path.join(folder, 'schedstat');
  const write = (running: number, waiting: number) => fs.writeFileSync(file, `${running} ${waiting} 12\n`);
  write(1_000, 500);
  const contention = new CpuContention(file);
  const measureAfter = (running: number, waiting: number) => {
    write(running, waiting);
    contention.measure();
    return contention.slowdown;
  };
  try {
    expect(contention.slowdown).toBe(1.5);
    expect(measureAfter(1_200, 1_100)).toBe(4);
    // The thread was idle.
    expect(measureAfter(1_200, 1_100)).toBe(1);
    expect(measureAfter(1_300, 1_100)).toBe(1);
    expect(measureAfter(1_400, 1_200)).toBe(2);
    expect(measureAfter(1_500, 99_999)).toBe(10);
    fs.rmSync(file);
    contention.measure();
    expect(contention.slowdown).toBe(1);
  } finally {
    contention.stop();
  }
});

test('reads the times of the main thread of this process', () => {
  const contention = new CpuContention();
  try {
    expect(contention.slowdown).toBeGreaterThanOrEqual(1);
    expect(contention.slowdown).toBeLessThanOrEqual(10);
  } finally {
    contention.stop();
  }
});
