/** What all questions share: which days they are asked about, how many rows they answer, and what that costs. */
import type { GraphQLResolveInfo } from 'graphql';
import { ArgsType, Field, Int } from 'type-graphql';
import { MAX_INTEGER } from '../contract/bounds';
import type { Row } from '../database/rows';
import { binder, type Bind, type Condition } from '../core/access/conditions';
import type { Context } from '../core/context';
import { bucketSql, isRecurring, MONDAY, STEPS, type DayUnit } from '../core/grouping/units';
import { today } from '../core/model/clock';
import { badArgument } from '../core/model/errors';
import { DateScalar } from '../core/model/scalars';
import { count, MAX_PAGE } from '../core/read/connection';

const DEFAULT_ROWS = 100;
const [DEFAULT_DAYS, DEFAULT_UNITS] = [90, 26];
const DAY_MS = 86_400_000;

const TOO_MANY = `Ensure that there are no more than ${MAX_PAGE} rows, by a later day or by \`last\`.`;

@ArgsType()
export class SeriesArgs {
  @Field(() => DateScalar, {
    nullable: true,
    description: `The first day that counts. Absent: the ${DEFAULT_DAYS} days, or ${DEFAULT_UNITS} weeks, months, quarters or years, up to \`until\`; with \`last\` all days.`,
  })
  declare from?: string | null;
  @Field(() => DateScalar, { nullable: true, description: 'The last day that counts; today if absent.' }) declare until?: string | null;
  @Field(() => Int, {
    nullable: true,
    description: `Only the newest so many rows, ${MAX_PAGE} at most; more without it are an error.`,
  })
  declare last?: number | null;
}

@ArgsType()
export class RankingArgs {
  @Field(() => Int, { defaultValue: DEFAULT_ROWS, description: `How many rows, ${MAX_PAGE} at most.` }) declare first: number;
  @Field(() => Int, { nullable: true, description: 'How many rows to skip.' }) declare offset?: number | null;
}

/** All rows of a viewer are read, however few the answer has. */
export const FACTS = { only: 'graphql', cost: { weight: 100 } };

export const daysBetween = (from: string, until: string): number => (Date.parse(until) - Date.parse(from)) / DAY_MS + 1;

function sizeOf({ from, until, last }: SeriesArgs): number {
  if (last != null) return last;
  return from == null ? DEFAULT_ROWS : daysBetween(from, until ?? today('utc'));
}

/** With a row for each day, on an average. */
export const SERIES = { ...FACTS, listSize: { assumedSize: (args: SeriesArgs) => Math.min(Math.max(sizeOf(args), 0), MAX_PAGE) } };

export function checkOrder(from: string | null | undefined, until: string): void {
  if (from != null && from > until) throw badArgument('until', 'Ensure that `from` is not greater than `until`.');
}

export interface Statement {
  select: string;
  /** Terms of all columns that tell a row from others, so that no two share a place. */
  order: readonly string[];
}

/** Whether one of these days counts, two columns; the same one if there is one alone. */
export type During = (first: string, last?: string) => string;

interface Windowed extends SeriesArgs {
  by?: DayUnit;
  firstDay?: number;
  timeZone?: string | null;
}

/** A file has all days, those to come too. */
function windowOf(args: Windowed, { timeZone: ofServer }: Context, isFile: boolean): (bind: Bind) => During {
  const { from, until, last, by = 'DAY', firstDay = MONDAY, timeZone } = args;
  const end = until ?? (isFile ? 'infinity' : today(timeZone ?? ofServer));
  checkOrder(from, end);
  const unit = isRecurring(by) ? 'WEEK' : by;
  const steps = (by === 'DAY' ? DEFAULT_DAYS : DEFAULT_UNITS) - 1;
  return (bind) => {
    const high = `${bind(end)}::date`;
    const usual = () => `(${bucketSql(unit, firstDay, high, '')} - ${steps} * interval '${STEPS[unit]}')::date`;
    const earliest = () => (last == null ? usual() : `date '-infinity'`);
    const low = from == null ? earliest() : `${bind(from)}::date`;
    return (first, latest = first) => `${latest} >= ${low} AND ${first} <= ${high}`;
  };
}

/** Some rows of a statement, from its first one on. */
export async function ranking(ask: (bind: Bind) => Statement, args: RankingArgs, { session }: Context): Promise<Row[]> {
  const first = count('first', args.first, MAX_PAGE);
  const offset = count('offset', args.offset, MAX_INTEGER) ?? 0;
  const { bind, values } = binder();
  const { select, order } = ask(bind);
  return session.query(`SELECT * FROM (${select}) q ORDER BY ${order.join(', ')} LIMIT ${bind(first)} OFFSET ${bind(offset)}`, values);
}

type Ask = (bind: Bind, during: During, only: readonly Condition[]) => Statement;

const ofBases =
  (bases: readonly number[]): Condition =>
  (alias, bind) =>
    `${alias}."exercise_id" IN (SELECT e."id" FROM "exercise" e WHERE e."exercise_base_id" = ANY(${bind(bases)}))`;

/** Of all logs, or the rows of each of these bases of exercises. `written`: how many of them a file has. */
async function rowsOf(ask: Ask, args: Windowed, context: Context, written: number | undefined, bases?: readonly number[]): Promise<Row[]> {
  const last = count('last', args.last, MAX_PAGE) ?? MAX_PAGE + 1;
  const window = windowOf(args, context, written !== undefined);
  const { bind, values } = binder();
  const { select, order } = ask(bind, window(bind), bases ? [ofBases(bases)] : []);
  const newest = written === undefined ? order.map((term) => `${term} DESC`) : order;
  const place = `row_number() OVER (${bases ? 'PARTITION BY q."exerciseBaseId" ' : ''}ORDER BY ${newest.join(', ')})`;
  const after = written ?? 0;
  return context.session.query(
    `SELECT * FROM (SELECT q.*, ${place} AS "place" FROM (${select}) q) p
      WHERE p."place" > ${bind(after)} AND p."place" <= ${bind(after + last)} ORDER BY ${order.join(', ')}`,
    values,
  );
}

function checked(rows: Row[]): Row[] {
  if (rows.length > MAX_PAGE) throw badArgument('from', TOO_MANY);
  return rows;
}

/** The last rows of a statement, oldest first, or those that a file goes on with. */
export async function series(ask: Ask, args: Windowed, context: Context): Promise<Row[]> {
  return checked(await rowsOf(ask, args, context, context.written));
}

const isBelowRow = ({ key, prev }: GraphQLResolveInfo['path']): boolean =>
  typeof key === 'number' || (prev !== undefined && isBelowRow(prev));

/** The same of one base of exercises; one statement for all rows that are asked for theirs. The only list of a file stands below no row of another. */
export async function seriesBelow(ask: Ask, args: Windowed, base: number, context: Context, info: GraphQLResolveInfo): Promise<Row[]> {
  const written = isBelowRow(info.path) ? undefined : context.written;
  const load = async (bases: readonly unknown[]) => {
    const found = new Map<unknown, Row[]>(bases.map((one) => [one, []]));
    for (const row of await rowsOf(ask, args, context, written, bases as number[])) found.get(row.exerciseBaseId)!.push(row);
    return bases.map((one) => found.get(one)!);
  };
  return checked(await context.loaders.get<Row[]>(info.fieldNodes, load).load(base));
}
