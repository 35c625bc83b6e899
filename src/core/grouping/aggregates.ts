/** SQL aggregate columns of a grouped statement: counts, sums, means, standard deviations, extremes and percentiles. */
import type { ParameterBinder } from '../access/conditions';
import { fieldsOf, type Entity, type EntityField } from '../model/fields';
import { fieldSqlExpression } from '../sql/expressions';
import { groupFieldName, groupKeysOfFieldValues } from './groupkeys';
import { groupingValueSql, type ReferenceJoins } from './joins';
import type { Statistic } from './statistics';

/** Decimal places of means, standard deviations and percentiles. */
const DECIMAL_PLACES = 10;
/**
 * The number 1 with many decimal places. Dividends are multiplied by it, because PostgreSQL derives the decimal places of a quotient from those of
 * its dividend, which must therefore have more than DECIMAL_PLACES.
 */
const ONE_WITH_HIGH_SCALE_SQL = `1.${'0'.repeat(2 * DECIMAL_PLACES + 4)}`;

const roundSql = (sql: string) => `trim_scale(round(${sql}, ${DECIMAL_PLACES}))`;

interface AggregateColumn {
  sql(bind: ParameterBinder): string;
  /** SQL of the value that the aggregate column has in a group without rows. */
  emptyValueSql: string;
}

/** The aggregate columns of one statement. Equal columns are computed once, even if selection, `having` and `orderBy` all use them. */
export class AggregateColumns {
  /** SQL aggregates over the rows of each group, by column name. */
  readonly columns = new Map<string, AggregateColumn>();
  /** Expressions on aggregate columns, by column name. They are evaluated after the aggregation. */
  readonly percentileColumns = new Map<string, (bind: ParameterBinder) => string>();

  constructor(
    private readonly entity: Entity,
    private readonly rowWeightSql: string | undefined,
    private readonly referenceJoins: ReferenceJoins,
  ) {}

  private addColumn(
    name: string,
    sql: (bind: ParameterBinder) => string,
    emptyValueSql = 'NULL',
  ): string {
    if (!this.columns.has(name)) this.columns.set(name, { sql, emptyValueSql });
    return name;
  }

  private findField(fieldName: string): EntityField {
    return fieldsOf(this.entity).find((field) => groupFieldName(field) === fieldName)!;
  }

  /** Adds the column of a statistic and returns its name. `fieldName` is absent for row counts. */
  addStatistic(statistic: Statistic, fieldName: string | null | undefined): string {
    const { rowWeightSql } = this;
    switch (statistic) {
      case 'count':
        return this.addColumn('count', () => 'count(*)', '0');
      case 'weightedCount':
        return this.addColumn(
          'weightedCount',
          () =>
            rowWeightSql ? `trim_scale(coalesce(sum(${rowWeightSql}), 0))` : 'count(*)::numeric',
          '0',
        );
      case 'countDistinct': {
        const { path, field } = groupKeysOfFieldValues(this.entity).find(
          ({ name }) => name === fieldName,
        )!;
        const value = groupingValueSql(field, this.referenceJoins.aliasOf(path));
        return this.addColumn(`countDistinct ${fieldName!}`, () => `count(DISTINCT ${value})`, '0');
      }
      case 'median':
        return this.addPercentile('0.5', fieldName!);
      default:
        return this.addColumn(`${statistic} ${fieldName!}`, () =>
          this.aggregateSql(statistic, fieldName!),
        );
    }
  }

  private aggregateSql(name: 'sum' | 'avg' | 'min' | 'max' | 'stddev', fieldName: string): string {
    const value = fieldSqlExpression(this.findField(fieldName), 't');
    const numberSql = `(${value})::numeric`;
    const { rowWeightSql } = this;
    switch (name) {
      case 'min':
      case 'max':
        return `${name}(${value})`;
      case 'sum':
        return rowWeightSql
          ? `trim_scale(sum(${numberSql} * ${rowWeightSql}))`
          : `sum(${numberSql})`;
      case 'avg':
        return rowWeightSql
          ? roundSql(
              `sum(${numberSql} * ${rowWeightSql}) * ${ONE_WITH_HIGH_SCALE_SQL} / nullif(sum(${rowWeightSql}) FILTER (WHERE ${value} IS NOT NULL), 0)`,
            )
          : roundSql(`sum(${numberSql}) * ${ONE_WITH_HIGH_SCALE_SQL} / nullif(count(${value}), 0)`);
      case 'stddev':
        return roundSql(
          `sqrt((count(${value}) * sum(${numberSql} * ${numberSql}) - sum(${numberSql}) * sum(${numberSql})) * ${ONE_WITH_HIGH_SCALE_SQL} / nullif(count(${value}) * (count(${value}) - 1), 0))`,
        );
    }
  }

  /** Adds the column of an interpolated percentile and returns its name. `p` is from 0 to 1. */
  addPercentile(p: string, fieldName: string): string {
    const numberSql = `(${fieldSqlExpression(this.findField(fieldName), 't')})::numeric`;
    const sortedValuesColumn = `"${this.addColumn(`all ${fieldName}`, () => `array_agg(${numberSql} ORDER BY ${numberSql}) FILTER (WHERE ${numberSql} IS NOT NULL)`)}"`;
    const name = `percentile ${Number(p)} ${fieldName}`;
    this.percentileColumns.set(name, (bind) => {
      const positionSql = `(${bind(p)}::numeric * (cardinality(${sortedValuesColumn}) - 1))`;
      const lowerValueSql = `${sortedValuesColumn}[floor(${positionSql})::int + 1]`;
      const upperValueSql = `${sortedValuesColumn}[ceil(${positionSql})::int + 1]`;
      return roundSql(
        `${lowerValueSql} + (${positionSql} - floor(${positionSql})) * (${upperValueSql} - ${lowerValueSql})`,
      );
    });
    return name;
  }
}
