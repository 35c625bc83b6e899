/** Statistics of groups (count, sum, mean, …), and references to them in `having` and `orderBy`: a statistic and its field. */
import { toConstantCase } from '../../contract/casing';
import { createEnumOfEntries } from '../model/enums';
import { invalidArgumentError } from '../model/errors';
import type { Entity, EntityField } from '../model/fields';
import {
  minMaxFieldsOf,
  groupFieldName,
  numberFieldsOf,
  groupKeysOfFieldValues,
} from './groupkeys';

export const NUMBER_STATISTICS = {
  sum: 'Exact sum, each value times the weight of its row; null without values.',
  avg: 'Mean, weighted as in `sum`; null without values. Rounded to 10 places.',
  stddev:
    'Sample standard deviation (n − 1), without weights; null for fewer than two values. Rounded to 10 places.',
  median: 'Interpolated, without weights; null without values.',
} as const;
export const MIN_MAX_STATISTICS = {
  min: 'Smallest value; null without values.',
  max: 'Largest value; null without values.',
} as const;
export const COUNT_DISTINCT_DESCRIPTION = 'Number of distinct values, without nulls.';
export const COUNT_DESCRIPTION = 'Number of rows.';
export const WEIGHTED_COUNT_DESCRIPTION =
  'Sum of the weights of the rows; equals `count` unless a key has weights.';

const STATISTICS = {
  count: COUNT_DESCRIPTION,
  weightedCount: WEIGHTED_COUNT_DESCRIPTION,
  countDistinct: COUNT_DISTINCT_DESCRIPTION,
  ...NUMBER_STATISTICS,
  ...MIN_MAX_STATISTICS,
};
export type Statistic = keyof typeof STATISTICS;
/** The enum of statistics. Its values are the names of the corresponding fields of a group. */
export const Statistic = createEnumOfEntries(
  'Statistic',
  'A statistic of a group. `COUNT` and `WEIGHTED_COUNT` count rows; all others are computed from a field.',
  Object.entries(STATISTICS).map(([name, description]) => [
    toConstantCase(name),
    name,
    description,
  ]),
);

export interface StatisticReference {
  statistic: Statistic;
  of?: string | null;
}

const isRowStatistic = (statistic: Statistic) =>
  statistic === 'count' || statistic === 'weightedCount';

function kindsByFieldName(
  entity: Entity,
  statistic: Statistic,
): ReadonlyMap<string, EntityField['kind']> {
  if (statistic === 'countDistinct')
    return new Map(groupKeysOfFieldValues(entity).map(({ name }) => [name, 'decimal']));
  if (statistic === 'min' || statistic === 'max')
    return new Map(minMaxFieldsOf(entity).map((field) => [groupFieldName(field), field.kind]));
  return new Map(numberFieldsOf(entity).map((field) => [groupFieldName(field), 'decimal']));
}

/** Returns the kind of the values of a statistic (such as decimal or date). Throws BAD_USER_INPUT if the field does not support the statistic. */
export function statisticValueKind(
  entity: Entity,
  { statistic, of }: StatisticReference,
  inputPath: string,
): EntityField['kind'] {
  if (isRowStatistic(statistic)) {
    if (of != null)
      throw invalidArgumentError(
        `${inputPath}.of`,
        'This statistic counts rows and takes no field.',
      );
    return 'decimal';
  }
  const kinds = kindsByFieldName(entity, statistic);
  const kind = kinds.get(of ?? '');
  if (!kind)
    throw invalidArgumentError(
      `${inputPath}.of`,
      `This statistic is of one of these fields: ${[...kinds.keys()].join(', ') || 'none'}.`,
    );
  return kind;
}
