/** Services that live as long as the server process. */
import type { Logger } from 'pino';
import { AccessTokens } from '../accounts/access-tokens';
import { LoginRateLimiter } from '../accounts/login-rate-limiter';
import { OpenIdProvider } from '../accounts/openid-connect';
import { SecurityEventPruner } from '../accounts/security-events';
import { BrowserSessions } from '../accounts/sessions';
import { TokenVault } from '../accounts/tokens';
import type { ResolverServices } from '../engine/context';
import type { Config } from '../shared/config';
import { ChangeLog } from '../engine/changes/change-log';
import { NotificationListener } from '../engine/changes/listener';
import { DerivedValueCache } from '../engine/changes/derived-values';
import { PublicDataVersion, type SharedCounter } from '../engine/changes/public-data';
import { PlannerStatistics } from '../engine/read/planner-statistics';
import { CatalogueCache } from '../engine/changes/catalogue-cache';
import { allEntities } from '../engine/declare/registry';
import type { Database } from '../database/connection';
import { activateViewerRole } from '../database/viewer-role';
import { imageWorkerPool } from '../files/image-worker-pool';
import { FolderStore } from '../files/folder-store';
import { Media } from '../files/media';
import { FileRemoval } from '../files/removal';
import { finishRestoresAtStart } from '../transfer/backup/files';
import { deleteAbandonedUploads } from '../shared/multipart';
import { HealthReport } from '../telemetry/health-report';
import type { Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';
import { ClearTextWarning } from './clear-text-warning';
import type { ForwardedHeaders } from './forwarded-headers';
import { CostRateLimiter } from './cost-rate-limit';
import { IdempotencyKeyStore } from './idempotency';
import { SlowRequests } from './slow-requests';

export interface Services extends ResolverServices {
  config: Config;
  database: Database;
  tokenVault: TokenVault;
  browserSessions: BrowserSessions;
  accessTokens: AccessTokens;
  loginLimiter: LoginRateLimiter;
  openIdProvider?: OpenIdProvider;
  clearTextWarning: ClearTextWarning;
  costRateLimiter: CostRateLimiter;
  idempotencyKeyStore: IdempotencyKeyStore;
  catalogue: CatalogueCache;
  derivedValues: DerivedValueCache;
  publicData: PublicDataVersion;
  notificationListener: NotificationListener;
  plannerStatistics: PlannerStatistics;
  media: Media;
  forwardedHeaders: ForwardedHeaders;
  slowRequests: SlowRequests;
  healthReport: HealthReport;

  metrics?: Metrics;
  tracing?: Tracing;
}

/**
 * Starts all services. Listening for change notifications begins before the caches are loaded, so
 * that no change is missed.
 */
export async function startServices(
  config: Config,
  database: Database,
  tokenVault: TokenVault,
  forwardedHeaders: ForwardedHeaders,
  log: Logger,
  writeCounter?: SharedCounter,
): Promise<{ services: Services; stop(): Promise<void> }> {
  await activateViewerRole(database, (message) => log.warn(message));
  const listener = new NotificationListener(database, log);
  const catalogue = new CatalogueCache(database, allEntities(), listener);
  const changeLog = new ChangeLog(database, listener, log);
  const publicData = new PublicDataVersion(listener, catalogue, writeCounter);

  imageWorkerPool.cpuTimeLimitMs = config.imageTimeout;
  imageWorkerPool.maxJpegMegapixels = config.maxJpegMegapixels;
  const media = await Media.openAndCheck(config);
  const fileRemoval = new FileRemoval(database, media, listener, log);

  database.onPublicWrite = publicData.noteWrite;
  await listener.start();
  await catalogue.reload();
  await changeLog.start();
  await deleteAbandonedUploads(config.dataDir);

  // Restricts the permissions of the media folder, unless the operator has chosen the folder
  // (MEDIA_DIR).
  if (!config.isMediaDirSet && media.files instanceof FolderStore) {
    await media.files.restrictPermissions();
  }

  await finishRestoresAtStart(database, media);
  await fileRemoval.removeFiles();
  const costRateLimiter = new CostRateLimiter(database, config.budget, log);

  costRateLimiter.start();
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
      publicData,
      changeLog,
      tokenVault,
      browserSessions: new BrowserSessions(tokenVault, forwardedHeaders.basePath),
      accessTokens: new AccessTokens(config.maxTokens),
      loginLimiter: new LoginRateLimiter(database, config),
      openIdProvider: config.oidcIssuer ? new OpenIdProvider(config, tokenVault, log) : undefined,
      clearTextWarning: new ClearTextWarning(config, forwardedHeaders, log),
      costRateLimiter,
      idempotencyKeyStore,
      plannerStatistics,
      media,
      forwardedHeaders,
      slowRequests: new SlowRequests(),
      healthReport: new HealthReport(config, database),
    },
    async stop() {
      idempotencyKeyStore.stop();
      changeLog.stop();
      costRateLimiter.stop();
      plannerStatistics.stop();
      securityEventPruner.stop();
      await listener.stop();
      await fileRemoval.whenIdle();
      imageWorkerPool.end();
    },
  };
}
