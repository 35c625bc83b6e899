/** SQL of portions of food (meal items and diary entries): their grams and nutrients. */
import { Field } from 'type-graphql';
import type { Row } from '../../database/rows';
import { visibleRowConditions } from '../../engine/access/access';
import {
  whereClause,
  type ParameterBinder,
  type SqlCondition,
} from '../../engine/access/conditions';
import type { Context } from '../../engine/context';
import { fieldOf } from '../../engine/declare/fields';
import { fromClause } from '../../engine/sql/expressions';
import { whereInputType } from '../../engine/sql/filters';
import { compileWhere } from '../../engine/sql/where';
import { NUTRIENTS } from './values';
import { DiaryEntry } from './diary-entry';
import { Ingredient } from '../catalogue/ingredient';
import type { WhereInput } from '../training/workout-logs';

const KILOJOULES_PER_KILOCALORIE = '4.184';

export const DiaryEntryFilterField: PropertyDecorator = Field(() => whereInputType(DiaryEntry), {
  nullable: true,
  description: 'Filters the diary entries.',
});

const ingredientNutrientColumnsSql = (sql: (column: string) => string) =>
  NUTRIENTS.map((name) => `${sql(fieldOf(Ingredient, name).column!)} AS "${name}"`).join(', ');

/**
 * SQL: the weight in grams of portion `t`. Its household unit `u`, if any, weighs `u.amount` ×
 * `u.gram` grams.
 */
const PORTION_GRAMS_SQL = 't."amount" * coalesce(u."amount" * u."gram", 1)';

export const PORTION_JOINS_SQL = `JOIN "ingredient" i ON i."id" = t."ingredient_id"
  LEFT JOIN "ingredient_unit" u ON u."id" = t."weight_unit_id"`;
export const portionNutrientColumnsSql = () =>
  ingredientNutrientColumnsSql(
    (column) => `coalesce(i."${column}", 0) * ${PORTION_GRAMS_SQL} / 100`,
  );
export const nutrientColumnsSql = (sql: (name: string) => string) => NUTRIENTS.map(sql).join(', ');

export function diaryEntriesSql(
  where: WhereInput,
  extraColumnsSql: string,
  context: Context,
  bind: ParameterBinder,
  extraConditions: readonly SqlCondition[] = [],
): string {
  const { conditions, joins } = compileWhere(DiaryEntry, where, context, [
    ...visibleRowConditions(DiaryEntry, context),
    ...extraConditions,
  ]);

  return `SELECT t."plan_id", t."ingredient_id", ${PORTION_GRAMS_SQL} AS "grams", ${portionNutrientColumnsSql()}${extraColumnsSql}
    ${fromClause(DiaryEntry, joins, bind)} ${PORTION_JOINS_SQL}${whereClause(conditions, 't', bind)}`;
}

/** Collects the columns `<prefix>.<nutrient>` of a result row in one object. */
export function collectNutrients(row: Row, prefix: string): Row | null {
  if (row[`${prefix}.energy`] === null) return null;
  const names = [...NUTRIENTS, 'energyKilojoule'];

  return Object.fromEntries(names.map((name) => [name, row[`${prefix}.${name}`]]));
}

export const roundedNutrientColumnsSql = (prefix: string, valueSql: (name: string) => string) =>
  [
    ...NUTRIENTS.map((name) => `round(${valueSql(name)}, 2) AS "${prefix}.${name}"`),
    `round(${valueSql('energy')} * ${KILOJOULES_PER_KILOCALORIE}, 2) AS "${prefix}.energyKilojoule"`,
  ].join(', ');
