/** HAVING: translates the argument `having` to an SQL condition on the statistics of groups. */
import { atMostElementsMessage } from '../../contract/messages';
import { conjunction, type SqlCondition } from '../access/conditions';
import { invalidArgumentError } from '../model/errors';
import type { Entity, EntityField } from '../model/fields';
import { operatorCondition, type FilterValue } from '../sql/where';
import { havingFieldName } from './inputs';
import { statisticValueKind, type StatisticReference } from './statistics';
import type { AggregateColumns } from './aggregates';

const MAX_HAVING_ELEMENTS = 20;

export type HavingElement = StatisticReference & Record<string, FilterValue>;

export function havingConditionOf(
  entity: Entity,
  elements: readonly HavingElement[] | null | undefined,
  aggregates: AggregateColumns,
): SqlCondition | undefined {
  if (!elements) return undefined;
  if (elements.length > MAX_HAVING_ELEMENTS)
    throw invalidArgumentError('having', atMostElementsMessage(MAX_HAVING_ELEMENTS));
  return conjunction(
    elements.flatMap((element, index) =>
      conditionsOf(entity, element, `having[${index}]`, aggregates),
    ),
  );
}

function conditionsOf(
  entity: Entity,
  { statistic, of, ...filters }: HavingElement,
  inputPath: string,
  aggregates: AggregateColumns,
): SqlCondition[] {
  const kind = statisticValueKind(entity, { statistic, of }, inputPath);
  const name = havingFieldName(kind);
  const [misplacedName] = Object.keys(filters).filter(
    (key) => key !== name && filters[key] != null,
  );
  if (misplacedName || filters[name] == null)
    throw invalidArgumentError(
      `${inputPath}.${misplacedName ?? name}`,
      `Use \`${name}\` for a condition on this statistic.`,
    );
  const column = aggregates.addStatistic(statistic, of);
  // The cast of integer statistics to `numeric` permits comparisons with decimals.
  const sql = (alias: string) => `${alias}."${column}"${name === 'is' ? '::numeric' : ''}`;
  const field = { name: column, kind, sql } as EntityField;
  return Object.entries(filters[name] as Record<string, FilterValue>).flatMap(
    ([operator, value]) =>
      value === undefined
        ? []
        : (operatorCondition(field, operator, value, false, `${inputPath}.${name}.${operator}`) ??
          []),
  );
}
