/** Bootstraps the application: opens and migrates the database, seeds an empty embedded one, starts the services and creates the app. */
import type { Logger } from 'pino';
import { checkSecretKey, recordKeyFingerprint } from '../auth/keyfingerprint';
import { TokenVault } from '../auth/tokens';
import { createApp, type App } from './app';
import type { Config } from '../platform/config';
import { Media } from '../files/media';
import { migrateUp } from '../database/migrate';
import type { EmbeddedConnection } from '../database/embedded';
import { openDatabase } from '../database/open';
import type { ForwardedHeaders } from '../request/forwardedheaders';
import { models } from '../graphql/schema';
import { startServices } from '../request/services';
import { seedDemo, seedReferenceData, type DemoAccount } from '../transfer/seed';

export interface RunningApp {
  app: App;
  /** The demo account, if this start of the server has created it. */
  demoAccount?: DemoAccount;
  /** Whether there is no user account. Checked only in production. */
  hasNoAccounts: boolean;
  /** Whether the catalogue (exercises, foods) is empty. In an external database, only the operator fills it, with `fitgraph seed` or `fitgraph import`. */
  hasEmptyCatalogue: boolean;
  close(): Promise<void>;
}

export async function bootstrap(
  config: Config,
  forwardedHeaders: ForwardedHeaders,
  log: Logger,
  embeddedConnection?: EmbeddedConnection,
): Promise<RunningApp> {
  const openedDatabase = await openDatabase(config, models, (message) => log.info(message), {
    shouldRestart: true,
    embeddedConnection,
  });
  const { database } = openedDatabase;
  try {
    await checkSecretKey(database, openedDatabase.secretKey);
    const appliedMigrations = await migrateUp(database, {
      reportWait: (message) => log.warn(message),
    });
    if (appliedMigrations.length) log.info({ migrations: appliedMigrations }, 'database migrated');
    await recordKeyFingerprint(database, openedDatabase.secretKey);
    const tokenVault = new TokenVault(openedDatabase.secretKey);
    const demoAccount = openedDatabase.isEmbedded ? await seedInitialData() : undefined;
    const { services, stop } = await startServices(
      config,
      database,
      tokenVault,
      forwardedHeaders,
      log,
    );
    const app = await createApp(services);
    return {
      app,
      demoAccount,
      hasNoAccounts:
        config.production &&
        !(await database.queryAsServer('SELECT FROM "user_account" LIMIT 1')).length,
      hasEmptyCatalogue: !(await database.queryAsServer('SELECT FROM "language" LIMIT 1')).length,
      async close() {
        await app.stop();
        await stop();
        await openedDatabase.close();
      },
    };

    async function seedInitialData(): Promise<DemoAccount | undefined> {
      const seedOptions = { database, tokenVault, timeZone: config.timeZone };
      const isNewDatabase = await seedReferenceData(seedOptions, await Media.openAndCheck(config));
      return isNewDatabase && config.createsDemoAccount ? seedDemo(seedOptions) : undefined;
    }
  } catch (error) {
    await openedDatabase.close();
    throw error;
  }
}
