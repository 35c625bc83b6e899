/** Reads the configuration and starts the server: under a supervisor, or alone in this process. */
import { readConfig } from './platform/config';
import { endOn, ENDS, fail, ignoreClosedOutput } from './server/ending';
import { serve } from './server/serve';
import { Supervisor } from './server/supervisor';

export async function main(): Promise<void> {
  ignoreClosedOutput();
  const config = readConfig();
  if (config.workers > 0) return new Supervisor(config).run();
  const server = await serve(config);
  endOn(ENDS, () => server.stop());
}

if (require.main === module) main().catch(fail);
