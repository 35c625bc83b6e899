/** Creates workout logs for tests. */
import type { Fitgraph } from '../setup/fitgraph';
import type { Person } from '../setup/person';

export const [KG, LB, BODY_WEIGHT, PLATES] = [1, 2, 3, 4];
export const [SQUAT, BENCH, PLANK] = [1, 2, 3];
export const [SECONDS] = [3];

export interface Log {
  date?: string;
  exercise?: number;
  reps: number;
  weight: string;
  rir?: string;
  weight_unit?: number;
  repetition_unit?: number;
}

/** Creates the logs in a new workout and returns their ids. */
export async function train(person: Person, logs: readonly Log[]): Promise<number[]> {
  const workout = (await person.post('/workout/', { comment: 'w' })).body.id;
  const ids: number[] = [];

  for (const log of logs) {
    const { status, body } = await person.post('/workoutlog/', {
      date: '2021-03-08',
      exercise: SQUAT,
      workout,
      ...log,
    });

    if (status !== 201) throw new Error(JSON.stringify(body));
    ids.push(body.id);
  }

  return ids;
}

/** Inserts a German translation of an exercise. */
export const insertTranslation = (fitgraph: Fitgraph, id: number, exercise = SQUAT) =>
  fitgraph.sql(
    `INSERT INTO "exercise" ("id", "uuid", "name", "status", "description", "language_id", "exercise_base_id")
      SELECT $1, gen_random_uuid(), 'Kniebeuge', "status", "description", 1, "exercise_base_id" FROM "exercise" WHERE "id" = $2`,
    [id, exercise],
  );
