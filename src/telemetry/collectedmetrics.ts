/**
 * Prometheus counters and gauges whose values are kept by other objects and read at each scrape. The help texts are also the tables of
 * docs/monitoring.md (`npm run docs`).
 */
import { Counter, Gauge, Registry } from 'prom-client';

type ValueByLabel = Record<string, number>;
export type Aggregator = 'sum' | 'max' | 'min';

export class CollectedMetrics {
  readonly registry = new Registry();

  /** Registers a counter: one value, or one for each value of the label. */
  addCounter<L extends string>(name: string, help: string, values: () => ValueByLabel | number, label?: L): void {
    new Counter({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.registry],
      collect() {
        this.reset();
        const current = values();
        if (typeof current === 'number') this.inc(current);
        else for (const [value, count] of Object.entries(current)) this.inc({ [label!]: value } as Record<L, string>, count);
      },
    });
  }

  addGauge<L extends string>(
    name: string,
    help: string,
    values: () => ValueByLabel | number | undefined | Promise<number | undefined>,
    { label, aggregator = 'sum' }: { label?: L; aggregator?: Aggregator } = {},
  ): void {
    new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.registry],
      aggregator,
      async collect() {
        this.reset();
        const current = await values();
        if (typeof current === 'number') this.set(current);
        else if (current === undefined) this.remove();
        else for (const [value, count] of Object.entries(current)) this.set({ [label!]: value } as Record<L, string>, count);
      },
    });
  }
}
