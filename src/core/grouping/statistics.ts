/** Aggregate functions of groups (count, sum, mean, …) as `having` and `orderBy` refer to them: a statistic and its field. */
import { registerEnumType } from 'type-graphql';
import { badArgument } from '../model/errors';
import type { Entity, FieldMeta } from '../model/fields';
import { extremesOf, handleOf, numbersOf, valueKeysOf } from './facts';

export const OF_NUMBERS = {
  sum: 'Exact sum, each value times the weight of its row; null without values.',
  avg: 'Mean, weighted as in `sum`; null without values. Rounded to 10 places.',
  stddev: 'Sample standard deviation (n − 1), without weights; null for fewer than two values. Rounded to 10 places.',
  median: 'Interpolated, without weights; null without values.',
} as const;
export const OF_EXTREMES = {
  min: 'Smallest value; null without values.',
  max: 'Largest value; null without values.',
} as const;
export const DISTINCT = 'Number of different values; nulls do not count.';
export const COUNTED = 'Number of rows.';
export const WEIGHTED = 'Sum of the weights of the rows; equals `count` unless a key has weights.';

/** The enum Statistic. Its values are the names of the corresponding fields of a group. */
export const Statistic = {
  COUNT: 'count',
  WEIGHTED_COUNT: 'weightedCount',
  COUNT_DISTINCT: 'countDistinct',
  SUM: 'sum',
  AVG: 'avg',
  STDDEV: 'stddev',
  MEDIAN: 'median',
  MIN: 'min',
  MAX: 'max',
} as const;
export type Statistic = (typeof Statistic)[keyof typeof Statistic];

registerEnumType(Statistic, {
  name: 'Statistic',
  description: 'A statistic of a group. `COUNT` and `WEIGHTED_COUNT` are of rows, all others of a field of them.',
  valuesConfig: {
    COUNT: { description: COUNTED },
    WEIGHTED_COUNT: { description: WEIGHTED },
    COUNT_DISTINCT: { description: DISTINCT },
    SUM: { description: OF_NUMBERS.sum },
    AVG: { description: OF_NUMBERS.avg },
    STDDEV: { description: OF_NUMBERS.stddev },
    MEDIAN: { description: OF_NUMBERS.median },
    MIN: { description: OF_EXTREMES.min },
    MAX: { description: OF_EXTREMES.max },
  },
});

export interface StatisticOf {
  statistic: Statistic;
  of?: string | null;
}

const isRowStatistic = (statistic: Statistic) => statistic === 'count' || statistic === 'weightedCount';

function kindsByField(entity: Entity, statistic: Statistic): ReadonlyMap<string, FieldMeta['kind']> {
  if (statistic === 'countDistinct') return new Map(valueKeysOf(entity).map(({ name }) => [name, 'decimal']));
  if (statistic === 'min' || statistic === 'max') return new Map(extremesOf(entity).map((field) => [handleOf(field), field.kind]));
  return new Map(numbersOf(entity).map((field) => [handleOf(field), 'decimal']));
}

/** The kind of a statistic's value. Throws BAD_USER_INPUT if the field does not support the statistic. */
export function kindOf(entity: Entity, { statistic, of }: StatisticOf, inputPath: string): FieldMeta['kind'] {
  if (isRowStatistic(statistic)) {
    if (of != null) throw badArgument(`${inputPath}.of`, 'This statistic is of rows, not of a field.');
    return 'decimal';
  }
  const kinds = kindsByField(entity, statistic);
  const kind = kinds.get(of ?? '');
  if (!kind) throw badArgument(`${inputPath}.of`, `This statistic is of one of these fields: ${[...kinds.keys()].join(', ') || 'none'}.`);
  return kind;
}
