/**
 * GROUP BY queries: read the groups of a list with keys and statistics. One SQL statement serves
 * even the lists of many parent rows.
 */
import { MAX_INTEGER } from '../../shared/bounds';
import { atMostElementsMessage } from '../../shared/messages';
import type { Row } from '../../database/rows';
import { visibleRowConditions } from '../access/access';
import {
  createParameterBinder,
  whereClause,
  type ParameterBinder,
  type SqlCondition,
  allOf,
} from '../access/conditions';
import { checkCompleteness, rowLimit, validatePageSize } from '../declare/page-size';
import type { Context } from '../context';
import { invalidArgumentError, invalidInputError, type InputPath } from '../declare/errors';
import type { Entity, EntityField } from '../declare/fields';
import type { OrderDirection } from '../sql/ordering';
import { fromClause, parentConditions } from '../sql/expressions';
import { compileWhere, type FilterValue, operatorCondition } from '../sql/where';
import { ReferenceJoins } from './joins';
import {
  translateGroupBy,
  type GroupByInput,
  type GroupKey,
  type TranslatedGroupBy,
} from './group-by-translation';
import {
  type RequestedStatistics,
  statisticValueKind,
  type Statistic,
  type StatisticReference,
} from './statistics';
import { countDistinctPropertyName, percentilePropertyName } from './types';
import { AggregateColumns } from './aggregates';
import { havingFieldName } from './inputs';

const MAX_HAVING_ELEMENTS = 20;

type HavingInput = StatisticReference & Record<string, FilterValue>;

/** Translates the argument `having` to an SQL condition on the statistics of groups. */
function havingConditionOf(
  entity: Entity,
  elements: readonly HavingInput[] | null | undefined,
  aggregates: AggregateColumns,
): SqlCondition | undefined {
  if (!elements) return undefined;

  if (elements.length > MAX_HAVING_ELEMENTS) {
    throw invalidArgumentError('having', atMostElementsMessage(MAX_HAVING_ELEMENTS));
  }

  return allOf(
    elements.flatMap((element, index) =>
      havingElementConditions(entity, element, ['having', String(index)], aggregates),
    ),
  );
}

function havingElementConditions(
  entity: Entity,
  { statistic, of, ...filters }: HavingInput,
  inputPath: InputPath,
  aggregates: AggregateColumns,
): SqlCondition[] {
  const kind = statisticValueKind(entity, { statistic, of }, inputPath);
  const name = havingFieldName(kind);
  const [misplacedName] = Object.keys(filters).filter(
    (key) => key !== name && filters[key] != null,
  );

  if (misplacedName || filters[name] == null) {
    throw invalidInputError(
      [...inputPath, misplacedName ?? name],
      `Use \`${name}\` for a condition on this statistic.`,
    );
  }

  const column = aggregates.addStatistic(statistic, of);
  // The cast of integer statistics to `numeric` permits comparisons with decimals.
  const sql = (alias: string) => `${alias}."${column}"${name === 'is' ? '::numeric' : ''}`;
  const field = { name: column, kind, sql } as EntityField;

  return Object.entries(filters[name] as Record<string, FilterValue>).flatMap(
    ([operator, value]) => {
      if (value === undefined) return [];
      const operatorPath = [...inputPath, name, operator];

      return operatorCondition(field, operator, value, false, operatorPath);
    },
  );
}

type WhereArgument = Record<string, FilterValue>;

/** An element of `orderBy`: a `@oneOf` input object, of which exactly one member is set. */
interface GroupOrder {
  /** `number` is that of an element of `groupBy`, starting at 1. */
  key?: { number: number; direction: OrderDirection };
  statistic?: { name: Statistic; of?: string | null; direction: OrderDirection };
}

export interface GroupArguments {
  where?: WhereArgument | null;
  groupBy?: readonly GroupByInput[] | null;
  having?: readonly HavingInput[] | null;
  orderBy?: readonly GroupOrder[] | null;
  first?: number | null;
  offset?: number | null;
}

const MAX_ORDER_TERMS = 20;

/**
 * Maximum number of steps between the smallest and the largest value of a key with empty groups.
 */
const MAX_SERIES_STEPS = 10_000;

