/** Metrics of the primary, and of all workers together (aggregated by prom-client). */
import cluster from 'node:cluster';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { CollectMetrics } from './metrics-endpoint';
import type { ScrapeMessage } from './worker-metrics';

export class ClusterMetrics {
  private readonly workerRegistry = new AggregatorRegistry();
  readonly registry = new Registry();
  private readonly workerExits: Counter<'reason'>;

  constructor(countServingWorkers: () => number) {
    const registers = [this.registry];

    this.workerExits = new Counter({
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
      const send = (reply: ScrapeMessage) => worker.isConnected() && worker.send(reply);

      if (kind !== 'scrape') return;
      this.scrape().then(
        (text) => send({ kind: 'scraped', text }),
        // Another worker hangs or has exited, and the one that asked no longer waits.
        () => undefined,
      );
    });
  }

  countLostWorker(reason: 'hung' | 'crashed'): void {
    this.workerExits.inc({ reason });
  }

  readonly scrape: CollectMetrics = async () =>
    `${await this.workerRegistry.clusterMetrics()}\n${await this.registry.metrics()}`;
}
