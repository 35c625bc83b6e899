/**
 * Time series and rankings, the two kinds of analyses: arguments, cost, and the SQL that limits
 * their rows.
 */
import type { GraphQLResolveInfo } from 'graphql';
import { ArgsType, Field, Int } from 'type-graphql';
import { MAX_INTEGER } from '../shared/bounds';
import type { Row } from '../database/rows';
import {
  createParameterBinder,
  type ParameterBinder,
  type SqlCondition,
} from '../engine/access/conditions';
import type { Context } from '../engine/context';
import {
  bucketSeriesSql,
  bucketSql,
  isCyclicUnit,
  MONDAY,
  BUCKET_DURATIONS,
  type DayUnit,
  dayBucket,
  type DayBucket,
} from '../engine/grouping/time-buckets';
import { todayIn } from '../engine/declare/clock';
import { invalidArgumentError } from '../engine/declare/errors';
import { DateScalar } from '../engine/declare/scalars';
import { MAX_RESPONSE_OBJECTS } from '../engine/execution/meter';
import { listSizeExtensions } from '../engine/declare/field-extensions';
import {
  ALL_OR_FIRST_DESCRIPTION,
  checkCompleteness,
  rowLimit,
  validatePageSize,
} from '../engine/declare/page-size';
import { MAX_PAGE_SIZE } from '../shared/page-size';

export const BUCKET_UNIT_DESCRIPTION = 'Units of time by which days are grouped.';
export const FIRST_DAY_ARGUMENT_OPTIONS = {
  defaultValue: MONDAY,
  description: 'The weekday on which weeks start.',
};

/** Maximum number of days in analyses that also return the days without data. */
export const MAX_SERIES_DAYS = 9_999;

/**
 * Creates a function that adds the field `bucket` to a row with a column `start`. Consecutive rows
 * with equal `start` share one bucket object.
 */
export function createDayBucketMapper(by: DayUnit): (row: Row) => Row {
  let previous: { start: unknown; bucket: DayBucket } | undefined;

  return (row) => {
    if (!previous || previous.start !== row.start) {
      previous = { start: row.start, bucket: dayBucket(by, row.start) };
    }

    return { ...row, bucket: previous.bucket };
  };
}

const TYPICAL_ROW_COUNT = 100;
const DEFAULT_DAY_COUNT = 90;

export const DEFAULT_PERIOD_COUNT = 26;
const DAY_MS = 86_400_000;

const TOO_MANY_ROWS_MESSAGE = `There are more than ${MAX_PAGE_SIZE} rows. Choose a later day or use \`last\`.`;

export const UNTIL_ARGUMENT_OPTIONS = {
  nullable: true,
  description: 'The last day; today if absent.',
};

@ArgsType()
export class SeriesArgs {
  @Field(() => DateScalar, {
    nullable: true,
    description: `The first day. If absent, the last ${DEFAULT_DAY_COUNT} days, or ${DEFAULT_PERIOD_COUNT} weeks, months, quarters or years, up to \`until\`; with \`last\`, all days.`,
  })
  declare from?: string | null;
  @Field(() => DateScalar, UNTIL_ARGUMENT_OPTIONS) declare until?: string | null;
  @Field(() => Int, {
    nullable: true,
    description: `The last (newest) n rows, at most ${MAX_PAGE_SIZE}. If absent, more are an error.`,
  })
  declare last?: number | null;
}

@ArgsType()
export class RankingArgs {
  @Field(() => Int, { nullable: true, description: ALL_OR_FIRST_DESCRIPTION })
  declare first?: number | null;
  @Field(() => Int, { nullable: true, description: 'Number of rows to skip.' }) declare offset?:
    number | null;
}

/**
 * GraphQL extensions of analysis fields, which exist only in GraphQL. Their cost is high, because
 * even a short result can require reading all rows of the viewer.
 */
export const ANALYSIS_FIELD_EXTENSIONS = { exclusiveTo: 'graphql' as const, cost: { weight: 100 } };

