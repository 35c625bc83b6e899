/** What is worked out of the rows of a group: the columns that a statement has for it. */
import type { Bind } from '../access/conditions';
import type { Entity, FieldMeta } from '../model/fields';
import { fieldsOf } from '../model/fields';
import { expression } from '../sql/expressions';
import { handleOf, valueKeysOf } from './facts';
import { plainValue, type JoinedRows } from './joinedrows';
import type { Statistic } from './statistics';

/** Of means, deviations and percentiles. */
const PLACES = 10;
/** A quotient has as many places as what is divided, so that it can be rounded to fewer. */
const EXACT = `1.${'0'.repeat(2 * PLACES + 4)}`;

const rounded = (sql: string) => `trim_scale(round(${sql}, ${PLACES}))`;

type Work = 'sum' | 'avg' | 'min' | 'max' | 'stddev';

/** A value of a group, by the name that its column has. */
interface Column {
  sql(bind: Bind): string;
  /** Of a group without rows. */
  empty: string;
}

/** The columns of one statement; the same is worked out once, whoever asks for it. */
export class Values {
  /** Worked out of rows. */
  readonly columns = new Map<string, Column>();
  /** Worked out of columns, once all rows have been read. */
  readonly derived = new Map<string, (bind: Bind) => string>();

  constructor(
    private readonly entity: Entity,
    private readonly weight: string | undefined,
    private readonly rows: JoinedRows,
  ) {}

  private add(name: string, sql: (bind: Bind) => string, empty = 'NULL'): string {
    if (!this.columns.has(name)) this.columns.set(name, { sql, empty });
    return name;
  }

  private field(handle: string): FieldMeta {
    return fieldsOf(this.entity).find((field) => handleOf(field) === handle)!;
  }

  /** The name of the column of a statistic; `handle` is absent for a count of rows. */
  column(statistic: Statistic, handle: string | null | undefined): string {
    if (statistic === 'count') return this.count();
    if (statistic === 'weightedCount') return this.weightedCount();
    if (statistic === 'countDistinct') return this.countDistinct(handle!);
    return statistic === 'median' ? this.percentile('0.5', handle!) : this.work(statistic, handle!);
  }

  private count(): string {
    return this.add('count', () => 'count(*)', '0');
  }

  private weightedCount(): string {
    const { weight } = this;
    return this.add('weightedCount', () => (weight ? `trim_scale(coalesce(sum(${weight}), 0))` : 'count(*)::numeric'), '0');
  }

  private countDistinct(name: string): string {
    const { path, field } = valueKeysOf(this.entity).find((key) => key.name === name)!;
    const value = plainValue(field, this.rows.at(path));
    return this.add(`countDistinct ${name}`, () => `count(DISTINCT ${value})`, '0');
  }

  private work(work: Work, handle: string): string {
    const field = this.field(handle);
    const value = expression(field, 't');
    const number = `(${value})::numeric`;
    const { weight } = this;
    const sums = {
      min: () => `min(${value})`,
      max: () => `max(${value})`,
      sum: () => (weight ? `trim_scale(sum(${number} * ${weight}))` : `sum(${number})`),
      avg: () =>
        weight
          ? rounded(`sum(${number} * ${weight}) * ${EXACT} / nullif(sum(${weight}) FILTER (WHERE ${value} IS NOT NULL), 0)`)
          : rounded(`sum(${number}) * ${EXACT} / nullif(count(${value}), 0)`),
      stddev: () =>
        rounded(
          `sqrt((count(${value}) * sum(${number} * ${number}) - sum(${number}) * sum(${number})) * ${EXACT} / nullif(count(${value}) * (count(${value}) - 1), 0))`,
        ),
    };
    return this.add(`${work} ${handle}`, sums[work]);
  }

  /** `p` from 0 to 1. */
  percentile(p: string, handle: string): string {
    const number = `(${expression(this.field(handle), 't')})::numeric`;
    const all = `"${this.add(`all ${handle}`, () => `array_agg(${number} ORDER BY ${number}) FILTER (WHERE ${number} IS NOT NULL)`)}"`;
    const name = `percentile ${Number(p)} ${handle}`;
    this.derived.set(name, (bind) => {
      const place = `(${bind(p)}::numeric * (cardinality(${all}) - 1))`;
      const low = `${all}[floor(${place})::int + 1]`;
      const high = `${all}[ceil(${place})::int + 1]`;
      return rounded(`${low} + (${place} - floor(${place})) * (${high} - ${low})`);
    });
    return name;
  }
}
