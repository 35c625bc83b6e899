/**
 * GROUP BY keys: translates the argument `groupBy` to SQL expressions and joins, and assigns the
 * selected values to the `keys` of groups.
 */
import { Decimal } from 'decimal.js';
import {
  atLeastMessage,
  atMostElementsMessage,
  NOT_A_TIME_ZONE_MESSAGE,
} from '../../shared/messages';
import type { Row } from '../../database/rows';
import { referencedRowConditions } from '../access/access';
import { collateClause, fieldSqlExpression } from '../sql/expressions';
import { whereClause, type ParameterBinder } from '../access/conditions';
import type { Context } from '../context';
import { invalidArgumentError, invalidInputError, type InputPath } from '../declare/errors';
import { fieldsOf, isReferenceField, type Entity, type EntityField } from '../declare/fields';
import { linkDiscriminatorCondition } from '../declare/link-table';
import { resolveTimeZone } from '../../shared/time-zones';
import type { FilterValue } from '../sql/where';
import { resourceOf } from '../declare/registry';
import {
  groupKeysOfLinkedRows,
  groupKeysOfFieldValues,
  type LinkedRowGroupKey,
  type FieldValueGroupKey,
} from './group-keys';
import type { DayGroupBy, NumberGroupBy, TimeGroupBy } from './inputs';
import { ReferenceJoins, groupingValueSql } from './joins';
import { binFieldName, timeBucketsPropertyName, idFieldName } from './types';
import {
  bucketSeriesSql,
  cyclicBounds,
  bucketSql,
  dayBucket,
  isCyclicUnit,
  BUCKET_DURATIONS,
  timeBucket,
  type TimeUnit,
} from './time-buckets';

const MAX_GROUP_KEYS = 6;

export type GroupByInput = { [member: string]: unknown };

export interface GroupKey {
  /** Name of the group key, unique within a grouped query. */
  name: string;
  sql(bind: ParameterBinder): string;

  /** Sort expression of the groups, for the SQL `value` of the key. */
  orderSql(value: string): string;

  /** Stores a selected key value in the `keys` object of a group. */
  assignValue(keys: Row, value: Row[string]): void;

  /**
   * SQL that generates every key value from `fromSql` to `toSql`, if empty groups are requested.
   */
  generateSeriesSql?(fromSql: string, toSql: string, bind: ParameterBinder): string;

  /**
   * Number of steps from `fromSql` to `toSql`, or an upper bound of this number, if empty groups
   * are requested.
   */
  stepCountSql?(fromSql: string, toSql: string, bind: ParameterBinder): string;
}

export interface TranslatedGroupBy {
  keys: GroupKey[];

  /** SQL of a row's weight in weighted counts, sums and means. Defaults to 1. */
  rowWeightSql?: string;
}

const orderByValueSql = (value: string) => value;

/** Builds the group keys of one query with their joins and row weights. */
class GroupKeyBuilder {
  readonly keys: GroupKey[] = [];
  readonly rowWeightFactorsSql: string[] = [];

  constructor(
    private readonly entity: Entity,
    private readonly context: Context,
    private readonly referenceJoins: ReferenceJoins,
  ) {}

  addElement(element: GroupByInput, inputPath: InputPath): void {
    // Each element of `groupBy` is a `@oneOf` input object: exactly one of its members is set.
    const [[name, options]] = Object.entries(element).filter(
      ([, memberValue]) => memberValue != null,
    ) as [[string, FilterValue]];
    const isFieldKey = name === 'field';
    const keyName = isFieldKey ? (options as string) : name;
    const linkKey = groupKeysOfLinkedRows(this.entity).find((key) => key.name === keyName);

    if (linkKey && isFieldKey) {
      const { relationFieldName } = linkKey.fields[0]!.relation!;

      return this.addLinkKey(linkKey, { [relationFieldName]: '1' }, false, inputPath);
    }

    if (linkKey) {
      const { empty, ...rowWeights } = options;

      return this.addLinkKey(linkKey, rowWeights, empty, inputPath);
    }

    if (isFieldKey) {
      return this.addValueKey(
        groupKeysOfFieldValues(this.entity).find((key) => key.name === keyName)!,
        inputPath,
      );
    }

    const field = fieldsOf(this.entity).find((candidate) => candidate.name === keyName)!;

    if (field.kind === 'date') return this.addDayKey(field, options, inputPath);
    if (field.kind === 'datetime') return this.addTimeKey(field, options, inputPath);

    return this.addBinKey(field, options, inputPath);
  }

