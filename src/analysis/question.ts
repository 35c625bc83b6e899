/** What all questions share: which days they are asked about, how many rows they answer, and what that costs. */
import { ArgsType, Field, Int } from 'type-graphql';
import { MAX_INTEGER } from '../contract/bounds';
import type { Row } from '../database/rows';
import { binder, type Bind } from '../core/access/conditions';
import type { Context } from '../core/context';
import { bucketSql, dayNumber, FirstDay, isRecurring, STEPS, type DayUnit } from '../core/grouping/units';
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
    description: `Only so many of the newest rows, ${MAX_PAGE} at most; without it, more rows than that are an error.`,
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
  firstDay?: FirstDay;
  timeZone?: string | null;
}

/** A file has all days, those to come too. */
function windowOf(args: Windowed, { timeZone: ofServer }: Context, isFile: boolean): (bind: Bind) => During {
  const { from, until, last, by = 'DAY', firstDay = FirstDay.MONDAY, timeZone } = args;
  const end = until ?? (isFile ? 'infinity' : today(timeZone ?? ofServer));
  checkOrder(from, end);
  const unit = isRecurring(by) ? 'WEEK' : by;
  const steps = (by === 'DAY' ? DEFAULT_DAYS : DEFAULT_UNITS) - 1;
  return (bind) => {
    const high = `${bind(end)}::date`;
    const usual = () => `(${bucketSql(unit, dayNumber(firstDay), high, '')} - ${steps} * interval '${STEPS[unit]}')::date`;
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

/** The last rows of a statement, oldest first, or those that a file goes on with. */
export async function series(ask: (bind: Bind, during: During) => Statement, args: Windowed, context: Context): Promise<Row[]> {
  const { session, written } = context;
  const isFile = written !== undefined;
  const last = count('last', args.last, MAX_PAGE) ?? MAX_PAGE + 1;
  const window = windowOf(args, context, isFile);
  const { bind, values } = binder();
  const { select, order } = ask(bind, window(bind));
  const newest = isFile ? order : order.map((term) => `${term} DESC`);
  const rows = await session.query(
    `SELECT * FROM (${select}) q ORDER BY ${newest.join(', ')} LIMIT ${bind(last)} OFFSET ${bind(written ?? 0)}`,
    values,
  );
  if (rows.length > MAX_PAGE) throw badArgument('from', TOO_MANY);
  return isFile ? rows : rows.reverse();
}
