/** Groups of the rows of a list, their keys and what is worked out of them, in one statement; the same below each of several parents. */
import { MAX_INTEGER } from '../../contract/bounds';
import { atMostElements } from '../../contract/messages';
import type { Row } from '../../database/rows';
import { visible } from '../access/access';
import { binder, whereOf, type Bind, type Condition } from '../access/conditions';
import { count, MAX_PAGE } from '../read/connection';
import type { Context } from '../context';
import { badArgument } from '../model/errors';
import { fieldOf, type Entity } from '../model/fields';
import type { OrderDirection } from '../sql/ordering';
import { from, names } from '../sql/expressions';
import { filtered, type Given } from '../sql/where';
import { having, type Having } from './having';
import { JoinedRows } from './joinedrows';
import { keysOf, type GroupBy, type Key, type Keys } from './keys';
import type { Shown } from './plan';
import { kindOf, type Statistic, type StatisticOf } from './statistics';
import { distinctName, percentileName } from './types';
import { Values } from './values';

type Inputs = Record<string, Given>;

interface GroupOrder extends Partial<StatisticOf> {
  key?: number | null;
  direction: OrderDirection;
}

export interface GroupArguments {
  where?: Inputs | null;
  groupBy?: readonly GroupBy[] | null;
  having?: readonly Having[] | null;
  orderBy?: readonly GroupOrder[] | null;
  first?: number | null;
  offset?: number | null;
}

export const DEFAULT_GROUPS = 100;
const MAX_ORDER = 20;
/** Of one key that asks for empty groups: the groups between its first and its last one. */
const MAX_STEPS = 10_000;

const keyColumn = (index: number) => `"key${index}"`;

export class Grouping {
  private readonly rows: JoinedRows;
  private readonly keys: Keys;
  private readonly values: Values;
  private readonly conditions: Condition[];
  private readonly joins: Condition[];
  private readonly which?: Condition;
  private readonly order: string[];
  private readonly first: number;
  private readonly offset: number;

  constructor(
    private readonly entity: Entity,
    args: GroupArguments,
    private readonly shown: Shown,
    private readonly context: Context,
  ) {
    const own = visible(entity, context);
    const { conditions, joins } = filtered(entity, args.where, context);
    this.conditions = [...own, ...conditions];
    this.joins = joins;
    this.rows = new JoinedRows(context);
    this.keys = keysOf(entity, args.groupBy, context, this.rows);
    this.values = new Values(entity, this.keys.weight, this.rows);
    this.which = having(entity, args.having, this.values);
    this.order = this.orderOf(args.orderBy ?? []);
    for (const [name, handles] of shown.works) {
      if (name === 'count' || name === 'weightedCount') this.values.column(name, undefined);
      else for (const handle of handles) this.values.column(name as Statistic, handle);
    }
    for (const { p, handles } of shown.percentiles) for (const handle of handles) this.values.percentile(p, handle);
    for (const of of shown.distinct) {
      kindOf(entity, { statistic: 'countDistinct', of }, 'countDistinct');
      this.values.column('countDistinct', of);
    }
    this.first = count('first', args.first, MAX_PAGE) ?? DEFAULT_GROUPS;
    this.offset = count('offset', args.offset, MAX_INTEGER) ?? 0;
  }

  /** Terms that end with all keys, so that no two groups have the same place. */
  private orderOf(orderBy: readonly GroupOrder[]): string[] {
    if (orderBy.length > MAX_ORDER) throw badArgument('orderBy', atMostElements(MAX_ORDER));
    const { keys } = this.keys;
    const byKey = (index: number, direction: OrderDirection) => term(keys[index]!.place(keyColumn(index)), direction);
    const terms = orderBy.map(({ key, statistic, of, direction }, index) => {
      const place = `orderBy[${index}]`;
      if ((key == null) === (statistic == null)) throw badArgument(place, 'Name either a `key` or a `statistic`.');
      if (statistic != null) {
        kindOf(this.entity, { statistic, of }, place);
        return term(`"${this.values.column(statistic, of)}"`, direction);
      }
      if (of != null) throw badArgument(`${place}.of`, 'A key is not of a field.');
      if (!(key! >= 1 && key! <= keys.length))
        throw badArgument(`${place}.key`, 'Ensure that this is the number of an element of `groupBy`, from 1.');
      return byKey(key! - 1, direction);
    });
    return [...terms, ...keys.map((_, index) => byKey(index, 'ASC' as OrderDirection))];
  }