  private addKey(key: GroupKey, inputPath: InputPath): void {
    if (this.keys.some(({ name }) => name === key.name)) {
      throw invalidInputError(inputPath, 'This key is a duplicate.');
    }

    if (key.generateSeriesSql && this.keys.some(({ generateSeriesSql }) => generateSeriesSql)) {
      throw invalidInputError(inputPath, 'Another key already requests empty groups.');
    }

    this.keys.push(key);
  }

  private addValueKey(
    { name, path, entity, field }: FieldValueGroupKey,
    inputPath: InputPath,
  ): void {
    const sql = groupingValueSql(field, this.referenceJoins.ensureJoined(path));
    const collationSql = collateClause(entity, field, this.context.policies.textOrder);
    const keyFieldName = isReferenceField(field) ? idFieldName(name) : name;
    const assignValue = (keys: Row, value: Row[string]) => void (keys[keyFieldName] = value);

    this.addKey(
      { name, sql: () => sql, orderSql: (column) => `${column}${collationSql}`, assignValue },
      inputPath,
    );
  }

  private addDayKey(field: EntityField, options: DayGroupBy, inputPath: InputPath): void {
    const { by, firstDay } = options;
    const sql = bucketSql(by, firstDay, fieldSqlExpression(field, 't'), '');
    const assignValue = (keys: Row, value: string | null) =>
      appendBucket(
        keys,
        timeBucketsPropertyName(field),
        value === null ? null : dayBucket(by, value),
      );

    this.addKey(
      {
        name: `${field.name} ${by}`,
        sql: () => sql,
        assignValue,
        ...timeKeySqlBuilders(by, options),
      },
      inputPath,
    );
  }

  private addTimeKey(field: EntityField, options: TimeGroupBy, inputPath: InputPath): void {
    const { by, firstDay, timeZone: zone = null } = options;
    const timeZone = zone === null ? this.context.timeZone : resolveTimeZone(zone);

    if (timeZone === undefined) {
      throw invalidInputError([...inputPath, 'timeZone'], NOT_A_TIME_ZONE_MESSAGE);
    }

    const momentSql = fieldSqlExpression(field, 't');

    const sql = (bind: ParameterBinder) => {
      const zoneSql = bind(timeZone);

      return bucketSql(
        by,
        firstDay,
        `(${momentSql} AT TIME ZONE ${zoneSql}::text)`,
        `date_trunc('hour', ${momentSql}, ${zoneSql}::text)`,
      );
    };

    const assignValue = (keys: Row, value: string | null) =>
      appendBucket(
        keys,
        timeBucketsPropertyName(field),
        value === null ? null : timeBucket(by, value, timeZone),
      );

    this.addKey(
      {
        name: `${field.name} ${by}`,
        sql,
        assignValue,
        ...timeKeySqlBuilders(by, options, timeZone),
      },
      inputPath,
    );
  }