/** Maximum number of groups if empty groups are requested. */
const MAX_SERIES_GROUPS = 100_000;

const keyColumn = (index: number) => `"key${index}"`;

export class GroupQuery {
  private readonly referenceJoins: ReferenceJoins;
  private readonly translatedGroupBy: TranslatedGroupBy;
  private readonly aggregates: AggregateColumns;
  private readonly conditions: SqlCondition[];
  private readonly joins: SqlCondition[];
  private readonly havingCondition?: SqlCondition;
  private readonly orderTerms: string[];
  private readonly first: number;
  private readonly offset: number;

  constructor(
    private readonly entity: Entity,
    args: GroupArguments,
    private readonly requestedStatistics: RequestedStatistics,
    private readonly context: Context,
    referenceFieldName?: string,
  ) {
    const { conditions, joins } = compileWhere(entity, args.where, context, [
      ...parentConditions(entity, referenceFieldName),
      ...visibleRowConditions(entity, context),
    ]);

    this.conditions = conditions;
    this.joins = joins;
    this.referenceJoins = new ReferenceJoins(context);
    this.translatedGroupBy = translateGroupBy(entity, args.groupBy, context, this.referenceJoins);
    this.aggregates = new AggregateColumns(
      entity,
      this.translatedGroupBy.rowWeightSql,
      this.referenceJoins,
    );
    this.havingCondition = havingConditionOf(entity, args.having, this.aggregates);
    this.orderTerms = this.translateOrderBy(args.orderBy ?? []);

    for (const [name, fieldNames] of requestedStatistics.fieldNamesByStatistic) {
      if (name === 'count' || name === 'weightedCount') {
        this.aggregates.addStatistic(name, undefined);
      } else {
        for (const fieldName of fieldNames) {
          this.aggregates.addStatistic(name as Statistic, fieldName);
        }
      }
    }

    for (const { p, fieldNames } of requestedStatistics.percentiles) {
      for (const fieldName of fieldNames) this.aggregates.addPercentile(p, fieldName);
    }

    for (const fieldName of requestedStatistics.countDistinctFieldNames) {
      this.aggregates.addStatistic('countDistinct', fieldName);
    }

    this.first = rowLimit(args.first);
    this.offset = validatePageSize('offset', args.offset, MAX_INTEGER) ?? 0;
  }

  /** Translates `orderBy` to SQL sort terms. All group keys follow, so that the order is total. */
  private translateOrderBy(orderBy: readonly GroupOrder[]): string[] {
    if (orderBy.length > MAX_ORDER_TERMS) {
      throw invalidArgumentError('orderBy', atMostElementsMessage(MAX_ORDER_TERMS));
    }

    const { keys } = this.translatedGroupBy;
    const keyOrderSql = (index: number, direction: OrderDirection) =>
      orderTermSql(keys[index]!.orderSql(keyColumn(index)), direction);
    const terms = orderBy.map(({ key, statistic }, index) => {
      if (statistic) {
        const { name, of, direction } = statistic;

        statisticValueKind(this.entity, { statistic: name, of }, [
          'orderBy',
          String(index),
          'statistic',
        ]);

        return orderTermSql(`"${this.aggregates.addStatistic(name, of)}"`, direction);
      }

      const { number, direction } = key!;

      if (number < 1 || number > keys.length) {
        throw invalidInputError(
          ['orderBy', String(index), 'key', 'number'],
          'Ensure that this is the number of an element of `groupBy`, from 1.',
        );
      }

      return keyOrderSql(number - 1, direction);
    });

    return [...terms, ...keys.map((_, index) => keyOrderSql(index, 'ASC' as OrderDirection))];
  }

