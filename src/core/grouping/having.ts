/** A `having` → a condition on the columns of groups. */
import { atMostElements } from '../../contract/messages';
import { all, type Condition } from '../access/conditions';
import { badArgument } from '../model/errors';
import type { Entity, FieldMeta } from '../model/fields';
import { operation, type Given } from '../sql/where';
import { conditionName } from './inputs';
import { kindOf, type StatisticOf } from './statistics';
import type { Values } from './values';

const MAX_HAVING = 20;

export type Having = StatisticOf & Record<string, Given>;

export function having(entity: Entity, given: readonly Having[] | null | undefined, values: Values): Condition | undefined {
  if (!given) return undefined;
  if (given.length > MAX_HAVING) throw badArgument('having', atMostElements(MAX_HAVING));
  return all(given.flatMap((element, index) => conditionsOf(entity, element, `having[${index}]`, values)));
}

function conditionsOf(entity: Entity, { statistic, of, ...filters }: Having, place: string, values: Values): Condition[] {
  const kind = kindOf(entity, { statistic, of }, place);
  const name = conditionName(kind);
  const [other] = Object.keys(filters).filter((one) => one !== name && filters[one] != null);
  if (other || filters[name] == null)
    throw badArgument(`${place}.${other ?? name}`, `A condition on this statistic stands in \`${name}\`.`);
  const column = values.column(statistic, of);
  // A whole number is compared with decimals too.
  const sql = (alias: string) => `${alias}."${column}"${name === 'is' ? '::numeric' : ''}`;
  const field = { name: column, kind, sql } as FieldMeta;
  return Object.entries(filters[name] as Record<string, Given>).flatMap(([operator, value]) =>
    value === undefined ? [] : (operation(field, operator, value, false, `${place}.${name}.${operator}`) ?? []),
  );
}
