/** Which foods a recipe consists of. Triggers enforce these rules, too (migration 0106). */
import { isCurator } from '../../engine/access/access';
import type { CrossFieldRule } from '../../engine/declare/registry';
import { ACCEPTED_STATUS } from './review-status';

/** A rule in SQL: `x` has the two fields of the row, and `$3` is whether the viewer is a curator. */
const sqlRule = (
  message: string,
  [first, second]: readonly [string, string],
  isViolatedSql: string,
  isCausedBy?: CrossFieldRule['isCausedBy'],
): CrossFieldRule => ({
  fields: [first, second],
  message,
  isCausedBy,
  async violatedBy(rows, context) {
    const results = await context.session.query(
      `SELECT ${isViolatedSql} AS "isViolated"
        FROM unnest($1::int[], $2::int[]) WITH ORDINALITY x("${first}", "${second}", "place")
        ORDER BY "place"`,
      [rows.map((row) => row[first]), rows.map((row) => row[second]), isCurator(context, 'write')],
    );

    return results.map(({ isViolated }) => isViolated as boolean);
  },
});

const ACCEPTED_SQL = `'${ACCEPTED_STATUS}'`;

/** Others than curators cannot refer to pending foods of others. A new recipe has the id 0. */
export const RECIPE_PART_RULE = sqlRule(
  'A recipe consists of accepted foods and of pending ones of its author, not of recipes.',
  ['recipeId', 'ingredientId'],
  `x."recipeId" = x."ingredientId"
    OR EXISTS (SELECT FROM "recipe_part" p
      WHERE p."recipe_id" = x."ingredientId" OR p."ingredient_id" = x."recipeId")
    OR $3 AND EXISTS (SELECT FROM "ingredient" f
        WHERE f."id" = x."ingredientId" AND f."status" <> ${ACCEPTED_SQL})
      AND NOT EXISTS (SELECT FROM "ingredient_contributor" r
        JOIN "ingredient_contributor" f USING ("user_id")
        WHERE r."row_id" = x."recipeId" AND f."row_id" = x."ingredientId")`,
);

/** The writes of others than curators do not change the status. */
export const ACCEPTED_PARTS_RULE = sqlRule(
  'An accepted recipe has accepted parts.',
  ['id', 'status'],
  `$3 AND EXISTS (SELECT FROM "recipe_part" p
      JOIN "ingredient" r ON r."id" = p."recipe_id"
      JOIN "ingredient" f ON f."id" = p."ingredient_id"
      WHERE (r."id" = x."id" OR f."id" = x."id")
        AND CASE r."id" WHEN x."id" THEN x."status"::text ELSE r."status" END = ${ACCEPTED_SQL}
        AND CASE f."id" WHEN x."id" THEN x."status"::text ELSE f."status" END <> ${ACCEPTED_SQL})`,
  ({ status }) => status !== undefined,
);
