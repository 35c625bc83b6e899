/** Metrics of a worker. The primary collects them through prom-client; a worker that serves `/metrics` requests those of all workers from the primary. */
import cluster from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { CollectMetrics } from './metricsendpoint';

export type ScrapeMessage = { kind: 'scrape' } | { kind: 'scraped'; text: string };

const SCRAPE_TIMEOUT_MS = 3_000;

/** Makes this process answer the primary, with no metrics until `createMetricsCollector` is called. */
export const answerPrimary = (): unknown => new AggregatorRegistry();

/**
 * Returns a function that reads the metrics of all workers or, without a primary, those of this process. Do not call that function again before its promise
 * has settled.
 */
export function createMetricsCollector(registry: Registry): CollectMetrics {
  if (!cluster.isWorker) return () => registry.metrics();
  AggregatorRegistry.setRegistries(registry);
  let finishScrape: ((text: string) => void) | undefined;
  process.on('message', (message: ScrapeMessage) => {
    if (message.kind === 'scraped') finishScrape?.(message.text);
  });
  return () =>
    new Promise((resolve, reject) => {
      const fail = () => {
        clearTimeout(timer);
        reject(new Error('The primary process does not respond.'));
      };
      const timer = setTimeout(fail, SCRAPE_TIMEOUT_MS);
      finishScrape = (text) => {
        clearTimeout(timer);
        resolve(text);
      };
      process.send!({ kind: 'scrape' }, (error: Error | null) => error && fail());
    });
}