  private addBinKey(
    field: EntityField,
    { width, from, empty }: NumberGroupBy,
    inputPath: InputPath,
  ): void {
    const binWidth = parseBoundedDecimal(width, [...inputPath, 'width']);

    parseBoundedDecimal(from, [...inputPath, 'from']);

    if (!binWidth.greaterThan(0)) {
      throw invalidInputError([...inputPath, 'width'], 'Ensure this value is greater than 0.');
    }

    const value = `${fieldSqlExpression(field, 't')}::numeric`;

    const sql = (bind: ParameterBinder) => {
      const [widthSql, startSql] = [`${bind(width)}::numeric`, `${bind(from)}::numeric`];

      // In PostgreSQL, mod() of a negative number is negative. Adding the bin width and a second
      // mod() make it positive. Arithmetic of the type numeric is exact.
      return `trim_scale(${value} - mod(mod(${value} - ${startSql}, ${widthSql}) + ${widthSql}, ${widthSql}))`;
    };

    const binOf = (from: string) => ({
      from,
      to: new ExactDecimal(from).plus(binWidth).toFixed(),
    });
    const assignValue = (keys: Row, binStart: string | null) =>
      void (keys[binFieldName(field)] = binStart === null ? null : binOf(binStart));

    this.addKey(
      {
        name: `${field.name} bin`,
        sql,
        orderSql: orderByValueSql,
        assignValue,
        ...(empty && {
          generateSeriesSql: (fromSql, toSql, bind) =>
            `trim_scale(generate_series(${fromSql}, ${toSql}, ${bind(width)}::numeric))`,
          stepCountSql: (fromSql, toSql, bind) =>
            `(${toSql} - ${fromSql}) / ${bind(width)}::numeric`,
        }),
      },
      inputPath,
    );
  }

  /**
   * Adds a key on linked rows (many-to-many). A row counts in the group of each of its linked rows,
   * with the weight of the list that links it.
   */
  private addLinkKey(
    { name, path, target, fields }: LinkedRowGroupKey,
    rowWeights: Record<string, string | null>,
    empty: boolean,
    inputPath: InputPath,
  ): void {
    const weightedLinks = fields.flatMap((field) => {
      const fieldName = field.relation!.relationFieldName;
      const rowWeight = rowWeights[fieldName];

      if (rowWeight == null) return [];
      const weightPath = [...inputPath, fieldName];

      if (parseBoundedDecimal(rowWeight, weightPath).isNegative()) {
        throw invalidInputError(weightPath, atLeastMessage(0));
      }

      return [{ ...field.link!, rowWeight }];
    });

    if (!weightedLinks.length) {
      throw invalidInputError(inputPath, 'Provide the weight of at least one list.');
    }

    const alias = `m${this.rowWeightFactorsSql.length}`;
    const visibilityConditions = referencedRowConditions(target, this.context);
    const outerAlias = this.referenceJoins.ensureJoined(path);
    const commonKeyColumn = weightedLinks[0]!.keyColumn ?? 'id';

    if (weightedLinks.some(({ keyColumn = 'id' }) => keyColumn !== commonKeyColumn)) {
      throw new Error(`lists of ${name} do not begin at one column`);
    }

    const visibleIdsSql = (bind: ParameterBinder) =>
      `SELECT z."id" FROM "${resourceOf(target)!.table}" z${whereClause(visibilityConditions, 'z', bind)}`;

    this.referenceJoins.joins.push((_alias, bind) => {
      const linkedRowQueries = weightedLinks.map(
        ({ table, ownColumn, otherColumn, rowWeight, ...link }) => {
          const discriminatorSql = linkDiscriminatorCondition(
            { table, ownColumn, otherColumn, ...link },
            'l',
          );

          const visibilitySql = visibilityConditions.length
            ? ` AND l."${otherColumn}" IN (${visibleIdsSql(bind)})`
            : '';

          return `SELECT l."${ownColumn}" AS "of", l."${otherColumn}" AS "id",
            ${bind(rowWeight)}::numeric AS "weight" FROM "${table}" l
            WHERE TRUE${discriminatorSql}${visibilitySql}`;
        },
      );
      // A row that links to the same row by two fields, such as primary and secondary muscles,
      // counts once, with the larger weight.
      const unionSql = `SELECT u."of", u."id", max(u."weight") AS "weight"
        FROM (${linkedRowQueries.join(' UNION ALL ')}) u GROUP BY 1, 2`;

      return `LEFT JOIN (${unionSql}) ${alias}
        ON ${alias}."of" = ${outerAlias}."${commonKeyColumn}"`;
    });
    this.rowWeightFactorsSql.push(`coalesce(${alias}."weight", 1)`);
    this.addKey(
      {
        name,
        sql: () => `${alias}."id"`,
        orderSql: orderByValueSql,
        assignValue: (keys, value) => void (keys[idFieldName(name)] = value),
        ...(empty && {
          generateSeriesSql: (_fromSql, _toSql, bind) => `unnest(ARRAY(${visibleIdsSql(bind)}))`,
          stepCountSql: (_fromSql, _toSql, bind) =>
            `(SELECT count(*) FROM (${visibleIdsSql(bind)}) z)`,
        }),
      },
      inputPath,
    );
  }
}

