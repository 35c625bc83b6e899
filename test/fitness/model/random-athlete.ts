/** Creates random training and nutrition data of a user, in which edge cases are frequent. */
import { DateTime } from 'luxon';
import { TIME_ZONE } from '../../setup/databases';
import type { Fitgraph } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { randomFor } from '../../setup/random';
import type { Eaten, Meal, Planned } from './food';
import { dayAfter, SQUAT_IN_GERMAN, type Athlete } from './training';

export interface World extends Athlete, Eaten, Planned {}

/** First day of the training data. */
const FIRST_DAY = '2025-03-01';

/** Moments at which clocks change; diary entries are created close to them. */
const CHANGES = [
  '2025-03-30T01:00:00Z',
  '2025-10-26T01:00:00Z',
  '2025-03-09T07:00:00Z',
  '2025-11-02T05:00:00Z',
  '2025-04-05T15:00:00Z',
  '2025-10-04T15:30:00Z',
] as const;
const RIR = [null, null, '', '0', '0.5', '1', '2', '2.5', '4'] as const;
const WEIGHTS = [
  '0.00',
  '20.00',
  '22.50',
  '60.00',
  '80.00',
  '90.00',
  '100.00',
  '100.00',
  '102.50',
  '67.35',
  '999.99',
] as const;
const EXERCISES = [1, 2, 3, 4, SQUAT_IN_GERMAN] as const;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A function that inserts rows into a table and returns their ids. */
export type Insert = (table: string, rows: readonly Record<string, unknown>[]) => Promise<number[]>;

export const inserterFor =
  (fitgraph: Fitgraph): Insert =>
  async (table, rows) => {
    if (!rows.length) return [];
    const columns = Object.keys(rows[0]!).map((name) => `"${name}"`);
    const found = await fitgraph.sql(
      `INSERT INTO "${table}" (${columns.join(', ')}) SELECT ${columns.join(', ')}
        FROM json_populate_recordset(NULL::"${table}", $1) WITH ORDINALITY ORDER BY "ordinality" RETURNING *`,
      [JSON.stringify(rows)],
    );

    return found.map(({ id }) => Number(id));
  };

