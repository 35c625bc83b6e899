/**
 * Contributed exercises with their parts: what others see of them and may refer to, and what
 * becomes of translations when their exercise is retired, merged or moved.
 */
import { plain } from '../../files/pictures';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile({ environment: { BUDGET: 'off' } });
let ann: Person;
let bob: Person;
let curator: Person;

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  curator = await fitgraph.user('curator', { isCurator: true });
});

const ERRORS = 'errors { path code message }';
const DESCRIPTION = 'Stand upright and lift both arms slowly, then breathe out.';
const [GERMAN, ENGLISH] = [1, 2];

interface CreatedExercise {
  id: string;
  translations: { id: string; language: { id: string } }[];
}

async function createExercise(
  person: Person,
  name: string,
  languages: readonly number[] = [ENGLISH],
): Promise<CreatedExercise> {
  const { made } = await person.ask(
    `mutation ($input: ExerciseInput!) { made: createExercise(input: $input) {
      exercise { id translations { id language { id } } } ${ERRORS} } }`,
    {
      input: {
        categoryId: 1,
        translations: languages.map((languageId) => ({
          languageId,
          name,
          description: DESCRIPTION,
        })),
      },
    },
  );

  expect(made.errors).toEqual([]);
  return made.exercise;
}

const update = (id: string, input: string) =>
  curator.ask(
    `mutation { made: updateExercise(id: ${id}, input: { ${input} }) { exercise { id } ${ERRORS} } }`,
  );

const merge = (from: string, into: string) =>
  curator.ask(
    `mutation { made: mergeExercises(from: ${from}, into: ${into}) { exercise { translations { name } } ${ERRORS} } }`,
  );

async function addTranslation(exerciseId: string, name: string): Promise<string> {
  const { made } = await curator.ask(
    `mutation ($input: ExerciseTranslationInput!) { made: createExerciseTranslation(input: $input) {
      exerciseTranslation { id } ${ERRORS} } }`,
    { input: { exerciseId, languageId: GERMAN, name, description: DESCRIPTION } },
  );

  expect(made.errors).toEqual([]);
  return made.exerciseTranslation.id;
}

/** Whether a person sees a translation over both interfaces. */
async function sees(person: Person, id: string): Promise<boolean[]> {
  const { one, list } = await person.ask(
    `{ one: exerciseTranslation(id: ${id}) { id } list: exerciseTranslations(where: { id: { eq: ${id} } }) { totalCount } }`,
  );

  return [
    one !== null,
    list.totalCount === 1,
    (await person.get(`/exercise/${id}/`)).status === 200,
  ];
}

const EVERYWHERE = [true, true, true];
const NOWHERE = [false, false, false];

async function uploadImage(person: Person, exercise: string) {
  const form = new FormData();

  form.set('exercise', exercise);
  form.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'a.png');
  return person.send('POST', '/api/v2/exerciseimage/', form);
}

const imagesOf = async (person: Person, exercise: string) => {
  const { exerciseImages } = await person.ask(
    `{ exerciseImages(where: { exerciseId: { eq: ${exercise} } }) { totalCount } }`,
  );
  const { body } = await person.get(`/exerciseimage/?exercise=${exercise}`);

  return [exerciseImages.totalCount, body.count ?? 0];
};

test('images of a pending exercise are visible to its author and to curators only', async () => {
  const { id } = await createExercise(ann, 'Hidden press');
  const { status, body } = await uploadImage(ann, id);

  expect(status).toBe(201);
  expect(await imagesOf(ann, id)).toEqual([1, 1]);
  expect((await imagesOf(curator, id))[0]).toBe(1);

  for (const person of [bob, fitgraph.anonymous]) {
    expect(await imagesOf(person, id)).toEqual([0, 0]);
    expect((await person.get(`/exerciseimage/${body.id}/`)).status).toBe(404);
  }

  await update(id, 'status: ACCEPTED');
  expect(await imagesOf(bob, id)).toEqual([1, 1]);
});

test('nobody adds an image to a pending exercise of somebody else', async () => {
  const { id } = await createExercise(ann, 'Private press');
  const { status, body } = await uploadImage(bob, id);

  expect(status).toBe(400);
  expect(body).toEqual({ exercise: [`Invalid pk "${id}" - object does not exist.`] });
  expect((await uploadImage(bob, '1')).status).toBe(201);
});

