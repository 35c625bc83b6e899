/** Metrics of all workers, summed by prom-client, and of the primary. */
import cluster from 'node:cluster';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { CollectMetrics } from './metricsendpoint';
import type { ScrapeMessage } from './workermetrics';

export class ClusterMetrics {
  private readonly workers = new AggregatorRegistry();
  readonly registry = new Registry();
  private readonly replacedWorkers: Counter<'reason'>;

  constructor(countServingWorkers: () => number) {
    const registers = [this.registry];
    this.replacedWorkers = new Counter({
      name: 'fitgraph_worker_exits_total',
      help: 'Workers that were replaced, by `reason`: `hung`, `crashed`. Absent until it happens, and with `WEB_CONCURRENCY=0`.',
      labelNames: ['reason'],
      registers,
    });
    new Gauge({
      name: 'fitgraph_workers',
      help: 'Serving workers. Absent with `WEB_CONCURRENCY=0`.',
      registers,
      collect() {
        this.set(countServingWorkers());
      },
    });
    cluster.on('message', (worker, { kind }: ScrapeMessage) => {
      const send = (answer: ScrapeMessage) => worker.isConnected() && worker.send(answer);
      if (kind === 'scrape') void this.scrape().then((text) => send({ kind: 'scraped', text }));
    });
  }

  countLostWorker(reason: 'hung' | 'crashed'): void {
    this.replacedWorkers.inc({ reason });
  }

  readonly scrape: CollectMetrics = async () =>
    `${await this.workers.clusterMetrics()}\n${await this.registry.metrics()}`;
}