export async function createAthlete(
  person: Person,

  /**
   * Number of the user, which decides how many rows of each kind are created: none, some or many.
   */
  number: number,
  insert: Insert,
  foods: Eaten['foods'],
  muscles: Athlete['muscles'],
  fitgraph: Fitgraph,
): Promise<World> {
  const random = randomFor(`rows of user ${number}`);
  const user_id = person.id;
  const amount = (most: number) => (random.int(1, most * 4) / 4).toFixed(2);
  const prefersPounds = random.chance(0.5);
  const gender = random.pick(['1', '2', null]);
  const calories = random.pick([null, 500, 2000]);

  await fitgraph.sql(
    `UPDATE "user_profile" SET "weight_unit" = $2, "gender" = $3, "calories" = $4 WHERE "user_id" = $1`,
    [user_id, prefersPounds ? 'lb' : 'kg', gender, calories],
  );

  const workouts = await insert(
    'workout',
    times(3, () => ({ user_id, creation_date: FIRST_DAY, comment: 'w' })),
  );
  const workout = () => random.pick(workouts as [number]);
  const dates = new Set(
    times([30, 12, 1, 0][number % 4]!, () => dayAfter(FIRST_DAY, random.int(0, 60))),
  );
  const weights = [...dates].map((date) => ({
    date,
    weight: (60 + random.int(0, 4000) / 100).toFixed(2),
    unit: random.pick(['kg', 'lb'] as const),
  }));

  await insert(
    'weight_entry',
    weights.map((row) => ({ user_id, ...row })),
  );

  const today = DateTime.now().setZone(TIME_ZONE).toISODate()!;
  // The weeks of schedules begin on this weekday. It is never that of today or tomorrow, so that no
  // new week begins if midnight passes during the test.
  const start = dayAfter(today, -7 * random.int(0, 9) - random.int(1, 5));
  const date = () =>
    random.chance(0.8)
      ? dayAfter(FIRST_DAY, random.int(0, 10) * random.int(0, 6))
      : dayAfter(start, random.int(0, 40));
  const logs = times([90, 40, 90, 0][(number >> 1) % 4]!, () => ({
    date: date(),
    exercise: random.pick(EXERCISES),
    workout: workout(),
    reps: random.chance(0.8) ? random.int(1, 12) : random.int(0, 33),
    weight: random.pick(WEIGHTS),
    rir: random.pick(RIR),
    repetitionUnit: random.pick([1, 1, 1, 2, 3]),
    weightUnit: random.pick([1, 1, 1, 2, 2, 3, 4]),
  }));
  const logIds = await insert(
    'workout_log',
    logs.map((log) => ({
      ...{
        user_id,
        date: log.date,
        exercise_id: log.exercise,
        workout_id: log.workout,
        reps: log.reps,
        weight: log.weight,
        rir: log.rir,
      },
      ...{ repetition_unit_id: log.repetitionUnit, weight_unit_id: log.weightUnit },
    })),
  );
  const sessions = [...new Set(times(random.int(0, 12), date))].map((day) => ({
    date: day,
    workout: workout(),
  }));

  await insert(
    'workout_session',
    sessions.map((session) => ({
      user_id,
      date: session.date,
      workout_id: session.workout,
      impression: '2',
    })),
  );

  const planIds = await insert(
    'nutrition_plan',
    times(2, () => ({
      user_id,
      creation_date: FIRST_DAY,
      description: '',
      has_goal_calories: random.chance(0.5),
      language_id: 2,
    })),
  );
  const flags = await fitgraph.sql(
    'SELECT "id", "has_goal_calories" AS "flag" FROM "nutrition_plan" WHERE "user_id" = $1 ORDER BY "id"',
    [user_id],
  );
  const plans = flags.map(({ id, flag }) => ({ id: Number(id), hasGoalCalories: Boolean(flag) }));
  const plan = () => random.pick(planIds as [number]);

  /** Draws a random portion. In the test catalogue, a cup of ingredient n weighs 100 + n grams. */
  const portion = () => {
    const ingredient = random.int(1, 3);
    const cups = random.chance(0.3);

    return {
      ingredient,
      amount: amount(cups ? 3 : 400),
      unit: cups ? String(100 + ingredient) : null,
    };
  };

  const rowOf = ({ ingredient, amount: value, unit }: ReturnType<typeof portion>) => ({
    user_id,
    ingredient_id: ingredient,
    amount: value,
    weight_unit_id: unit && ingredient,
  });
  const meals: Meal[] = [];

  for (const time of random.chance(0.2)
    ? []
    : ['08:00:00', '12:30:00', '12:30:00', '19:00:00', null]) {
    const [of, items] = [plan(), times(random.int(0, 2), portion)];
    const [id] = (await insert('meal', [{ user_id, plan_id: of, order: 1, time }])) as [number];

    await insert(
      'meal_item',
      items.map((item) => ({ ...rowOf(item), meal_id: id, order: 1 })),
    );
    meals.push({ id, plan: of, time, items });
  }

  const moment = () =>
    new Date(
      Date.parse(random.pick(CHANGES)) +
        random.int(-86_400, 86_400) * 1000 * random.pick([1, 1, 5]),
    ).toISOString();
  const entries = times([60, 30, 0][number % 3]!, () => {
    const of = plan();
    const [meal = null] = random.chance(0.3)
      ? random.shuffled(meals.filter((one) => one.plan === of))
      : [];

    return { ...portion(), plan: of, datetime: moment(), meal: meal && meal.id };
  });

  await insert(
    'diary_entry',
    entries.map((entry) => ({
      ...rowOf(entry),
      plan_id: entry.plan,
      datetime: entry.datetime,
      meal_id: entry.meal,
    })),
  );

  const days: Planned['days'] = [];

  for (const of of workouts) {
    for (let left = random.int(0, 2); left > 0; left -= 1) {
      const weekdays = [...new Set(times(random.int(0, 3), () => random.int(1, 7)))];
      const sets = times(random.int(0, 3), () => ({
        rounds: random.int(1, 6),
        settings: times(random.int(0, 4), () => ({
          exercise: random.pick([1, 2, 3, SQUAT_IN_GERMAN]),
          reps: random.int(1, 12),
          repetitionUnit: random.pick([1, 1, 1, 2, 3]),
        })),
      }));
      const [dayId] = await insert('training_day', [{ user_id, workout_id: of, description: 'd' }]);

      await insert(
        'training_day_weekday',
        weekdays.map((day_of_week_id) => ({ user_id, training_day_id: dayId, day_of_week_id })),
      );

      for (const { rounds, settings } of sets) {
        const [set_id] = await insert('workout_set', [
          { user_id, training_day_id: dayId, sets: rounds },
        ]);

        await insert(
          'setting',
          settings.map(({ exercise, reps, repetitionUnit }) => ({
            user_id,
            set_id,
            exercise_id: exercise,
            reps,
            repetition_unit_id: repetitionUnit,
            weight_unit_id: 1,
            order: 1,
            comment: '',
          })),
        );
      }

      days.push({ workout: of, weekdays, sets });
    }
  }

  const schedules: Planned['schedules'] = [];

  for (const isActive of [false, random.chance(0.85)]) {
    const isLoop = random.chance(0.5);
    const [schedule_id] = await insert('schedule', [
      { user_id, name: 's', start_date: start, is_active: isActive, is_loop: isLoop },
    ]);
    const steps = times(random.int(0, 3), () => ({
      workout: workout(),
      duration: random.int(1, 3),
      order: random.int(1, 2),
    }));
    const ids = await insert(
      'schedule_step',
      steps.map(({ workout: workout_id, ...step }) => ({
        user_id,
        schedule_id,
        workout_id,
        ...step,
      })),
    );

    schedules.push({
      start,
      isActive,
      isLoop,
      steps: steps.map((step, index) => ({ id: ids[index]!, ...step })),
    });
  }

  return {
    ...{
      prefersPounds,
      gender,
      calories,
      weights,
      sessions,
      plans,
      meals,
      entries,
      foods,
      muscles,
      days,
      schedules,
    },
    logs: logs.map((log, index) => ({ id: logIds[index]!, ...log })),
  };
}
