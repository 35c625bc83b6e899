/** Metrics between a worker and its supervisor, which adds those of all workers up. */
import cluster from 'node:cluster';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { Scrape } from './scrape';

export type Metric = MetricObjectWithValues<MetricValue<string>>;

export type Message =
  | { kind: 'collect'; number: number }
  | { kind: 'collected'; number: number; metrics: Metric[] }
  | { kind: 'scrape'; number: number }
  | { kind: 'scraped'; number: number; text: string };

const TOO_LONG_MS = 3_000;

/** How to read all metrics, asked in a process with these of its own. */
export function scrapeOf(registry: Registry): Scrape {
  if (!cluster.isWorker) return () => registry.metrics();
  const waiting = new Map<number, (text: string) => void>();
  let number = 0;
  process.on('message', (message: Message) => {
    if (message.kind === 'scraped') waiting.get(message.number)?.(message.text);
    if (message.kind !== 'collect') return;
    void registry.getMetricsAsJSON().then((metrics) => process.send!({ kind: 'collected', number: message.number, metrics }));
  });
  return () =>
    new Promise((resolve, reject) => {
      const asked = (number += 1);
      const late = setTimeout(() => waiting.delete(asked) && reject(new Error('The supervisor does not answer.')), TOO_LONG_MS);
      waiting.set(asked, (text) => {
        clearTimeout(late);
        waiting.delete(asked);
        resolve(text);
      });
      process.send!({ kind: 'scrape', number: asked });
    });
}
