/** Worker side of metrics aggregation: sends the metrics of this worker to the supervisor, and requests those of all workers from it. */
import cluster from 'node:cluster';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { CollectMetrics } from './metricsendpoint';

export type Metric = MetricObjectWithValues<MetricValue<string>>;

/**
 * Messages between supervisor and worker. The supervisor requests the metrics of a worker by `collect`, and the worker answers with `collected`. A worker
 * requests those of all workers by `scrape`, and the supervisor answers with `scraped`.
 */
export type MetricsMessage =
  { kind: 'collect' } | { kind: 'collected'; metrics: Metric[] } | { kind: 'scrape' } | { kind: 'scraped'; text: string };

const SCRAPE_TIMEOUT_MS = 3_000;

/**
 * Returns a function that reads the metrics of all workers or, without a supervisor, those of this process. Do not call that function again before its
 * promise has settled.
 */
export function createMetricsCollector(registry: Registry): CollectMetrics {
  if (!cluster.isWorker) return () => registry.metrics();
  let finishScrape: ((text: string) => void) | undefined;
  process.on('message', (message: MetricsMessage) => {
    if (message.kind === 'scraped') finishScrape?.(message.text);
    if (message.kind !== 'collect') return;
    // The IPC channel may already be closed if the worker is shutting down. With a callback, send() does not emit the resulting error as an 'error' event.
    void registry.getMetricsAsJSON().then((metrics) => process.send!({ kind: 'collected', metrics }, () => undefined));
  });
  return () =>
    new Promise((resolve, reject) => {
      const fail = () => {
        clearTimeout(timer);
        reject(new Error('The supervisor does not respond.'));
      };
      const timer = setTimeout(fail, SCRAPE_TIMEOUT_MS);
      finishScrape = (text) => {
        clearTimeout(timer);
        resolve(text);
      };
      process.send!({ kind: 'scrape' }, (error: Error | null) => error && fail());
    });
}
