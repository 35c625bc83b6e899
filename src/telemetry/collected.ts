/** Counters and gauges of what is kept elsewhere: read when somebody asks for them. */
import { Counter, Gauge, Registry } from 'prom-client';

type Values = Record<string, number>;
export type Aggregator = 'sum' | 'max' | 'min';

export class Collected {
  readonly registry = new Registry();

  /** A counter that is kept elsewhere: each value by the label's, or one without a label. */
  counter<L extends string>(name: string, help: string, label: L | undefined, values: () => Values | number): void {
    new Counter({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.registry],
      collect() {
        this.reset();
        const now = values();
        if (typeof now === 'number') this.inc(now);
        else for (const [value, count] of Object.entries(now)) this.inc({ [label!]: value } as Record<L, string>, count);
      },
    });
  }

  gauge<L extends string>(
    name: string,
    help: string,
    label: L | undefined,
    values: () => Values | number | undefined | Promise<number | undefined>,
    aggregator: Aggregator = 'sum',
  ): void {
    new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.registry],
      aggregator,
      async collect() {
        this.reset();
        const now = await values();
        if (typeof now === 'number') this.set(now);
        else if (now === undefined) this.remove();
        else for (const [value, count] of Object.entries(now)) this.set({ [label!]: value } as Record<L, string>, count);
      },
    });
  }
}