  private sql(further: readonly Condition[], bind: Bind): string {
    const { keys } = this.keys;
    const { columns, derived } = this.values;
    const keyColumns = keys.map((_, index) => keyColumn(index));
    const listed = [...columns].map(([name, { sql }]) => `${sql(bind)} AS "${name}"`);
    const selects = [...keys.map(({ sql }, index) => `${sql(bind)} AS ${keyColumn(index)}`), ...listed];
    const source = `${from(this.entity, [...this.joins, ...this.rows.joins], bind)}${whereOf([...further, ...this.conditions], 't', bind)}`;
    const groupBy = keys.length ? ` GROUP BY ${keys.map((_, index) => index + 1).join(', ')}` : '';
    const parts = [`g AS (SELECT ${selects.join(', ') || 'TRUE AS "any"'} ${source}${groupBy})`];
    let groups = 'g';
    const emptied = keys.findIndex(({ series }) => series);
    if (emptied >= 0) {
      parts.push(...this.withEmpty(keys, emptied, bind));
      groups = 'e';
    }
    const kept = [...keyColumns, ...[...columns.keys()].filter((name) => !name.startsWith('all ')).map((name) => `"${name}"`)];
    const worked = [...derived].map(([name, sql]) => `${sql(bind)} AS "${name}"`);
    parts.push(`w AS (SELECT ${[...kept, ...worked].join(', ') || 'TRUE AS "any"'} FROM ${groups})`);
    parts.push(`h AS (SELECT * FROM w${this.which ? ` WHERE ${this.which('w', bind)}` : ''})`);
    const beside = emptied >= 0 ? '(SELECT "over" FROM s) AS "_over"' : 'FALSE AS "_over"';
    const order = this.order.length ? ` ORDER BY ${this.order.join(', ')}` : '';
    const page = `SELECT TRUE AS "_row", h.* FROM h${order} LIMIT ${bind(this.first)} OFFSET ${bind(this.offset)}`;
    return `WITH ${parts.join(', ')} SELECT c.*, p.* FROM (SELECT ${beside}) c LEFT JOIN LATERAL (${page}) p ON TRUE`;
  }

  /** Groups without rows, between the first and the last one of a key. */
  private withEmpty(keys: readonly Key[], index: number, bind: Bind): string[] {
    const { series, steps } = keys[index]!;
    const column = keyColumn(index);
    const others = keys.map((_, other) => keyColumn(other)).filter((other) => other !== column);
    const values = keys.map((_, other) => (other === index ? 'v."value"' : `o.${keyColumn(other)}`));
    const empty = [...this.values.columns.values()].map((one) => one.empty);
    const distinct = others.length ? `(SELECT DISTINCT ${others.join(', ')} FROM g) o CROSS JOIN ` : '';
    return [
      `b AS (SELECT min(${column}) AS "low", max(${column}) AS "high" FROM g)`,
      `s AS (SELECT "low", CASE WHEN ${steps!('"low"', '"high"', bind)} <= ${MAX_STEPS} THEN "high" END AS "high", coalesce(${steps!('"low"', '"high"', bind)} > ${MAX_STEPS}, FALSE) AS "over" FROM b)`,
      `v AS (SELECT ${series!('"low"', '"high"', bind)} AS "value" FROM s)`,
      `n AS (SELECT ${values.join(', ')} FROM ${distinct}v EXCEPT SELECT ${keys.map((_, other) => keyColumn(other)).join(', ')} FROM g)`,
      `e AS (SELECT * FROM g UNION ALL SELECT ${['n.*', ...empty].join(', ')} FROM n)`,
    ];
  }

  async groups(): Promise<Row[]> {
    const { bind, values } = binder();
    const rows = await this.context.session.read(this.sql([], bind), values);
    return this.assemble(rows);
  }

  /** Below each of these parents, which the field `by` names. */
  async groupsBelow(by: string, parents: readonly number[]): Promise<Row[][]> {
    const parent = fieldOf(this.entity, by);
    const { bind, values } = binder();
    const ids = bind(parents);
    const inner = this.sql([() => names(parent, 't', 'q.id')], bind);
    const rows = await this.context.session.read(
      `SELECT q.id AS "_parent", c.* FROM unnest(${ids}::int[]) AS q(id) CROSS JOIN LATERAL (${inner}) c`,
      values,
    );
    const found = new Map<number, Row[]>(parents.map((id) => [id, []]));
    for (const row of rows) found.get(row._parent)!.push(row);
    return parents.map((id) => this.assemble(found.get(id)!));
  }

  private assemble(rows: readonly Row[]): Row[] {
    if (rows[0]?._over)
      throw badArgument(
        'groupBy',
        `Between the first and the last group there are more than ${MAX_STEPS} steps: ask for fewer, or for none that are empty.`,
      );
    return rows.filter((row) => row._row).map((row) => this.group(row));
  }

  private group(row: Row): Row {
    const keys: Row = {};
    this.keys.keys.forEach((key, index) => key.show(keys, row[`key${index}`]));
    const group: Row = { keys, count: row.count, weightedCount: row.weightedCount };
    const put = (name: string, handle: string, value: unknown) => void ((group[name] ??= {})[handle] = value);
    for (const [name, handles] of this.shown.works)
      for (const handle of handles) put(name, handle, row[this.values.column(name as Statistic, handle)]);
    for (const { p, handles } of this.shown.percentiles)
      for (const handle of handles) put(percentileName(p), handle, row[this.values.percentile(p, handle)]);
    for (const handle of this.shown.distinct) group[distinctName(handle)] = row[this.values.column('countDistinct', handle)];
    // A field that selects nothing but its type is an object too.
    for (const name of this.shown.works.keys()) group[name] ??= {};
    for (const { p } of this.shown.percentiles) group[percentileName(p)] ??= {};
    return group;
  }
}

function term(sql: string, direction: OrderDirection): string {
  const [way, nulls] = direction.split('_NULLS_');
  return `${sql} ${way}${nulls ? ` NULLS ${nulls}` : ''}`;
}
