/** SQL of the workout logs that the viewer may see, for analyses: repetitions as numbers and weights as masses. */
import { Field } from 'type-graphql';
import { visible } from '../core/access/access';
import { whereOf, type Bind, type Condition } from '../core/access/conditions';
import type { Context } from '../core/context';
import { from } from '../core/sql/expressions';
import { whereInput } from '../core/sql/filters';
import { filtered } from '../core/sql/where';
import { WorkoutLog } from '../resources/workoutlog';
import { REPETITIONS, UNTIL_FAILURE } from '../training/texts';
import { liftedMass } from './masses';
import type { During } from './question';

export type Where = Record<string, unknown> | null | undefined;

export const WhereLogs = (description: string): PropertyDecorator => Field(() => whereInput(WorkoutLog), { nullable: true, description });

/** Columns: `id`, `date`, `exercise_id`, `reps` (NULL in other units), `reserve` (repetitions in reserve, NULL if not logged), `mass` in kg. */
export function logsOf(where: Where, context: Context, bind: Bind, during?: During, extraConditions: readonly Condition[] = []): string {
  const accessConditions = visible(WorkoutLog, context);
  const { conditions, joins } = filtered(WorkoutLog, where, context);
  const dateConditions: Condition[] = during ? [(alias) => during(`${alias}."date"`)] : [];
  return `SELECT t."id", t."date", t."exercise_id",
    CASE WHEN t."repetition_unit_id" IN (${REPETITIONS}, ${UNTIL_FAILURE}) THEN t."reps" END AS "reps",
    nullif(t."rir", '')::numeric AS "reserve", ${liftedMass('t', context, bind)} AS "mass"
    ${from(WorkoutLog, joins, bind)}${whereOf([...extraConditions, ...accessConditions, ...dateConditions, ...conditions], 't', bind)}`;
}

/** Adds the column `base` to logs: the id of the exercise base that all translations of their exercise share. */
export const withBase = (logs: string): string =>
  `SELECT s.*, e."exercise_base_id" AS "base" FROM (${logs}) s JOIN "exercise" e ON e."id" = s."exercise_id"`;

export const LAST_LOGGED = 'What was trained: of its translations the one that was logged last.';

/** CTEs: `l`, the logs with their `base`; `x` (`base`, `exercise_id`), the most recently logged exercise of each base. */
export const baseCtes = (logs: string): string =>
  `l AS MATERIALIZED (${withBase(logs)}),
    x AS (SELECT DISTINCT ON (l."base") l."base", l."exercise_id" FROM l ORDER BY l."base", l."date" DESC, l."id" DESC)`;
