/** HAVING: translates the argument `having` to a SQL condition on the statistics of groups. */
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

export function having(entity: Entity, elements: readonly Having[] | null | undefined, values: Values): Condition | undefined {
  if (!elements) return undefined;
  if (elements.length > MAX_HAVING) throw badArgument('having', atMostElements(MAX_HAVING));
  return all(elements.flatMap((element, index) => conditionsOf(entity, element, `having[${index}]`, values)));
}

function conditionsOf(entity: Entity, { statistic, of, ...filters }: Having, inputPath: string, values: Values): Condition[] {
  const kind = kindOf(entity, { statistic, of }, inputPath);
  const name = conditionName(kind);
  const [misplacedName] = Object.keys(filters).filter((key) => key !== name && filters[key] != null);
  if (misplacedName || filters[name] == null)
    throw badArgument(`${inputPath}.${misplacedName ?? name}`, `A condition on this statistic stands in \`${name}\`.`);
  const column = values.column(statistic, of);
  // The cast allows comparison of integer statistics with decimals.
  const sql = (alias: string) => `${alias}."${column}"${name === 'is' ? '::numeric' : ''}`;
  const field = { name: column, kind, sql } as FieldMeta;
  return Object.entries(filters[name] as Record<string, Given>).flatMap(([operator, value]) =>
    value === undefined ? [] : (operation(field, operator, value, false, `${inputPath}.${name}.${operator}`) ?? []),
  );
}
