/** Long-lived services of a server process, started and stopped together. */
import type { Logger } from 'pino';
import { LoginLimit } from '../auth/limit';
import { EventRetention } from '../auth/securityevents';
import { TokenVault } from '../auth/tokens';
import { Budgets } from './budget';
import type { Config } from '../platform/config';
import { ChangeLog } from '../core/changes/changes';
import { Listener } from '../core/changes/listener';
import { Memory } from '../core/cache/memory';
import { Widths } from '../core/read/widths';
import { NamesInMemory } from '../core/cache/namesinmemory';
import { ReferenceTables } from '../core/cache/reference';
import { entities } from '../core/model/registry';
import type { Database } from '../database/connection';
import { takeRole } from '../database/viewerrole';
import { imageProcesses } from '../files/imageprocesses';
import { FolderStore } from '../files/folderstore';
import { Media } from '../files/media';
import { FileRemoval } from '../files/removal';
import { finishRestores } from '../transfer/backup/files';
import { sweepUploads } from '../platform/multipart';
import type { Origin } from './origin';

export interface Services {
  config: Config;
  database: Database;
  listener: Listener;
  reference: ReferenceTables;
  memory: Memory;
  names: NamesInMemory;
  changes: ChangeLog;
  vault: TokenVault;
  limit: LoginLimit;
  budgets: Budgets;
  widths: Widths;
  media: Media;
  origin: Origin;
  /** Identifies this process among those that share the database. */
  instance: number;
  log: Logger;
}

/** Starts all services. Listens for notifications before it loads caches, so that no change in between is missed. */
export async function startServices(
  config: Config,
  database: Database,
  vault: TokenVault,
  origin: Origin,
  log: Logger,
): Promise<{ services: Services; stop(): Promise<void> }> {
  await takeRole(database, (message) => log.warn(message));
  const listener = new Listener(database, log);
  const reference = new ReferenceTables(database, entities(), listener, log);
  const names = new NamesInMemory(database, entities(), listener, log);
  const changes = new ChangeLog(database, listener, log);
  imageProcesses.timeout = config.imageTimeout;
  const media = Media.of(config);
  if (config.bucket || config.ownMediaDir) await media.files.check();
  const removal = new FileRemoval(database, media, listener, log);
  await listener.start();
  await reference.reload();
  await changes.start();
  await names.start();
  await sweepUploads(config.dataDir);
  // `close` restricts the folder to its owner; a folder chosen by the operator (MEDIA_DIR) keeps its permissions.
  if (!config.ownMediaDir && media.files instanceof FolderStore) await media.files.close();
  await finishRestores(database, media);
  await removal.run();
  const limit = new LoginLimit(database, config);
  const budgets = new Budgets(database, config.budget, log);
  budgets.start();
  const widths = new Widths();
  await widths.follow(database, log);
  database.replica?.follow((text) => database.ask(text), database.viewers.role, log);
  const retention = new EventRetention(database, config.auditDays, log);
  await retention.start();
  return {
    services: {
      config,
      database,
      listener,
      reference,
      memory: new Memory(),
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
      imageProcesses.end();
    },
  };
}
