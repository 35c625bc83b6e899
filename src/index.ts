/** Reads the configuration and starts the server: in the workers of a cluster, or alone in this process. */
import { readConfig, readEnvironment } from './platform/config';
import { createLogger } from './platform/logging';
import { describeUnknownSetting, findUnknownSettings } from './platform/unknownsettings';
import { TERMINATION_SIGNALS } from './platform/terminationsignals';
import { exitOnSignal, exitWithError, ignoreClosedStdout } from './server/termination';
import { choosePort } from './server/port';
import { Primary } from './server/primary';

export async function main(): Promise<void> {
  ignoreClosedStdout();
  const config = readConfig();
  for (const unknownSettingName of findUnknownSettings(readEnvironment()))
    createLogger(config.logLevel).warn(describeUnknownSetting(unknownSettingName));
  if (config.workers > 0) return new Primary(config).run();
  const port = await choosePort(config.host, config.port);
  const { serve } = await import('./server/serve.ts');
  const server = await serve({ ...config, port });
  exitOnSignal(TERMINATION_SIGNALS, () => server.stop());
}

if (require.main === module) main().catch(exitWithError);
