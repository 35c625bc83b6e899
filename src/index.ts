/**
 * Reads the configuration and starts the server: as a cluster of workers, or alone in this process.
 */
import { readConfig, readEnvironment } from './shared/config';
import { createLogger } from './shared/logging';
import { describeUnknownSetting, findUnknownSettings } from './shared/unknown-settings';
import { TERMINATION_SIGNALS } from './shared/termination-signals';
import { exitOnSignal, exitWithError, ignoreOutputErrors } from './server/termination';
import { choosePort } from './server/port';
import { Primary } from './server/primary';

export async function main(): Promise<void> {
  ignoreOutputErrors();
  const config = readConfig();

  for (const unknownSettingName of findUnknownSettings(readEnvironment())) {
    createLogger(config.logLevel).warn(describeUnknownSetting(unknownSettingName));
  }

  if (config.workers > 0) return new Primary(config).run();
  const port = await choosePort(config.host, config.port);
  const { serve } = await import('./server/serve.ts');
  const server = await serve({ ...config, port });

  exitOnSignal(TERMINATION_SIGNALS, () => server.stop());
}

if (require.main === module) main().catch(exitWithError);