  /**
   * Builds the SQL statement of a grouped query from CTEs: `g` reads the groups, `e` adds empty
   * groups, `w` adds percentiles, `h` applies HAVING.
   */
  private statementSql(bind: ParameterBinder): string {
    const { keys } = this.translatedGroupBy;
    const { columns, percentileColumns } = this.aggregates;
    const keyColumns = keys.map((_, index) => keyColumn(index));
    const aggregateSelectItems = [...columns].map(([name, { sql }]) => `${sql(bind)} AS "${name}"`);
    const selectList = [
      ...keys.map(({ sql }, index) => `${sql(bind)} AS ${keyColumn(index)}`),
      ...aggregateSelectItems,
    ];
    const allJoins = [...this.joins, ...this.referenceJoins.joins];
    const fromSql = fromClause(this.entity, allJoins, bind);
    const sourceSql = `${fromSql}${whereClause(this.conditions, 't', bind)}`;
    const keyPositions = keys.map((_, index) => index + 1);
    const groupBySql = keys.length ? ` GROUP BY ${keyPositions.join(', ')}` : '';
    const ctes = [
      // Without keys, an aggregate makes all rows one group.
      `g AS (SELECT ${selectList.join(', ') || 'count(*) AS "any"'} ${sourceSql}${groupBySql})`,
    ];
    let groupsCteName = 'g';
    const seriesKeyIndex = keys.findIndex(({ generateSeriesSql }) => generateSeriesSql);

    if (seriesKeyIndex >= 0) {
      ctes.push(...this.emptyGroupCtes(keys, seriesKeyIndex, bind));
      groupsCteName = 'e';
    }

    // Columns with all values of a field (`all <field>`) only serve to compute percentiles.
    const statisticNames = [...columns.keys()].filter((name) => !name.startsWith('all '));
    const resultColumns = [...keyColumns, ...statisticNames.map((name) => `"${name}"`)];
    const percentileSelectItems = [...percentileColumns].map(
      ([name, sql]) => `${sql(bind)} AS "${name}"`,
    );

    ctes.push(
      `w AS (SELECT ${[...resultColumns, ...percentileSelectItems].join(', ') || 'TRUE AS "any"'}
        FROM ${groupsCteName})`,
    );
    const havingSql = this.havingCondition ? ` WHERE ${this.havingCondition('w', bind)}` : '';

    ctes.push(`h AS (SELECT * FROM w${havingSql})`);
    const overflowSelectItem =
      seriesKeyIndex >= 0 ? '(SELECT "over" FROM s) AS "_over"' : 'FALSE AS "_over"';
    const orderBySql = this.orderTerms.length ? ` ORDER BY ${this.orderTerms.join(', ')}` : '';
    const pageSql = `SELECT TRUE AS "_row", h.* FROM h${orderBySql}
      LIMIT ${bind(this.first)} OFFSET ${bind(this.offset)}`;

    return `WITH ${ctes.join(', ')} SELECT c.*, p.* FROM (SELECT ${overflowSelectItem}) c
      LEFT JOIN LATERAL (${pageSql}) p ON TRUE`;
  }

  /**
   * CTEs that add empty groups between the smallest and the largest value of a key, for each
   * combination of the other keys. Beyond MAX_SERIES_STEPS or MAX_SERIES_GROUPS they add none and
   * set the column `over` to true. `o` contains the combinations of the other keys, `b` the
   * smallest and largest value, `r` whether there are too many groups, `s` the bounds of the
   * series, `v` its values, `n` the missing groups, and `e` all groups.
   */
  private emptyGroupCtes(
    keys: readonly GroupKey[],
    index: number,
    bind: ParameterBinder,
  ): string[] {
    const { generateSeriesSql, stepCountSql } = keys[index]!;
    const column = keyColumn(index);
    const otherColumns = keys
      .map((_, keyIndex) => keyColumn(keyIndex))
      .filter((other) => other !== column);
    const seriesValueOr = (other: string) => (other === column ? 'v."value"' : `o.${other}`);
    const values = keys.map((_, keyIndex) => seriesValueOr(keyColumn(keyIndex)));
    const emptyValues = [...this.aggregates.columns.values()].map(
      (aggregate) => aggregate.emptyValueSql,
    );
    const distinctSql = `SELECT DISTINCT ${otherColumns.join(', ')} FROM g`;
    const combinationsSql = otherColumns.length ? distinctSql : 'SELECT';

    return [
      `o AS (${combinationsSql})`,
      `b AS (SELECT min(${column}) AS "low", max(${column}) AS "high" FROM g)`,
      `r AS (SELECT "low", "high", coalesce("steps" > ${MAX_SERIES_STEPS}
        OR "steps" * (SELECT count(*) FROM o) > ${MAX_SERIES_GROUPS}, FALSE) AS "over"
        FROM b, LATERAL (SELECT ${stepCountSql!('"low"', '"high"', bind)} AS "steps") n)`,
      `s AS (SELECT "over", CASE WHEN NOT "over" THEN "low" END AS "low", CASE WHEN NOT "over"
        THEN "high" END AS "high" FROM r)`,
      `v AS (SELECT ${generateSeriesSql!('"low"', '"high"', bind)} AS "value" FROM s)`,
      `n AS (SELECT ${values.join(', ')} FROM o CROSS JOIN v EXCEPT
        SELECT ${keys.map((_, keyIndex) => keyColumn(keyIndex)).join(', ')} FROM g)`,
      `e AS (SELECT * FROM g UNION ALL SELECT ${['n.*', ...emptyValues].join(', ')} FROM n)`,
    ];
  }