/** Decimal type that is precise enough for the sum of a stored number and a bin width. */
const ExactDecimal = Decimal.clone({ precision: 100 });

/**
 * Maximum number of digits before the decimal point, and also after it, of numbers in per-row
 * calculations. The scalar `Decimal` accepts thousands of digits, which slow a calculation down a
 * thousandfold.
 */
const MAX_DIGITS = 15;

function parseBoundedDecimal(text: string, inputPath: InputPath): Decimal {
  const number = new ExactDecimal(text);

  if (number.e >= MAX_DIGITS || number.decimalPlaces() > MAX_DIGITS) {
    throw invalidInputError(
      inputPath,
      `Ensure that there are no more than ${MAX_DIGITS} digits before and after the decimal point.`,
    );
  }

  return number;
}

function appendBucket(keys: Row, name: string, bucket: unknown): void {
  (keys[name] ??= []).push(bucket);
}

const MIN_DAYS_PER_STEP: Partial<Record<TimeUnit, number>> = {
  DAY: 1,
  WEEK: 7,
  MONTH: 28,
  QUARTER: 90,
  YEAR: 365,
};

/**
 * Builds the SQL of a key that groups by a unit of time: its sort expression and, if empty groups
 * are requested, the series of its values. Only hours need a `timeZone`.
 */
function timeKeySqlBuilders(
  unit: TimeUnit,
  { firstDay, empty }: Pick<TimeGroupBy, 'firstDay' | 'empty'>,
  timeZone?: string,
): Pick<GroupKey, 'orderSql' | 'generateSeriesSql' | 'stepCountSql'> {
  const orderSql =
    unit === 'WEEKDAY' ? (column: string) => `(${column} + ${7 - firstDay}) % 7` : orderByValueSql;

  if (!empty) return { orderSql };

  if (unit === 'HOUR') {
    return {
      orderSql,
      // The series advances in half-hour steps: where clocks change by half an hour, hours then
      // start at a different minute. Repeated hours are harmless.
      generateSeriesSql: (fromSql, toSql, bind) =>
        `date_trunc('hour', generate_series(${fromSql}, ${toSql}, interval '${BUCKET_DURATIONS[unit]}' / 2), ${bind(timeZone)}::text)`,
      stepCountSql: (fromSql, toSql) => `extract(epoch FROM ${toSql} - ${fromSql}) / 3600`,
    };
  }

  return {
    orderSql,
    generateSeriesSql: (fromSql, toSql) => bucketSeriesSql(unit, fromSql, toSql),
    stepCountSql: (fromSql, toSql) =>
      isCyclicUnit(unit)
        ? cyclicBounds(unit).high
        : `(${toSql} - ${fromSql}) / ${MIN_DAYS_PER_STEP[unit]}`,
  };
}

/** Translates the argument `groupBy` to group keys, in the order of its elements. */
export function translateGroupBy(
  entity: Entity,
  groupBy: readonly GroupByInput[] | null | undefined,
  context: Context,
  referenceJoins: ReferenceJoins,
): TranslatedGroupBy {
  if (!groupBy) return { keys: [] };

  if (groupBy.length > MAX_GROUP_KEYS) {
    throw invalidArgumentError('groupBy', atMostElementsMessage(MAX_GROUP_KEYS));
  }

  const builder = new GroupKeyBuilder(entity, context, referenceJoins);

  groupBy.forEach((element, index) => builder.addElement(element, ['groupBy', String(index)]));
  const { keys, rowWeightFactorsSql } = builder;

  return {
    keys,
    ...(rowWeightFactorsSql.length && { rowWeightSql: rowWeightFactorsSql.join(' * ') }),
  };
}
