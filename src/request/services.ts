/** Services that live as long as the server process. They are started and stopped together. */
import type { Logger } from 'pino';
import { AccessTokens } from '../auth/accesstokens';
import { LoginRateLimiter } from '../auth/loginratelimiter';
import { SecurityEventPruner } from '../auth/securityevents';
import { BrowserSessions } from '../auth/sessions';
import { TokenVault } from '../auth/tokens';
import type { ResolverServices } from '../core/context';
import type { Config } from '../platform/config';
import { ChangeLog } from '../core/changes/changelog';
import { NotificationListener } from '../core/changes/listener';
import { DerivedValueCache } from '../core/cache/derivedvalues';
import { PlannerStatistics } from '../core/read/plannerstatistics';
import { CatalogueCache } from '../core/cache/cataloguecache';
import { allEntities } from '../core/model/registry';
import type { Database } from '../database/connection';
import { activateViewerRole } from '../database/viewerrole';
import { imageWorkerPool } from '../files/imageworkerpool';
import { FolderStore } from '../files/folderstore';
import { Media } from '../files/media';
import { FileRemoval } from '../files/removal';
import { finishRestoresAtStart } from '../transfer/backup/files';
import { deleteAbandonedUploads } from '../platform/multipart';
import type { Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';
import { ClearTextWarning } from './cleartextwarning';
import type { ForwardedHeaders } from './forwardedheaders';
import { CostLimiter } from './costlimit';
import { IdempotencyKeyStore } from './idempotency';

export interface Services extends ResolverServices {
  config: Config;
  database: Database;
  tokenVault: TokenVault;
  browserSessions: BrowserSessions;
  accessTokens: AccessTokens;
  loginLimiter: LoginRateLimiter;
  clearTextWarning: ClearTextWarning;
  costLimiter: CostLimiter;
  idempotencyKeyStore: IdempotencyKeyStore;
  notificationListener: NotificationListener;
  plannerStatistics: PlannerStatistics;
  media: Media;
  forwardedHeaders: ForwardedHeaders;
  /** Metrics and tracing; absent if disabled by the configuration. */
  metrics?: Metrics;
  tracing?: Tracing;
}

/** Starts all services. Listens for change notifications before loading the caches, so that no change in between is missed. */
export async function startServices(
  config: Config,
  database: Database,
  tokenVault: TokenVault,
  forwardedHeaders: ForwardedHeaders,
  log: Logger,
): Promise<{ services: Services; stop(): Promise<void> }> {
  await activateViewerRole(database, (message) => log.warn(message));
  const listener = new NotificationListener(database, log);
  const catalogue = new CatalogueCache(database, allEntities(), listener);
  const changeLog = new ChangeLog(database, listener, log);
  imageWorkerPool.cpuTimeLimitMs = config.imageTimeout;
  const media = await Media.openAndCheck(config);
  const fileRemoval = new FileRemoval(database, media, listener, log);
  await listener.start();
  await catalogue.reload();
  await changeLog.start();
  await deleteAbandonedUploads(config.dataDir);
  // The permissions of the media folder are restricted, unless the operator has chosen the folder (MEDIA_DIR).
  if (!config.ownMediaDir && media.files instanceof FolderStore)
    await media.files.restrictPermissions();
  await finishRestoresAtStart(database, media);
  await fileRemoval.removeFiles();
  const costLimiter = new CostLimiter(database, config.budget, log);
  costLimiter.start();
  const plannerStatistics = new PlannerStatistics();
  await plannerStatistics.start(database, log);
  const securityEventPruner = new SecurityEventPruner(database, config.auditDays, log);
  await securityEventPruner.start();
  const idempotencyKeyStore = new IdempotencyKeyStore(
    database,
    tokenVault,
    config.keptAnswers,
    config.maxKeys,
    listener.instanceNumber,
  );
  return {
    services: {
      config,
      timeZone: config.timeZone,
      log,
      database,
      notificationListener: listener,
      catalogue,
      derivedValues: new DerivedValueCache(),
      changeLog,
      tokenVault,
      browserSessions: new BrowserSessions(tokenVault),
      accessTokens: new AccessTokens(config.maxTokens),
      loginLimiter: new LoginRateLimiter(database, config),
      clearTextWarning: new ClearTextWarning(config, forwardedHeaders, log),
      costLimiter,
      idempotencyKeyStore,
      plannerStatistics,
      media,
      forwardedHeaders,
    },
    async stop() {
      idempotencyKeyStore.stop();
      changeLog.stop();
      costLimiter.stop();
      plannerStatistics.stop();
      securityEventPruner.stop();
      await listener.stop();
      await fileRemoval.whenIdle();
      imageWorkerPool.end();
    },
  };
}
