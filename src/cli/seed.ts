/**
 * `fitgraph seed`: loads the catalogue into an empty database, and creates the demo account if
 * requested.
 */
import { Media } from '../files/media';
import { ConfigError } from '../shared/config';
import { seedDemo, seedReferenceData } from '../transfer/seed';
import {
  recordOperatorEvent,
  withDatabase,
  createRowProgressPrinter,
  printLine,
} from './command-context';

export const seed = (options: { demo?: boolean }): Promise<void> =>
  withDatabase(async ({ config, database, session, tokenVault }) => {
    if (options.demo && config.production) {
      throw new ConfigError('the demo account cannot be created with NODE_ENV=production');
    }

    await recordOperatorEvent(
      { kind: 'COMMAND', detail: options.demo ? 'seed --demo' : 'seed' },
      session,
    );
    const seedOptions = {
      database,
      tokenVault,
      timeZone: config.timeZone,
      reportProgress: createRowProgressPrinter('Seeding'),
    };

    const isSeeded = await seedReferenceData(seedOptions, await Media.openAndCheck(config));

    if (isSeeded) printLine('Reference data seeded.');
    else printLine('Reference data already exists. Nothing was changed.');
    if (!options.demo) return;
    const account = await seedDemo(seedOptions);

    if (account) {
      const { username, password, token } = account;

      printLine(`Demo account: user ${username}, password ${password}, token ${token}`);
    } else {
      printLine(
        'The demo account already exists. `fitgraph user password demo --new` sets a new password.',
      );
    }
  });