  async readGroups(): Promise<Row[]> {
    const { bind, values } = createParameterBinder();
    const rows = await this.context.session.query(this.statementSql(bind), values);

    return this.assembleGroups(rows);
  }

  /**
   * Reads the groups of child rows for each parent row with one statement. The query must have been
   * created with the child field that references the parent row.
   */
  async readGroupsOfParents(parentIds: readonly number[]): Promise<Row[][]> {
    const { bind, values } = createParameterBinder();
    const idsParameter = bind(parentIds);
    const rows = await this.context.session.query(
      `SELECT p.id AS "_parent", c.* FROM unnest(${idsParameter}::int[]) AS p(id)
        CROSS JOIN LATERAL (${this.statementSql(bind)}) c`,
      values,
    );
    const rowsByParent = new Map<number, Row[]>(parentIds.map((id) => [id, []]));

    for (const row of rows) rowsByParent.get(row._parent)!.push(row);

    return parentIds.map((id) => this.assembleGroups(rowsByParent.get(id)!));
  }

  private assembleGroups(rows: readonly Row[]): Row[] {
    if (rows[0]?._over) {
      throw invalidArgumentError(
        'groupBy',
        `There are more than ${MAX_SERIES_STEPS} steps between the first and the last group, or more than ${MAX_SERIES_GROUPS} groups. Narrow the range, or omit \`empty\`.`,
      );
    }

    checkCompleteness(rows.length, 'Use `first`, narrow `where`, or group by larger units.');
    return rows.filter((row) => row._row).map((row) => this.toGroup(row));
  }

  private toGroup(row: Row): Row {
    const keyValues: Row = {};

    this.translatedGroupBy.keys.forEach((key, index) =>
      key.assignValue(keyValues, row[`key${index}`]),
    );
    const group: Row = { keys: keyValues, count: row.count, weightedCount: row.weightedCount };
    const setValue = (name: string, fieldName: string, value: unknown) =>
      void ((group[name] ??= {})[fieldName] = value);

    for (const [name, fieldNames] of this.requestedStatistics.fieldNamesByStatistic) {
      for (const fieldName of fieldNames) {
        setValue(name, fieldName, row[this.aggregates.addStatistic(name as Statistic, fieldName)]);
      }
    }

    for (const { p, fieldNames } of this.requestedStatistics.percentiles) {
      for (const fieldName of fieldNames) {
        setValue(
          percentilePropertyName(p),
          fieldName,
          row[this.aggregates.addPercentile(p, fieldName)],
        );
      }
    }

    for (const fieldName of this.requestedStatistics.countDistinctFieldNames) {
      group[countDistinctPropertyName(fieldName)] =
        row[this.aggregates.addStatistic('countDistinct', fieldName)];
    }

    // A statistic that selects only `__typename` must still be an object.
    for (const name of this.requestedStatistics.fieldNamesByStatistic.keys()) group[name] ??= {};

    for (const { p } of this.requestedStatistics.percentiles) {
      group[percentilePropertyName(p)] ??= {};
    }

    return group;
  }
}

function orderTermSql(sql: string, direction: OrderDirection): string {
  const [sortDirection, nullsPosition] = direction.split('_NULLS_');

  return `${sql} ${sortDirection}${nullsPosition ? ` NULLS ${nullsPosition}` : ''}`;
}
