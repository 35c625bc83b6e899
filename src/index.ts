/** Reads the configuration and starts the server: under a supervisor, or alone in this process. */
import { readConfig } from './config';
import { endOn, ENDS, fail } from './ending';
import { serve } from './serve';
import { Supervisor } from './supervisor';

export async function main(): Promise<void> {
  const config = readConfig();
  if (config.workers > 0) return new Supervisor(config).run();
  const server = await serve(config);
  endOn(ENDS, () => server.stop());
}

if (require.main === module) main().catch(fail);
