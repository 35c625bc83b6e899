/** Reads the configuration and starts the server: under a supervisor, or alone in this process. */
import { readConfig } from './platform/config';
import { endOn, ENDS, fail, ignoreClosedOutput } from './server/ending';
import { Supervisor } from './server/supervisor';
import { freePort } from './server/supervisor/port';

export async function main(): Promise<void> {
  ignoreClosedOutput();
  const config = readConfig();
  if (config.workers > 0) return new Supervisor(config).run();
  const port = await freePort(config.host, config.port);
  const { serve } = await import('./server/serve.ts');
  const server = await serve({ ...config, port });
  endOn(ENDS, () => server.stop());
}

if (require.main === module) main().catch(fail);
