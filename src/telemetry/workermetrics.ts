/** Worker side of metrics aggregation: sends the worker's metrics to the supervisor and requests those of all workers from it. */
import cluster from 'node:cluster';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { Scrape } from './scrape';

export type Metric = MetricObjectWithValues<MetricValue<string>>;

export type MetricsMessage =
  | { kind: 'collect'; number: number }
  | { kind: 'collected'; number: number; metrics: Metric[] }
  | { kind: 'scrape'; number: number }
  | { kind: 'scraped'; number: number; text: string };

const SCRAPE_TIMEOUT_MS = 3_000;

/** Returns a function that reads the metrics of all workers, or of this process if it runs without a supervisor. */
export function createScrape(registry: Registry): Scrape {
  if (!cluster.isWorker) return () => registry.metrics();
  const pendingScrapes = new Map<number, (text: string) => void>();
  let lastNumber = 0;
  process.on('message', (message: MetricsMessage) => {
    if (message.kind === 'scraped') pendingScrapes.get(message.number)?.(message.text);
    if (message.kind !== 'collect') return;
    void registry.getMetricsAsJSON().then((metrics) => process.send!({ kind: 'collected', number: message.number, metrics }));
  });
  return () =>
    new Promise((resolve, reject) => {
      const scrapeNumber = (lastNumber += 1);
      const timer = setTimeout(
        () => pendingScrapes.delete(scrapeNumber) && reject(new Error('The supervisor does not respond.')),
        SCRAPE_TIMEOUT_MS,
      );
      pendingScrapes.set(scrapeNumber, (text) => {
        clearTimeout(timer);
        pendingScrapes.delete(scrapeNumber);
        resolve(text);
      });
      process.send!({ kind: 'scrape', number: scrapeNumber });
    });
}
