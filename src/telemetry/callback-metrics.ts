/**
 * Prometheus counters and gauges whose values are stored in other objects and read at each scrape.
 * `npm run docs` copies the help strings to the tables of docs/monitoring.md.
 */
import { Counter, Gauge, Registry } from 'prom-client';

type ValueByLabel = Record<string, number>;
type Aggregator = 'sum' | 'max' | 'min';

export class CallbackMetrics {
  readonly registry = new Registry();

  /**
   * Registers a counter. `readValues` yields a single value or, with `label`, a value for each
   * label value.
   */
  addCounter<L extends string>(
    name: string,
    help: string,
    readValues: () => ValueByLabel | number,
    label?: L,
  ): void {
    new Counter({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.registry],
      collect() {
        this.reset();
        const currentValue = readValues();

        if (typeof currentValue === 'number') this.inc(currentValue);
        else {
          for (const [value, count] of Object.entries(currentValue)) {
            this.inc({ [label!]: value } as Record<L, string>, count);
          }
        }
      },
    });
  }

  /** Registers a gauge. `aggregator` says how the primary combines the values of the workers. */
  addGauge<L extends string>(
    name: string,
    help: string,
    readValues: () => ValueByLabel | number | undefined | Promise<number | undefined>,
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
        const currentValue = await readValues();

        if (typeof currentValue === 'number') this.set(currentValue);
        else if (currentValue === undefined) this.remove();
        else {
          for (const [value, count] of Object.entries(currentValue)) {
            this.set({ [label!]: value } as Record<L, string>, count);
          }
        }
      },
    });
  }
}
