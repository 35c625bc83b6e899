/**
 * SQL aggregate columns of a grouped statement: counts, sums, means, standard deviations, extremes
 * and percentiles.
 */
import type { ParameterBinder } from '../access/conditions';
import { fieldsOf, type Entity, type EntityField } from '../declare/fields';
import { fieldSqlExpression } from '../sql/expressions';
import { groupFieldName, groupKeysOfFieldValues } from './group-keys';
import { groupingValueSql, type ReferenceJoins } from './joins';
import type { Statistic } from './statistics';

/** Decimal places of means, standard deviations and percentiles. */
const DECIMAL_PLACES = 10;

/**
 * The number 1 with many decimal places. Multiplying a dividend by it makes PostgreSQL compute a
 * quotient with more than DECIMAL_PLACES, because a quotient has about as many decimal places as
 * its dividend.
 */
const ONE_WITH_HIGH_SCALE_SQL = `1.${'0'.repeat(2 * DECIMAL_PLACES + 4)}`;

/** Quotient with more than DECIMAL_PLACES; null if the divisor is 0. */
const quotientSql = (dividendSql: string, divisorSql: string) =>
  `${dividendSql} * ${ONE_WITH_HIGH_SCALE_SQL} / nullif(${divisorSql}, 0)`;

const roundSql = (sql: string) => `trim_scale(round(${sql}, ${DECIMAL_PLACES}))`;

interface AggregateColumn {
  sql(bind: ParameterBinder): string;

  /** Value of the aggregate column in a group without rows, as SQL. */
  emptyValueSql: string;
}

/**
 * Aggregate columns of one statement. Equal columns are computed once, even if selection, `having`
 * and `orderBy` all use them.
 */
export class AggregateColumns {
  /** Aggregates over the rows of each group, by column name. */
  readonly columns = new Map<string, AggregateColumn>();

  /** Expressions on aggregate columns, evaluated after the aggregation, by column name. */
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

  /** Adds the column of a statistic and returns the column name. Row counts have no `fieldName`. */
  addStatistic(statistic: Statistic, fieldName: string | null | undefined): string {
    switch (statistic) {
      case 'count':
        return this.addColumn('count', () => 'count(*)', '0');
      case 'weightedCount':
        return this.addColumn('weightedCount', () => this.weightedCountSql(), '0');
      case 'countDistinct': {
        const { path, field } = groupKeysOfFieldValues(this.entity).find(
          ({ name }) => name === fieldName,
        )!;
        const value = groupingValueSql(field, this.referenceJoins.ensureJoined(path));

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

  private weightedCountSql(): string {
    if (!this.rowWeightSql) return 'count(*)::numeric';

    return `trim_scale(coalesce(sum(${this.rowWeightSql}), 0))`;
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
        if (!rowWeightSql) return `sum(${numberSql})`;

        return `trim_scale(sum(${numberSql} * ${rowWeightSql}))`;
      case 'avg':
        if (!rowWeightSql) return roundSql(quotientSql(`sum(${numberSql})`, `count(${value})`));

        return roundSql(
          quotientSql(
            `sum(${numberSql} * ${rowWeightSql})`,
            `sum(${rowWeightSql}) FILTER (WHERE ${value} IS NOT NULL)`,
          ),
        );
      case 'stddev': {
        // Sample variance: (n · Σx² − (Σx)²) / (n · (n − 1)).
        const countSql = `count(${value})`;
        const sumSql = `sum(${numberSql})`;
        const sumOfSquaresSql = `sum(${numberSql} * ${numberSql})`;
        const varianceSql = quotientSql(
          `(${countSql} * ${sumOfSquaresSql} - ${sumSql} * ${sumSql})`,
          `${countSql} * (${countSql} - 1)`,
        );

        return roundSql(`sqrt(${varianceSql})`);
      }
    }
  }

  /**
   * Adds the column of an interpolated percentile (`p` from 0 to 1) and returns the column name.
   */
  addPercentile(p: string, fieldName: string): string {
    const numberSql = `(${fieldSqlExpression(this.findField(fieldName), 't')})::numeric`;
    const sortedValuesSql = () =>
      `array_agg(${numberSql} ORDER BY ${numberSql}) FILTER (WHERE ${numberSql} IS NOT NULL)`;
    const sortedValuesColumn = `"${this.addColumn(`all ${fieldName}`, sortedValuesSql)}"`;
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
