/** Reads the configuration and starts the server: under a supervisor, or alone in this process. */
import { readConfig, readEnvironment } from './platform/config';
import { createLogger } from './platform/logging';
import { describeUnknownSetting, findUnknownSettings } from './platform/unknownsettings';
import { TERMINATION_SIGNALS } from './platform/terminationsignals';
import { exitOnSignal, exitWithError, ignoreClosedStdout } from './server/termination';
import { Supervisor } from './server/supervisor';
import { choosePort } from './server/supervisor/port';

export async function main(): Promise<void> {
  ignoreClosedStdout();
  const config = readConfig();
  for (const unknownSettingName of findUnknownSettings(readEnvironment()))
    createLogger(config.logLevel).warn(describeUnknownSetting(unknownSettingName));
  if (config.workers > 0) return new Supervisor(config).run();
  const port = await choosePort(config.host, config.port);
  const { serve } = await import('./server/serve.ts');
  const server = await serve({ ...config, port });
  exitOnSignal(TERMINATION_SIGNALS, () => server.stop());
}

if (require.main === module) main().catch(exitWithError);
