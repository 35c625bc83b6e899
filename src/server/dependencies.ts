/** Creates the dependencies of request handling that need the services: tokens, sessions, idempotency, metrics and tracing. */
import { AccessTokens } from '../auth/accesstokens';
import { Sessions } from '../auth/sessions';
import type { RequestServices } from '../exchange/requestcontext';
import { ClearTextWarning } from '../exchange/cleartext';
import { IdempotencyKeys } from '../exchange/idempotency';
import type { Services } from '../exchange/services';
import type { AppGauges, Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';

export async function createDependencies(services: Services, counts: AppGauges): Promise<RequestServices> {
  const { config, log, database, vault, origin, instance } = services;
  return {
    ...services,
    metrics: await createMetrics(services, counts),
    tracing: await createTracing(services),
    sessions: new Sessions(vault),
    accessTokens: new AccessTokens(config.maxTokens),
    exposure: new ClearTextWarning(config, origin, log),
    idempotency: new IdempotencyKeys(database, vault, config.keptAnswers, config.maxKeys, instance),
  };
}

// Metrics and tracing are imported dynamically, so that a server with them disabled does not load their code.

async function createMetrics(services: Services, counts: AppGauges): Promise<Metrics | undefined> {
  if (!services.config.metrics) return undefined;
  const { Metrics } = await import('../telemetry/metrics.ts');
  return new Metrics(services, counts);
}

async function createTracing({ config }: Services): Promise<Tracing | undefined> {
  if (!config.tracing) return undefined;
  const { Tracing } = await import('../telemetry/tracing.ts');
  return new Tracing(config.tracing);
}