export const RANKING_FIELD_EXTENSIONS = {
  ...ANALYSIS_FIELD_EXTENSIONS,
  ...listSizeExtensions(TYPICAL_ROW_COUNT),
};

export const countDaysInclusive = (from: string, until: string): number =>
  (Date.parse(until) - Date.parse(from)) / DAY_MS + 1;

function estimateRowCount({ from, until, last }: SeriesArgs): number {
  if (last != null) return last;

  return from == null ? TYPICAL_ROW_COUNT : countDaysInclusive(from, until ?? todayIn('utc'));
}

/**
 * GraphQL extensions of time series. The estimated number of rows is `last`, or one per day since
 * `from`.
 */
export const SERIES_FIELD_EXTENSIONS = {
  ...ANALYSIS_FIELD_EXTENSIONS,
  listSize: {
    assumedSize: (args: SeriesArgs) => Math.min(Math.max(estimateRowCount(args), 0), MAX_PAGE_SIZE),
  },
};

export function checkDateOrder(from: string | null | undefined, until: string): void {
  if (from != null && from > until) {
    throw invalidArgumentError('until', 'Ensure that `from` is not greater than `until`.');
  }
}

interface EmptyPeriodsOptions {
  /** Columns of the SELECT between `start` and its values. */
  keyColumns: readonly string[];

  /**
   * SELECT of the keys for which periods are added, with the column `first`: the first day of each
   * with data, also before the date range.
   */
  keysSql: string;

  /** Values of a period without data. */
  emptyValuesSql: string;
}

/**
 * SQL: adds the periods without data to a SELECT of periods, up to the last day of the series and
 * from MAX_SERIES_DAYS before it. Unless it is exported, not more of the newest periods than suffice
 * to exceed what an answer may have.
 */
export function withEmptyPeriodsSql(
  select: string,
  { keyColumns, keysSql, emptyValuesSql }: EmptyPeriodsOptions,
  args: DateRangeArgs,
  dateRange: DateRangeSql,
  context: Context,
  bind: ParameterBinder,
): string {
  const { by = 'DAY', firstDay = MONDAY } = args;
  // A cyclic unit needs no last day, and PostgreSQL rejects parameters that a statement does not use.
  const lastDaySql = `${isCyclicUnit(by) ? 'NULL' : bind(lastDayOf(args, context))}::date`;
  const firstDaySql = `greatest(o."first", ${dateRange.startSql}, ${lastDaySql} - ${MAX_SERIES_DAYS})`;
  const seriesSql = bucketSeriesSql(
    by,
    bucketSql(by, firstDay, firstDaySql, ''),
    bucketSql(by, firstDay, lastDaySql, ''),
  );
  const limitSql = dateRange.isExport ? '' : `LIMIT ${MAX_RESPONSE_OBJECTS + 1}`;
  const keysOf = (alias: string) => keyColumns.map((column) => `, ${alias}."${column}"`).join('');

  return `WITH s AS (${select}), o AS (${keysSql}),
    n AS ((SELECT v."start"${keysOf('o')} FROM o CROSS JOIN LATERAL
        (SELECT ${seriesSql} AS "start") v
        ORDER BY v."start" DESC ${limitSql})
      EXCEPT SELECT s."start"${keysOf('s')} FROM s)
    SELECT s.* FROM s UNION ALL SELECT n.*, ${emptyValuesSql} FROM n`;
}

interface AnalysisStatement {
  select: string;

  /** ORDER BY terms that make the order of rows unique. */
  orderTerms: readonly string[];
}

/** The requested date range. Its first day may be `-infinity`, and its last day `infinity`. */
export interface DateRangeSql {
  startSql: string;
  endSql: string;

  /** Whether the rows are exported, so that their number is not limited. */
  isExport: boolean;

  /** Whether a period overlaps the range. Without `lastDateSql`, the period is one day. */
  contains(firstDateSql: string, lastDateSql?: string): string;
}

