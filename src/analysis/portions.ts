/** What portions of food contain, in SQL, and the entries of the viewer's diary as such. */
import { Field } from 'type-graphql';
import type { Row } from '../database/rows';
import { visible } from '../core/access/access';
import { whereOf, type Bind } from '../core/access/conditions';
import type { Context } from '../core/context';
import { fieldOf } from '../core/model/fields';
import { from } from '../core/sql/expressions';
import { whereInput } from '../core/sql/filters';
import { filtered } from '../core/sql/where';
import { NUTRIENTS } from '../nutrition/values';
import { DiaryEntry } from '../resources/diaryentry';
import { Ingredient } from '../resources/ingredient';
import type { Where } from './logs';

const KILOJOULES_PER_KILOCALORIE = '4.184';

export const WhereEntries: PropertyDecorator = Field(() => whereInput(DiaryEntry), {
  nullable: true,
  description: 'Which entries of the diary count.',
});

const nutrients = (each: (column: string) => string) =>
  NUTRIENTS.map((name) => `${each(fieldOf(Ingredient, name).column!)} AS "${name}"`).join(', ');

/** Of an ingredient `i` in the amount of `t`, with the unit `u`; its `gram` times its `amount`, as everywhere. */
const GRAMS = 't."amount" * coalesce(u."amount" * u."gram", 1)';
export const COMPOSED = `JOIN "ingredient" i ON i."id" = t."ingredient_id" LEFT JOIN "ingredient_unit" u ON u."id" = t."weight_unit_id"`;
export const contents = () => nutrients((column) => `coalesce(i."${column}", 0) * ${GRAMS} / 100`);
export const each = (sql: (name: string) => string) => NUTRIENTS.map(sql).join(', ');

export function entries(where: Where, columns: string, context: Context, bind: Bind): string {
  const own = visible(DiaryEntry, context);
  const { conditions, joins } = filtered(DiaryEntry, where, context);
  return `SELECT t."plan_id", t."ingredient_id", ${GRAMS} AS "grams", ${contents()}${columns}
    ${from(DiaryEntry, joins, bind)} ${COMPOSED}${whereOf([...own, ...conditions], 't', bind)}`;
}

/** Columns `<prefix>.<name>` → an object of exact values. */
export const valuesOf = (row: Row, prefix: string): Row | null =>
  row[`${prefix}.energy`] === null
    ? null
    : Object.fromEntries([...NUTRIENTS, 'energyKilojoule'].map((name) => [name, row[`${prefix}.${name}`]]));

export const rounded = (prefix: string, value: (name: string) => string) =>
  [
    ...NUTRIENTS.map((name) => `round(${value(name)}, 2) AS "${prefix}.${name}"`),
    `round(${value('energy')} * ${KILOJOULES_PER_KILOCALORIE}, 2) AS "${prefix}.energyKilojoule"`,
  ].join(', ');
