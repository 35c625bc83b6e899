/** Long-lived services of a server process, started and stopped together. */
import type { Logger } from 'pino';
import { LoginRateLimiter } from '../auth/loginratelimiter';
import { EventRetention } from '../auth/securityevents';
import { TokenVault } from '../auth/tokens';
import { CostLimiter } from './costlimit';
import type { Config } from '../platform/config';
import { ChangeLog } from '../core/changes/changelog';
import { NotificationListener } from '../core/changes/listener';
import { DerivedValueCache } from '../core/cache/derivedvalues';
import { AverageWidths } from '../core/read/averagewidths';
import { NameIndexes } from '../core/cache/nameindex';
import { CatalogueCache } from '../core/cache/catalogue';
import { allEntities } from '../core/model/registry';
import type { Database } from '../database/connection';
import { useViewerRole } from '../database/viewerrole';
import { imageWorkerPool } from '../files/imageworkerpool';
import { FolderStore } from '../files/folderstore';
import { Media } from '../files/media';
import { FileRemoval } from '../files/removal';
import { finishInterruptedRestores } from '../transfer/backup/files';
import { deleteAbandonedUploads } from '../platform/multipart';
import type { ClientOrigin } from './clientorigin';

export interface Services {
  config: Config;
  database: Database;
  listener: NotificationListener;
  reference: CatalogueCache;
  memory: DerivedValueCache;
  names: NameIndexes;
  changes: ChangeLog;
  vault: TokenVault;
  limit: LoginRateLimiter;
  budgets: CostLimiter;
  widths: AverageWidths;
  media: Media;
  origin: ClientOrigin;
  /** Identifies this process among those that share the database. */
  instance: number;
  log: Logger;
}

/** Starts all services. Listens for notifications before it loads caches, so that no change in between is missed. */
export async function startServices(
  config: Config,
  database: Database,
  vault: TokenVault,
  origin: ClientOrigin,
  log: Logger,
): Promise<{ services: Services; stop(): Promise<void> }> {
  await useViewerRole(database, (message) => log.warn(message));
  const listener = new NotificationListener(database, log);
  const reference = new CatalogueCache(database, allEntities(), listener, log);
  const names = new NameIndexes(database, allEntities(), listener, log);
  const changes = new ChangeLog(database, listener, log);
  imageWorkerPool.timeout = config.imageTimeout;
  const media = Media.of(config);
  if (config.bucket || config.ownMediaDir) await media.files.check();
  const removal = new FileRemoval(database, media, listener, log);
  await listener.start();
  await reference.reload();
  await changes.start();
  await names.start();
  await deleteAbandonedUploads(config.dataDir);
  // `close` restricts the folder to its owner; a folder chosen by the operator (MEDIA_DIR) keeps its permissions.
  if (!config.ownMediaDir && media.files instanceof FolderStore) await media.files.close();
  await finishInterruptedRestores(database, media);
  await removal.run();
  const limit = new LoginRateLimiter(database, config);
  const budgets = new CostLimiter(database, config.budget, log);
  budgets.start();
  const widths = new AverageWidths();
  await widths.follow(database, log);
  database.replica?.follow((text) => database.ask(text), database.sessionUsers.role, log);
  const retention = new EventRetention(database, config.auditDays, log);
  await retention.start();
  return {
    services: {
      config,
      database,
      listener,
      reference,
      memory: new DerivedValueCache(),
      names,
      changes,
      vault,
      limit,
      budgets,
      widths,
      media,
      origin,
      instance: listener.instance,
      log,
    },
    async stop() {
      changes.stop();
      budgets.stop();
      widths.stop();
      retention.stop();
      names.stop();
      await listener.stop();
      await removal.settled();
      imageWorkerPool.end();
    },
  };
}
