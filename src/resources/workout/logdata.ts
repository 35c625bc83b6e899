/** Training logs of one exercise of a workout, by day and as chart lines. */
import { Field, Int, ObjectType } from 'type-graphql';
import type { Context } from '../../core/context';
import type { RowOf } from '../../core/model/fields';
import { loadChildFields } from '../../core/read/loaders';
import { DateScalar, DecimalScalar } from '../../core/model/scalars';
import { MASS_UNIT_IDS } from '../kilograms';
import { WorkoutLog } from '../workoutlog';
import { groupByDay, progressChartLines } from '../../training/progress';
import { allFieldNames } from './loaders';
import { REPETITIONS_UNIT_ID } from '../../training/summary';

@ObjectType({
  description: 'The heaviest weight of a day for one number of repetitions.',
  simpleResolvers: true,
})
export class ChartPoint {
  @Field(() => DateScalar, { description: 'The date of the training.' }) declare date: string;
  @Field(() => DecimalScalar, { description: 'The weight, in the unit in which it was logged.' })
  declare weight: string;
  @Field(() => Int, { description: 'The number of repetitions.' }) declare reps: number;
}

@ObjectType({ description: 'The logs of one day.', simpleResolvers: true })
export class LogDay {
  @Field(() => DateScalar, { description: 'The date of the training.' }) declare date: string;
  @Field(() => [WorkoutLog], { description: 'The logs of that day, ordered by repetitions.' })
  declare logs: RowOf<WorkoutLog>[];
}

@ObjectType({ description: 'The logs of one exercise of a workout.', simpleResolvers: true })
export class ExerciseLogData {
  @Field(() => [[ChartPoint]], { description: 'One series for each number of repetitions.' })
  declare chart: ChartPoint[][];
  @Field(() => [LogDay], { description: 'The same data as a list, oldest first.' })
  declare days: LogDay[];
}

/** Loads the logs of an exercise in plain repetitions and in kg or lb. Omits logs in other units, because they cannot be compared. */
export async function loadLogData(
  workoutId: number,
  exerciseId: number,
  context: Context,
): Promise<ExerciseLogData> {
  const logs = await loadChildFields(
    WorkoutLog,
    'workoutId',
    allFieldNames(WorkoutLog),
    workoutId,
    context,
    {
      name: `exercise ${exerciseId}`,
      condition: (alias, bind) =>
        `${alias}."exercise_id" = ${bind(exerciseId)} AND ${alias}."repetition_unit_id" = ${bind(REPETITIONS_UNIT_ID)}` +
        ` AND ${alias}."weight_unit_id" = ANY(${bind(Object.values(MASS_UNIT_IDS))})`,
    },
  );
  return { chart: progressChartLines(logs), days: groupByDay(logs) };
}

export const MISSING_EXERCISE_MESSAGE = "Please provide an exercise ID in the 'id' GET parameter";

export const LOG_DATA_SELECTION =
  'chart_data: chart { date weight reps } logs: days { key: date value: logs { ...workoutlog } }';