test('a translation that a curator adds to a pending exercise stays hidden with it', async () => {
  const { id } = await createExercise(ann, 'Pending press');
  const translation = await addTranslation(id, 'Wartendes Drücken');

  expect(await sees(bob, translation)).toEqual(NOWHERE);
  expect(await sees(ann, translation)).toEqual(EVERYWHERE);
  await update(id, 'status: ACCEPTED');
  expect(await sees(bob, translation)).toEqual(EVERYWHERE);
});

test('a translation of a retired exercise is retired, until the exercise is used again', async () => {
  const { id } = await createExercise(curator, 'Retired press');

  await update(id, 'isRetired: true');
  const translation = await addTranslation(id, 'Altes Drücken');

  expect(await sees(bob, translation)).toEqual(NOWHERE);
  await update(id, 'isRetired: false');
  expect(await sees(bob, translation)).toEqual(EVERYWHERE);
});

test('translations added while their exercise is retired are retired, too', async () => {
  for (let round = 0; round < 4; round += 1) {
    const { id } = await createExercise(curator, `Raced press ${round}`);
    const translations = Array.from({ length: 4 }, (_, index) =>
      addTranslation(id, `Drücken ${round} ${index}`),
    );

    await Promise.all([update(id, 'isRetired: true'), ...translations]);
    expect(
      await fitgraph.sql(
        'SELECT DISTINCT "is_retired" FROM "exercise" WHERE "exercise_base_id" = $1',
        [id],
      ),
    ).toEqual([{ is_retired: true }]);
  }
});

test('translations of a retired exercise are in use again after a merge', async () => {
  const from = await createExercise(curator, 'Old row', [ENGLISH, GERMAN]);
  const into = await createExercise(curator, 'New row');
  const german = from.translations.find(({ language }) => language.id === String(GERMAN))!;

  await update(from.id, 'isRetired: true');
  expect(await sees(bob, german.id)).toEqual(NOWHERE);
  expect((await merge(from.id, into.id)).made.errors).toEqual([]);
  expect(await sees(bob, german.id)).toEqual(EVERYWHERE);
});

test('translations of a contribution are accepted with its merge', async () => {
  const from = await createExercise(ann, 'Contributed row', [GERMAN]);
  const into = await createExercise(curator, 'Accepted row');
  const translation = from.translations[0]!.id;
  const workout = (await ann.post('/workout/', {})).body.id;
  const log = await ann.post('/workoutlog/', {
    exercise: Number(translation),
    workout,
    reps: 5,
    weight: '20',
    date: '2021-03-01',
    repetition_unit: 1,
    weight_unit: 1,
  });

  expect(log.status).toBe(201);
  expect((await merge(from.id, into.id)).made.errors).toEqual([]);
  expect(await sees(ann, translation)).toEqual(EVERYWHERE);
  expect(await sees(bob, translation)).toEqual(EVERYWHERE);
  const { workoutLog } = await ann.ask(
    `{ workoutLog(id: ${log.body.id}) { translation { name status } } }`,
  );

  expect(workoutLog.translation).toEqual({ name: 'Contributed row', status: 'ACCEPTED' });
});

test('a merged exercise can be used again', async () => {
  const from = await createExercise(curator, 'Merged curl');
  const into = await createExercise(curator, 'Kept curl');

  expect((await merge(from.id, into.id)).made.errors).toEqual([]);
  await update(from.id, 'isRetired: false');
  const { workout } = await bob.ask(
    'mutation { workout: createWorkout(input: { name: "W" }) { workout { id } } }',
  );
  const { made } = await bob.ask(
    `mutation ($input: WorkoutLogInput!) { made: createWorkoutLog(input: $input) { workoutLog { exerciseId } ${ERRORS} } }`,
    {
      input: {
        workoutId: workout.workout.id,
        exerciseId: from.id,
        reps: 5,
        weight: '20',
        date: '2021-03-01',
      },
    },
  );

  expect(made).toEqual({ workoutLog: { exerciseId: from.id }, errors: [] });
});

