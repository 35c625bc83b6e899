/** After the last test. */
import fs from 'node:fs';
import type { TestServer } from './start';

export default async function stop(): Promise<void> {
  const { testServer } = globalThis as { testServer?: TestServer };
  if (!testServer) return;
  await testServer.embedded.release();
  fs.rmSync(testServer.folder, { recursive: true, force: true });
}