/** The days up to the end of a date range. */
export const upToEnd = ({ endSql, isExport }: DateRangeSql): DateRangeSql => ({
  startSql: `date '-infinity'`,
  endSql,
  isExport,
  contains: (firstDateSql) => `${firstDateSql} <= ${endSql}`,
});

interface DateRangeArgs extends SeriesArgs {
  by?: DayUnit;
  firstDay?: number;
  timeZone?: string | null;
}

/** The last day of a series that has a row for each day or week: `until`, or today. */
export const lastDayOf = (
  { until, timeZone }: Pick<DateRangeArgs, 'until' | 'timeZone'>,
  context: Context,
): string => until ?? todayIn(timeZone ?? context.timeZone);

/** SQL: the moment at which the day after `daySql` begins in a time zone. */
export const startOfNextDaySql = (daySql: string, timeZoneSql: string): string =>
  `(${daySql}::date + 1)::timestamp AT TIME ZONE ${timeZoneSql}::text`;

/**
 * Prepares the SQL of the date range of the arguments. Without `until`, the range ends today; in an
 * export, it has no end.
 */
function prepareDateRange(
  args: DateRangeArgs,
  context: Context,
  isExport: boolean,
): (bind: ParameterBinder) => DateRangeSql {
  const { from, until, last, by = 'DAY', firstDay = MONDAY } = args;
  const end = until ?? (isExport ? 'infinity' : lastDayOf(args, context));

  checkDateOrder(from, end);
  const timeUnit = isCyclicUnit(by) ? 'WEEK' : by;
  const precedingPeriodCount = (by === 'DAY' ? DEFAULT_DAY_COUNT : DEFAULT_PERIOD_COUNT) - 1;

  return (bind) => {
    const endSql = `${bind(end)}::date`;
    const defaultStartSql = () =>
      `(${bucketSql(timeUnit, firstDay, endSql, '')} - ${precedingPeriodCount} * interval '${BUCKET_DURATIONS[timeUnit]}')::date`;
    const implicitStartSql = () => (last == null ? defaultStartSql() : `date '-infinity'`);
    const startSql = from == null ? implicitStartSql() : `${bind(from)}::date`;

    return {
      startSql,
      endSql,
      isExport,
      contains: (firstDateSql, lastDateSql = firstDateSql) =>
        `${lastDateSql} >= ${startSql} AND ${firstDateSql} <= ${endSql}`,
    };
  };
}

function readRanking(
  buildStatement: (bind: ParameterBinder) => AnalysisStatement,
  rowCountLimit: number,
  offset: number,
  { session }: Context,
): Promise<Row[]> {
  const { bind, values } = createParameterBinder();
  const { select, orderTerms } = buildStatement(bind);

  return session.query(
    `SELECT * FROM (${select}) q ORDER BY ${orderTerms.join(', ')}
      LIMIT ${bind(rowCountLimit)} OFFSET ${bind(offset)}`,
    values,
  );
}

/** Runs the statement of a ranking with the paging arguments `first` and `offset`. */
export async function queryRanking(
  buildStatement: (bind: ParameterBinder) => AnalysisStatement,
  args: RankingArgs,
  context: Context,
): Promise<Row[]> {
  const first = rowLimit(args.first);
  const offset = validatePageSize('offset', args.offset, MAX_INTEGER) ?? 0;
  const rows = await readRanking(buildStatement, first, offset, context);

  checkCompleteness(rows.length, 'Use `first` and `offset`.');
  return rows;
}

/**
 * Runs the statement of a ranking of all rows of a date range. In an export, reads the next rows
 * after the rows that are already written.
 */
export async function queryDateRangeRanking(
  buildStatement: (bind: ParameterBinder, dateRange: DateRangeSql) => AnalysisStatement,
  args: DateRangeArgs,
  context: Context,
): Promise<Row[]> {
  const { exportedRowCount } = context;
  const isExport = exportedRowCount !== undefined;
  const bindDateRange = prepareDateRange(args, context, isExport);

  return checkRowCount(
    await readRanking(
      (bind) => buildStatement(bind, bindDateRange(bind)),
      isExport ? MAX_PAGE_SIZE : MAX_PAGE_SIZE + 1,
      exportedRowCount ?? 0,
      context,
    ),
  );
}

