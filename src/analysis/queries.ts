/** Time series and rankings, the two kinds of analyses: their arguments, their cost, and the SQL that limits the rows of their SELECT. */
import type { GraphQLResolveInfo } from 'graphql';
import { ArgsType, Field, Int } from 'type-graphql';
import { MAX_INTEGER } from '../contract/bounds';
import type { Row } from '../database/rows';
import {
  createParameterBinder,
  type ParameterBinder,
  type SqlCondition,
} from '../core/access/conditions';
import type { Context } from '../core/context';
import {
  bucketSql,
  isCyclicUnit,
  MONDAY,
  BUCKET_LENGTHS,
  type DayUnit,
} from '../core/grouping/timebuckets';
import { todayIn } from '../core/model/clock';
import { invalidArgumentError } from '../core/model/errors';
import { DateScalar } from '../core/model/scalars';
import { validatePageSize, MAX_PAGE_SIZE } from '../core/model/pagesize';

const DEFAULT_ROW_COUNT = 100;
const [DEFAULT_DAY_COUNT, DEFAULT_PERIOD_COUNT] = [90, 26];
const DAY_MS = 86_400_000;

const TOO_MANY_ROWS_MESSAGE = `There are more than ${MAX_PAGE_SIZE} rows. Choose a later day or use \`last\`.`;

@ArgsType()
export class SeriesArgs {
  @Field(() => DateScalar, {
    nullable: true,
    description: `The first day. If absent, the last ${DEFAULT_DAY_COUNT} days, or ${DEFAULT_PERIOD_COUNT} weeks, months, quarters or years, up to \`until\`; with \`last\`, all days.`,
  })
  declare from?: string | null;
  @Field(() => DateScalar, { nullable: true, description: 'The last day; today if absent.' })
  declare until?: string | null;
  @Field(() => Int, {
    nullable: true,
    description: `Returns the last n (newest) rows, at most ${MAX_PAGE_SIZE}. Without it, more rows than that are an error.`,
  })
  declare last?: number | null;
}

@ArgsType()
export class RankingArgs {
  @Field(() => Int, {
    defaultValue: DEFAULT_ROW_COUNT,
    description: `Returns the first n rows, at most ${MAX_PAGE_SIZE}.`,
  })
  declare first: number;
  @Field(() => Int, { nullable: true, description: 'Number of rows to skip.' }) declare offset?:
    number | null;
}

/**
 * GraphQL extensions (metadata) of analysis fields, which REST does not have. These fields have a high cost, because computing even a short result can
 * require reading all rows of the viewer.
 */
export const ANALYSIS_FIELD_EXTENSIONS = { exclusiveTo: 'graphql' as const, cost: { weight: 100 } };

export const countDaysInclusive = (from: string, until: string): number =>
  (Date.parse(until) - Date.parse(from)) / DAY_MS + 1;

function estimateRowCount({ from, until, last }: SeriesArgs): number {
  if (last != null) return last;
  return from == null ? DEFAULT_ROW_COUNT : countDaysInclusive(from, until ?? todayIn('utc'));
}

/**
 * Extensions of the fields of time series. The cost estimate assumes `last` rows; if `last` is absent, one row per day since `from`; if both are
 * absent, DEFAULT_ROW_COUNT rows.
 */
export const SERIES_FIELD_EXTENSIONS = {
  ...ANALYSIS_FIELD_EXTENSIONS,
  listSize: {
    assumedSize: (args: SeriesArgs) => Math.min(Math.max(estimateRowCount(args), 0), MAX_PAGE_SIZE),
  },
};

export function checkDateOrder(from: string | null | undefined, until: string): void {
  if (from != null && from > until)
    throw invalidArgumentError('until', 'Ensure that `from` is not greater than `until`.');
}

export interface AnalysisStatement {
  select: string;
  /** ORDER BY terms of the SQL statement. No two rows have equal values in all terms, so the order of rows is deterministic. */
  orderTerms: readonly string[];
}

/**
 * Returns the SQL condition that a period overlaps the date range of a query. The period lasts from the date `firstDateSql` to the date `lastDateSql`; without
 * `lastDateSql`, it is the day `firstDateSql`.
 */
export type DateRangeConditionSql = (firstDateSql: string, lastDateSql?: string) => string;

interface DateRangeArgs extends SeriesArgs {
  by?: DayUnit;
  firstDay?: number;
  timeZone?: string | null;
}

/**
 * Returns a function that builds the SQL condition for the date range of the arguments. Without `until`, the range ends today; in an export, it has
 * no end.
 */
function createDateRangeConditionBuilder(
  args: DateRangeArgs,
  { services: { timeZone: serverTimeZone } }: Context,
  isExport: boolean,
): (bind: ParameterBinder) => DateRangeConditionSql {
  const { from, until, last, by = 'DAY', firstDay = MONDAY, timeZone } = args;
  const end = until ?? (isExport ? 'infinity' : todayIn(timeZone ?? serverTimeZone));
  checkDateOrder(from, end);
  const timeUnit = isCyclicUnit(by) ? 'WEEK' : by;
  const precedingPeriodCount = (by === 'DAY' ? DEFAULT_DAY_COUNT : DEFAULT_PERIOD_COUNT) - 1;
  return (bind) => {
    const endSql = `${bind(end)}::date`;
    const defaultStartSql = () =>
      `(${bucketSql(timeUnit, firstDay, endSql, '')} - ${precedingPeriodCount} * interval '${BUCKET_LENGTHS[timeUnit]}')::date`;
    const implicitStartSql = () => (last == null ? defaultStartSql() : `date '-infinity'`);
    const startSql = from == null ? implicitStartSql() : `${bind(from)}::date`;
    return (firstDateSql, lastDateSql = firstDateSql) =>
      `${lastDateSql} >= ${startSql} AND ${firstDateSql} <= ${endSql}`;
  };
}