test('a retired exercise has its names and comments in existing logs', async () => {
  const { id, translations } = await createExercise(curator, 'Logged curl', [ENGLISH, GERMAN]);
  const german = translations.find(({ language }) => language.id === String(GERMAN))!;

  await curator.ask(
    `mutation { made: createExerciseComment(input: { translationId: ${german.id}, comment: "Langsam." }) { ${ERRORS} } }`,
  );
  const { workout } = await bob.ask(
    'mutation { workout: createWorkout(input: { name: "W" }) { workout { id } } }',
  );
  const { made } = await bob.ask(
    `mutation ($input: WorkoutLogInput!) { made: createWorkoutLog(input: $input) { workoutLog { id } ${ERRORS} } }`,
    {
      input: {
        workoutId: workout.workout.id,
        exerciseId: id,
        reps: 5,
        weight: '20',
        date: '2021-03-01',
      },
    },
  );

  await update(id, 'isRetired: true');
  const { workoutLog, exerciseComments } = await bob.ask(
    `{ workoutLog(id: ${made.workoutLog.id}) { exercise { name(language: "de") translations { language { id } comments { comment } } } }
      exerciseComments(where: { translationId: { eq: ${german.id} } }) { totalCount } }`,
  );

  expect(workoutLog.exercise).toEqual({
    name: 'Logged curl',
    translations: [
      { language: { id: '2' }, comments: [] },
      { language: { id: '1' }, comments: [{ comment: 'Langsam.' }] },
    ],
  });
  expect(exerciseComments.totalCount).toBe(0);
  const changed = await bob.ask(
    `mutation { made: updateWorkoutLog(id: ${made.workoutLog.id}, input: { exerciseId: ${id}, reps: 6 }) { workoutLog { reps } ${ERRORS} } }`,
  );

  expect(changed.made).toEqual({ workoutLog: { reps: 6 }, errors: [] });
});

const HISTORY = `query ($id: Int!, $table: String!) { catalogueChanges(where: { rowId: { eq: $id }, table: { eq: $table } }) {
  nodes { id operation before after } } }`;
const historyOf = async (id: string, table: string) =>
  (await curator.ask(HISTORY, { id: Number(id), table })).catalogueChanges.nodes;
const undo = async (id: string) =>
  (
    await curator.ask(
      `mutation { made: undoCatalogueChange(id: ${id}) { catalogueChange { operation } ${ERRORS} } }`,
    )
  ).made;

test('changes of muscles are in the history and can be undone', async () => {
  const { id } = await createExercise(curator, 'Muscle curl');
  const muscles = async () =>
    (await curator.ask(`{ exercise(id: ${id}) { muscles { id } musclesSecondary { id } } }`))
      .exercise;

  await update(id, 'muscleIds: [1, 2], musclesSecondaryIds: [3]');
  await update(id, 'muscleIds: [1]');
  const history = await historyOf(id, 'exercise_base_muscle');
  const removed = history.at(-1);

  expect(history).toHaveLength(4);
  expect({ ...removed, before: JSON.parse(removed.before) }).toMatchObject({
    operation: 'DELETED',
    before: { exercise_base_id: Number(id), muscle_id: 2, is_secondary: false },
    after: null,
  });
  expect(await undo(removed.id)).toEqual({
    catalogueChange: { operation: 'CREATED' },
    errors: [],
  });
  expect((await undo(removed.id)).errors).toMatchObject([
    { code: 'CONFLICT', message: 'Another row has this value now.' },
  ]);
  expect(await muscles()).toEqual({
    muscles: [{ id: '1' }, { id: '2' }],
    musclesSecondary: [{ id: '3' }],
  });
  const [added] = history;

  expect((await undo(added.id)).errors).toEqual([]);
  expect((await undo(added.id)).errors).toMatchObject([
    { code: 'CONFLICT', message: 'The row has changed since.' },
  ]);
  expect((await muscles()).muscles).toEqual([{ id: '2' }]);
});

test('an edit of a translation is one change in the history', async () => {
  const { id, translations } = await createExercise(curator, 'Edited curl');

  await update(id, `translations: [{ id: ${translations[0]!.id}, name: "Curl" }]`);
  expect(await historyOf(id, 'exercise_base')).toHaveLength(1);
  expect(await historyOf(translations[0]!.id, 'exercise')).toHaveLength(2);
});

test('the deletion of an image cannot be undone, because its file is deleted', async () => {
  const { id } = await createExercise(curator, 'Pictured curl');
  const image = (await uploadImage(curator, id)).body.id;

  await curator.ask(`mutation { made: deleteExerciseImage(id: ${image}) { ${ERRORS} } }`);
  const history = await historyOf(String(image), 'exercise_image');

  expect((await undo(history.at(-1).id)).errors).toEqual([
    { path: ['id'], code: 'CONFLICT', message: 'The file of the image is deleted.' },
  ]);
});
