/**
 * Metrics of several workers, added up by the process that watches over them. What a worker counted until it ended goes on to count: a counter
 * that fell would look like one that began anew. Of gauges only those of workers that answer are shown.
 */
import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { Scrape } from './scrape';
import type { Message, Metric } from './worker';

/** One that says nothing for so long is left out. */
const PATIENCE_MS = 1_000;
/** So many workers that have ended are added up. */
const MANY = 10;

const isCounted = ({ type }: Metric) => ['counter', 'histogram'].includes(String(type));

const added = (all: Metric[][]): Registry => AggregatorRegistry.aggregate(all);

/** Of the supervisor. */
export class WorkersMetrics {
  private readonly own = new Registry();
  private readonly last = new Map<Worker, Metric[]>();
  private readonly waiting = new Map<string, (metrics: Metric[]) => void>();
  /** Of workers that have ended. */
  private readonly past: Metric[][] = [];
  private number = 0;
  private readonly ended: Counter<'reason'>;

  constructor(private readonly serving: () => Worker[]) {
    const registers = [this.own];
    this.ended = new Counter({
      name: 'fitgraph_worker_ends_total',
      help: 'Workers that had to be replaced',
      labelNames: ['reason'],
      registers,
    });
    new Gauge({
      name: 'fitgraph_workers',
      help: 'Workers that serve',
      registers,
      collect() {
        this.set(serving().length);
      },
    });
    cluster.on('message', (worker, message: Message) => {
      if (message.kind === 'collected') this.waiting.get(`${worker.id} ${message.number}`)?.(message.metrics);
      if (message.kind === 'scrape')
        void this.scrape().then((text) => worker.isConnected() && worker.send({ kind: 'scraped', number: message.number, text }));
    });
    cluster.on('exit', (worker) => this.forget(worker));
  }

  lost(reason: 'hung' | 'crashed'): void {
    this.ended.inc({ reason });
  }

  readonly scrape: Scrape = async () => {
    const answering: Metric[][] = [];
    const silent: Metric[][] = [];
    const asked = this.serving().map(async (worker) => {
      const metrics = await this.ask(worker);
      if (metrics) this.last.set(worker, metrics);
      if (metrics) answering.push(metrics);
      else silent.push((this.last.get(worker) ?? []).filter(isCounted));
    });
    await Promise.all(asked);
    if (this.past.length > MANY) this.past.push(await added(this.past.splice(0)).getMetricsAsJSON());
    return added([...answering, ...silent, ...this.past, await this.own.getMetricsAsJSON()]).metrics();
  };

  private ask(worker: Worker): Promise<Metric[] | undefined> {
    const number = (this.number += 1);
    const key = `${worker.id} ${number}`;
    return new Promise((resolve) => {
      const over = (metrics?: Metric[]) => {
        clearTimeout(late);
        this.waiting.delete(key);
        resolve(metrics);
      };
      const late = setTimeout(over, PATIENCE_MS);
      this.waiting.set(key, over);
      worker.send({ kind: 'collect', number }, (error) => error && over());
    });
  }

  private forget(worker: Worker): void {
    const last = (this.last.get(worker) ?? []).filter(isCounted);
    this.last.delete(worker);
    if (last.length) this.past.push(last);
  }
}
