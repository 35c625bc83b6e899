/**
 * Supervisor side of metrics aggregation: sums the metrics of all workers. Counters of workers that are shutting down or have exited are still included,
 * because Prometheus would interpret a falling counter as a reset. Gauges include only workers that respond.
 */
import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { CollectMetrics } from './metricsendpoint';
import type { MetricsMessage, Metric } from './workermetrics';

/** Maximum waiting time for the metrics of a worker. After that, its last known counters are used. */
const COLLECT_TIMEOUT_MS = 1_000;

const isCumulative = ({ type }: Metric) => ['counter', 'histogram'].includes(String(type));

const aggregateMetrics = (metricsOfWorkers: Metric[][]): Registry => AggregatorRegistry.aggregate(metricsOfWorkers);

export class AggregatedMetrics {
  readonly registry = new Registry();
  private readonly lastMetricsByWorker = new Map<Worker, Metric[]>();
  private readonly pendingRequestCallbacks = new Map<Worker, (metrics: Metric[]) => void>();
  private readonly metricsOfExitedWorkers: Metric[][] = [];
  private runningScrape?: Promise<string>;
  private readonly replacedWorkers: Counter<'reason'>;

  constructor(private readonly servingWorkers: () => Worker[]) {
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
        this.set(servingWorkers().length);
      },
    });
    cluster.on('message', (worker, message: MetricsMessage) => {
      if (message.kind === 'collected') this.pendingRequestCallbacks.get(worker)?.(message.metrics);
      if (message.kind === 'scrape') void this.scrape().then((text) => worker.isConnected() && worker.send({ kind: 'scraped', text }));
    });
    cluster.on('exit', (worker) => this.keepCumulativeMetrics(worker));
  }

  countLostWorker(reason: 'hung' | 'crashed'): void {
    this.replacedWorkers.inc({ reason });
  }

  /** Returns the metrics of all workers. Concurrent calls share one result. */
  readonly scrape: CollectMetrics = () => (this.runningScrape ??= this.sumMetrics().finally(() => (this.runningScrape = undefined)));

  private async sumMetrics(): Promise<string> {
    const respondingWorkers = new Set<Worker>();
    const collectFrom = async (worker: Worker) => {
      const metrics = await this.collectFromWorker(worker);
      if (!metrics || worker.isDead()) return;
      this.lastMetricsByWorker.set(worker, metrics);
      respondingWorkers.add(worker);
    };
    await Promise.all(this.servingWorkers().map(collectFrom));
    if (this.metricsOfExitedWorkers.length > 1)
      this.metricsOfExitedWorkers.push(await aggregateMetrics(this.metricsOfExitedWorkers.splice(0)).getMetricsAsJSON());
    const ownMetrics = await this.registry.getMetricsAsJSON();
    // The metrics of running and of exited workers are read without an await in between, so that a worker that exits now is counted exactly once.
    const metricsOfWorkers = [...this.lastMetricsByWorker].map(([worker, metrics]) =>
      respondingWorkers.has(worker) ? metrics : metrics.filter(isCumulative),
    );
    return aggregateMetrics([...metricsOfWorkers, ...this.metricsOfExitedWorkers, ownMetrics]).metrics();
  }

  private collectFromWorker(worker: Worker): Promise<Metric[] | undefined> {
    return new Promise((resolve) => {
      const completeRequest = (metrics?: Metric[]) => {
        clearTimeout(timer);
        this.pendingRequestCallbacks.delete(worker);
        resolve(metrics);
      };
      const timer = setTimeout(completeRequest, COLLECT_TIMEOUT_MS);
      this.pendingRequestCallbacks.set(worker, completeRequest);
      worker.send({ kind: 'collect' }, (error) => error && completeRequest());
    });
  }

  /** Keeps the last known counters and histograms of an exited worker. */
  private keepCumulativeMetrics(worker: Worker): void {
    const cumulativeMetrics = (this.lastMetricsByWorker.get(worker) ?? []).filter(isCumulative);
    this.lastMetricsByWorker.delete(worker);
    if (cumulativeMetrics.length) this.metricsOfExitedWorkers.push(cumulativeMetrics);
  }
}
