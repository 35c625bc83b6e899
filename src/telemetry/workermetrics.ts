/** Worker side of metrics aggregation: sends the worker's metrics to the supervisor and requests those of all workers from it. */
import cluster from 'node:cluster';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { Scrape } from './scrape';

export type Metric = MetricObjectWithValues<MetricValue<string>>;

/** `collect` asks a worker for its metrics, `scrape` the supervisor for those of all workers. */
export type MetricsMessage =
  { kind: 'collect' } | { kind: 'collected'; metrics: Metric[] } | { kind: 'scrape' } | { kind: 'scraped'; text: string };

const SCRAPE_TIMEOUT_MS = 3_000;

/**
 * Returns a function that reads the metrics of all workers, or of this process if it runs without a supervisor. Call it again only after it has
 * settled.
 */
export function createScrape(registry: Registry): Scrape {
  if (!cluster.isWorker) return () => registry.metrics();
  let finish: ((text: string) => void) | undefined;
  process.on('message', (message: MetricsMessage) => {
    if (message.kind === 'scraped') finish?.(message.text);
    if (message.kind !== 'collect') return;
    void registry.getMetricsAsJSON().then((metrics) => process.send!({ kind: 'collected', metrics }));
  });
  return () =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The supervisor does not respond.')), SCRAPE_TIMEOUT_MS);
      finish = (text) => {
        clearTimeout(timer);
        resolve(text);
      };
      process.send!({ kind: 'scrape' });
    });
}
