/** Values that are computed from the rows of users and cached are bounded in memory. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
beforeAll(async () => {
  ann = await fitgraph.user('ann');
});

/** Objects in memory for one version of `longCanonical`: seven for each set group. */
const OBJECTS_PER_VERSION = 35_000;
const longCanonical = (workout: number) =>
  `{ workout(id: ${workout}) { canonicalRepresentation { days { sets { exercises { hasWeight comments } sequence { id } } } } } }`;

test('limits the objects of cached values, whatever the number of their versions', async () => {
  const workout = (await ann.post('/workout/', {})).body.id as number;
  const day = (await ann.post('/day/', { training: workout, description: 'Long', day: [1] })).body
    .id as number;
  await fitgraph.sql(
    `INSERT INTO "workout_set" ("training_day_id", "sets", "user_id") SELECT $1, 2, $2 FROM generate_series(1, ${OBJECTS_PER_VERSION / 7})`,
    [day, ann.id],
  );
  await fitgraph.sql(
    `INSERT INTO "setting" ("set_id", "exercise_id", "reps", "repetition_unit_id", "weight_unit_id", "user_id")
     SELECT "id", 1, 8, 1, 1, "user_id" FROM "workout_set" WHERE "training_day_id" = $1`,
    [day],
  );
  const { derivedValues } = fitgraph.services;
  for (let version = 0; version < 8; version += 1) {
    await fitgraph.sql(`UPDATE "workout" SET "comment" = $2 WHERE "id" = $1`, [
      workout,
      `Version ${version}`,
    ]);
    for (let run = 0; run < 2; run += 1) {
      const { days } = (await ann.ask(longCanonical(workout))).workout.canonicalRepresentation;
      expect(days[0].sets).toHaveLength(OBJECTS_PER_VERSION / 7);
    }
    expect(derivedValues.size.objects).toBeGreaterThan(OBJECTS_PER_VERSION / 2);
    expect(derivedValues.size.objects).toBeLessThanOrEqual(200_000);
  }
});
