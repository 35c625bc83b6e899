/** Global teardown. */
import fs from 'node:fs';
import type { Run } from './global-setup';

export default async function stop(): Promise<void> {
  const { testRun } = globalThis as { testRun?: Run };

  if (!testRun) return;
  testRun.listener.close();
  await (await testRun.embedded?.catch(() => undefined))?.release();
  fs.rmSync(testRun.folder, { recursive: true, force: true });
}
