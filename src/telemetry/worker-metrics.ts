/**
 * Metrics of a worker. The primary collects them through prom-client. A worker that serves
 * `/metrics` requests the metrics of all workers from the primary.
 */
import cluster from 'node:cluster';
import { AggregatorRegistry, type Registry } from 'prom-client';
import type { CollectMetrics } from './metrics-endpoint';

export type ScrapeMessage = { kind: 'scrape' } | { kind: 'scraped'; text: string };

const SCRAPE_TIMEOUT_MS = 3_000;

/**
 * Makes this worker answer requests for its metrics from the primary. The answers are empty until
 * `createMetricsCollector` is called.
 */
export const answerMetricsRequests = (): unknown => new AggregatorRegistry();

/**
 * Creates a collector of the metrics of all workers or, without a primary, of this process. Do not
 * call the collector again before its promise has settled.
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
