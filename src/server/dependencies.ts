/** What the app makes of the services for itself. */
import { AccessTokens } from '../auth/accesstokens';
import { Sessions } from '../auth/sessions';
import type { Dependencies } from '../exchange/exchange';
import { Exposure } from '../exchange/exposure';
import { Idempotency } from '../exchange/idempotency';
import type { Services } from '../exchange/services';
import type { AppCounts, Metrics } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';

export async function dependenciesOf(services: Services, counts: AppCounts): Promise<Dependencies> {
  const { config, log, database, vault, origin, instance } = services;
  return {
    ...services,
    metrics: await metricsOf(services, counts),
    tracing: await tracingOf(services),
    sessions: new Sessions(vault),
    accessTokens: new AccessTokens(config.maxTokens),
    exposure: new Exposure(config, origin, log),
    idempotency: new Idempotency(database, vault, config.keptAnswers, config.maxKeys, instance),
  };
}

// Their code is loaded only where somebody asks for them.

async function metricsOf(services: Services, counts: AppCounts): Promise<Metrics | undefined> {
  if (!services.config.metrics) return undefined;
  const { Metrics } = await import('../telemetry/metrics.ts');
  return new Metrics(services, counts);
}

async function tracingOf({ config }: Services): Promise<Tracing | undefined> {
  if (!config.tracing) return undefined;
  const { Tracing } = await import('../telemetry/tracing.ts');
  return new Tracing(config.tracing);
}
