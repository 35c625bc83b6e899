/** SQL of portions of food: the grams and nutrients of meal items and of the viewer's diary entries. */
import { Field } from 'type-graphql';
import type { Row } from '../database/rows';
import { visibleRowConditions } from '../core/access/access';
import { whereClause, type ParameterBinder } from '../core/access/conditions';
import type { Context } from '../core/context';
import { fieldOf } from '../core/model/fields';
import { fromClause } from '../core/sql/expressions';
import { whereInputType } from '../core/sql/filters';
import { compileWhere } from '../core/sql/where';
import { NUTRIENTS } from '../nutrition/values';
import { DiaryEntry } from '../resources/diaryentry';
import { Ingredient } from '../resources/ingredient';
import type { WhereInput } from './workoutlogs';

const KILOJOULES_PER_KILOCALORIE = '4.184';

export const DiaryEntryFilterField: PropertyDecorator = Field(() => whereInputType(DiaryEntry), {
  nullable: true,
  description: 'Filters the diary entries.',
});

const ingredientNutrientColumnsSql = (sql: (column: string) => string) =>
  NUTRIENTS.map((name) => `${sql(fieldOf(Ingredient, name).column!)} AS "${name}"`).join(', ');

/**
 * SQL: the weight of a portion in grams. `t` is the row of the portion, `u` its household unit of `u.amount` × `u.gram` grams. Without a unit, the
 * amount of the row is in grams.
 */
const PORTION_GRAMS_SQL = 't."amount" * coalesce(u."amount" * u."gram", 1)';
export const PORTION_JOINS_SQL = `JOIN "ingredient" i ON i."id" = t."ingredient_id" LEFT JOIN "ingredient_unit" u ON u."id" = t."weight_unit_id"`;
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
): string {
  const accessConditions = visibleRowConditions(DiaryEntry, context);
  const { conditions, joins } = compileWhere(DiaryEntry, where, context);
  return `SELECT t."plan_id", t."ingredient_id", ${PORTION_GRAMS_SQL} AS "grams", ${portionNutrientColumnsSql()}${extraColumnsSql}
    ${fromClause(DiaryEntry, joins, bind)} ${PORTION_JOINS_SQL}${whereClause([...accessConditions, ...conditions], 't', bind)}`;
}

/** Collects the nutrients of a query result row, from its columns `<prefix>.<nutrient>`, in one object; null if these columns are null. */
export const collectNutrients = (row: Row, prefix: string): Row | null =>
  row[`${prefix}.energy`] === null
    ? null
    : Object.fromEntries(
        [...NUTRIENTS, 'energyKilojoule'].map((name) => [name, row[`${prefix}.${name}`]]),
      );

export const roundedNutrientColumnsSql = (prefix: string, value: (name: string) => string) =>
  [
    ...NUTRIENTS.map((name) => `round(${value(name)}, 2) AS "${prefix}.${name}"`),
    `round(${value('energy')} * ${KILOJOULES_PER_KILOCALORIE}, 2) AS "${prefix}.energyKilojoule"`,
  ].join(', ');