/** Runs the SQL statement of a ranking: skips `offset` rows and returns the next `first` rows. */
export async function queryRanking(
  buildStatement: (bind: ParameterBinder) => AnalysisStatement,
  args: RankingArgs,
  { session }: Context,
): Promise<Row[]> {
  const first = validatePageSize('first', args.first, MAX_PAGE_SIZE);
  const offset = validatePageSize('offset', args.offset, MAX_INTEGER) ?? 0;
  const { bind, values } = createParameterBinder();
  const { select, orderTerms } = buildStatement(bind);
  return session.query(
    `SELECT * FROM (${select}) q ORDER BY ${orderTerms.join(', ')} LIMIT ${bind(first)} OFFSET ${bind(offset)}`,
    values,
  );
}

type SeriesStatementBuilder = (
  bind: ParameterBinder,
  inDateRangeSql: DateRangeConditionSql,
  extraConditions: readonly SqlCondition[],
) => AnalysisStatement;

const exerciseBasesCondition =
  (exerciseBaseIds: readonly number[]): SqlCondition =>
  (alias, bind) =>
    `${alias}."exercise_id" IN (SELECT e."id" FROM "exercise" e WHERE e."exercise_base_id" = ANY(${bind(exerciseBaseIds)}))`;

/**
 * Reads the last rows of a time series or, with `exerciseBaseIds`, of one time series per exercise base. In an export, reads the rows that follow the
 * first `exportedRowCount` rows, which have already been exported.
 */
async function readSeries(
  buildStatement: SeriesStatementBuilder,
  args: DateRangeArgs,
  context: Context,
  exportedRowCount: number | undefined,
  exerciseBaseIds?: readonly number[],
): Promise<Row[]> {
  const last = validatePageSize('last', args.last, MAX_PAGE_SIZE) ?? MAX_PAGE_SIZE + 1;
  const buildDateRangeCondition = createDateRangeConditionBuilder(
    args,
    context,
    exportedRowCount !== undefined,
  );
  const { bind, values } = createParameterBinder();
  const { select, orderTerms } = buildStatement(
    bind,
    buildDateRangeCondition(bind),
    exerciseBaseIds ? [exerciseBasesCondition(exerciseBaseIds)] : [],
  );
  const rankOrderTerms =
    exportedRowCount === undefined ? orderTerms.map((term) => `${term} DESC`) : orderTerms;
  const rankSql = `row_number() OVER (${exerciseBaseIds ? 'PARTITION BY q."exerciseBaseId" ' : ''}ORDER BY ${rankOrderTerms.join(', ')})`;
  const offset = exportedRowCount ?? 0;
  return context.session.query(
    `SELECT * FROM (SELECT q.*, ${rankSql} AS "place" FROM (${select}) q) p
      WHERE p."place" > ${bind(offset)} AND p."place" <= ${bind(offset + last)} ORDER BY ${orderTerms.join(', ')}`,
    values,
  );
}

function checkRowCount(rows: Row[]): Row[] {
  if (rows.length > MAX_PAGE_SIZE) throw invalidArgumentError('from', TOO_MANY_ROWS_MESSAGE);
  return rows;
}

/** Reads a time series. Returns its last rows, oldest first; during an export, the rows that follow those already exported. */
export async function querySeries(
  buildStatement: SeriesStatementBuilder,
  args: DateRangeArgs,
  context: Context,
): Promise<Row[]> {
  return checkRowCount(await readSeries(buildStatement, args, context, context.exportedRowCount));
}

const isInsideList = ({ key, prev }: GraphQLResolveInfo['path']): boolean =>
  typeof key === 'number' || (prev !== undefined && isInsideList(prev));

/** Loads the time series of one exercise base; one statement reads the series of all parent rows. A series inside another list cannot be exported. */
export async function loadSeriesOfExerciseBase(
  buildStatement: SeriesStatementBuilder,
  args: DateRangeArgs,
  exerciseBaseId: number,
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Row[]> {
  const exportedRowCount = isInsideList(info.path) ? undefined : context.exportedRowCount;
  const loadSeries = async (exerciseBaseIds: readonly unknown[]) => {
    const rowsByBase = new Map<unknown, Row[]>(exerciseBaseIds.map((id) => [id, []]));
    for (const row of await readSeries(
      buildStatement,
      args,
      context,
      exportedRowCount,
      exerciseBaseIds as number[],
    ))
      rowsByBase.get(row.exerciseBaseId)!.push(row);
    return exerciseBaseIds.map((id) => rowsByBase.get(id)!);
  };
  return checkRowCount(
    await context.loaders.getOrCreate<Row[]>(info.fieldNodes, loadSeries).load(exerciseBaseId),
  );
}