type SeriesStatementBuilder = (
  bind: ParameterBinder,
  dateRange: DateRangeSql,
  extraConditions: readonly SqlCondition[],
) => AnalysisStatement;

const ofExercises =
  (exerciseIds: readonly number[]): SqlCondition =>
  (alias, bind) =>
    `${alias}."exercise_base_id" = ANY(${bind(exerciseIds)})`;

/**
 * Reads the last rows of a time series, or of one time series per exercise. In an export,
 * reads the next rows after the `exportedRowCount` rows that are already written.
 */
async function readSeries(
  buildStatement: SeriesStatementBuilder,
  args: DateRangeArgs,
  context: Context,
  exportedRowCount: number | undefined,
  exerciseIds?: readonly number[],
): Promise<Row[]> {
  const last = validatePageSize('last', args.last, MAX_PAGE_SIZE) ?? MAX_PAGE_SIZE + 1;
  const bindDateRange = prepareDateRange(args, context, exportedRowCount !== undefined);
  const { bind, values } = createParameterBinder();
  const { select, orderTerms } = buildStatement(
    bind,
    bindDateRange(bind),
    exerciseIds ? [ofExercises(exerciseIds)] : [],
  );
  const rankingTerms =
    exportedRowCount === undefined ? orderTerms.map((term) => `${term} DESC`) : orderTerms;
  const rankSql = `row_number() OVER
    (${exerciseIds ? 'PARTITION BY q."exerciseId" ' : ''}ORDER BY
    ${rankingTerms.join(', ')})`;
  const offset = exportedRowCount ?? 0;

  return context.session.query(
    `SELECT * FROM (SELECT q.*, ${rankSql} AS "place" FROM (${select}) q) p
      WHERE p."place" > ${bind(offset)} AND p."place" <= ${bind(offset + last)}
      ORDER BY ${orderTerms.join(', ')}`,
    values,
  );
}

function checkRowCount(rows: Row[]): Row[] {
  if (rows.length > MAX_PAGE_SIZE) throw invalidArgumentError('from', TOO_MANY_ROWS_MESSAGE);

  return rows;
}

/**
 * Reads the last rows of a time series, oldest first. In an export, reads the next rows after the
 * rows that are already written.
 */
export async function querySeries(
  buildStatement: SeriesStatementBuilder,
  args: DateRangeArgs,
  context: Context,
): Promise<Row[]> {
  return checkRowCount(await readSeries(buildStatement, args, context, context.exportedRowCount));
}

const isInsideList = ({ key, prev }: GraphQLResolveInfo['path']): boolean =>
  typeof key === 'number' || (prev !== undefined && isInsideList(prev));

/**
 * Loads the time series of one exercise. One statement reads the series of all parent rows of
 * a list. A series inside a list cannot be exported.
 */
export async function loadExerciseSeries(
  buildStatement: SeriesStatementBuilder,
  args: DateRangeArgs,
  exerciseId: number,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Row[]> {
  const exportedRowCount = isInsideList(info.path) ? undefined : context.exportedRowCount;

  const loadSeries = async (exerciseIds: readonly unknown[]) => {
    const rowsByExercise = new Map<unknown, Row[]>(exerciseIds.map((id) => [id, []]));

    const rows = await readSeries(
      buildStatement,
      args,
      context,
      exportedRowCount,
      exerciseIds as number[],
    );

    for (const row of rows) rowsByExercise.get(row.exerciseId)!.push(row);

    return exerciseIds.map((id) => rowsByExercise.get(id)!);
  };

  return checkRowCount(
    await context.loaders.getOrCreate<Row[]>(info.fieldNodes, loadSeries).load(exerciseId),
  );
}
