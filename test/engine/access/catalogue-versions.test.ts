/**
 * Versions of foods and exercises: every edit of a row, its parts and its id lists changes the
 * version, and marks the row so that imports leave it.
 */
import { plain } from '../../files/pictures';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile({ environment: { BUDGET: 'off' } });
let curator: Person;

beforeAll(async () => {
  curator = await fitgraph.user('curator', { isCurator: true });
});

const ERRORS = 'errors { path code message }';
const DESCRIPTION = 'Lie down, breathe in, lift the bar slowly and breathe out again.';

type Type = 'Exercise' | 'Ingredient';

const TABLES: Record<Type, string> = { Exercise: 'exercise_base', Ingredient: 'ingredient' };
const INPUTS: Record<Type, object> = {
  Exercise: {
    categoryId: 1,
    muscleIds: [1],
    equipmentIds: [1],
    translations: [
      {
        languageId: 2,
        name: 'Edited press',
        description: DESCRIPTION,
        comments: [{ comment: 'Slowly.' }],
      },
    ],
  },
  Ingredient: {
    name: 'Edited bread',
    energy: 100,
    protein: '1',
    carbohydrates: '2',
    fat: '3',
    languageId: 2,
    units: [{ householdUnitId: 1, grams: '30' }],
  },
};
const PARTS: Record<Type, string> = {
  Exercise: 'translations { id comments { id } }',
  Ingredient: 'units { id }',
};

async function createRow(type: Type) {
  const field = type.toLowerCase();
  const { made } = await curator.ask(
    `mutation ($input: ${type}Input!) { made: create${type}(input: $input) { ${field} { id ${PARTS[type]} } ${ERRORS} } }`,
    { input: INPUTS[type] },
  );

  expect(made.errors).toEqual([]);
  await fitgraph.sql(
    `SET LOCAL fitgraph.catalogue_import = 'on'; UPDATE "${TABLES[type]}" SET "edited_at" = NULL WHERE "id" = ${made[field].id}`,
  );

  return made[field];
}

async function stateOf(type: Type, id: string) {
  const { row } = await curator.ask(`{ row: ${type.toLowerCase()}(id: ${id}) { version } }`);
  const [stored] = await fitgraph.sql(
    `SELECT "edited_at" IS NOT NULL AS "isEdited" FROM "${TABLES[type]}" WHERE "id" = $1`,
    [id],
  );

  return { version: row.version as string, isEdited: stored!.isEdited as boolean };
}

type Edit = (row: any) => string;

const updateExercise =
  (input: (row: any) => string): Edit =>
  (row) =>
    `updateExercise(id: ${row.id}, input: { ${input(row)} }) { ${ERRORS} }`;
const translationOf = (row: any) => row.translations[0].id;
const commentOf = (row: any) => row.translations[0].comments[0].id;

const EDITS: [edit: string, type: Type, mutation: Edit][] = [
  ['the list of muscles', 'Exercise', updateExercise(() => 'muscleIds: [1, 2]')],
  ['the list of secondary muscles', 'Exercise', updateExercise(() => 'musclesSecondaryIds: [2]')],
  ['the list of equipment', 'Exercise', updateExercise(() => 'equipmentIds: []')],
  ['a column', 'Exercise', updateExercise(() => 'categoryId: 2')],
  [
    'a translation, with the exercise',
    'Exercise',
    updateExercise((row) => `translations: [{ id: ${translationOf(row)}, name: "Renamed" }]`),
  ],
  [
    'a translation',
    'Exercise',
    (row) =>
      `updateExerciseTranslation(id: ${translationOf(row)}, input: { aliases: "EP" }) { ${ERRORS} }`,
  ],
  [
    'a new translation',
    'Exercise',
    (row) =>
      `createExerciseTranslation(input: { exerciseId: ${row.id}, languageId: 1, name: "Drücken", description: "${DESCRIPTION}" }) { ${ERRORS} }`,
  ],
  [
    'a deleted translation',
    'Exercise',
    (row) => `deleteExerciseTranslation(id: ${translationOf(row)}) { ${ERRORS} }`,
  ],
  [
    'a comment',
    'Exercise',
    (row) =>
      `updateExerciseComment(id: ${commentOf(row)}, input: { comment: "Fast." }) { ${ERRORS} }`,
  ],
  [
    'a deleted comment',
    'Exercise',
    (row) => `deleteExerciseComment(id: ${commentOf(row)}) { ${ERRORS} }`,
  ],
  [
    'a unit',
    'Ingredient',
    (row) => `updateIngredientUnit(id: ${row.units[0].id}, input: { grams: "31" }) { ${ERRORS} }`,
  ],
  [
    'the list of units',
    'Ingredient',
    (row) => `updateIngredient(id: ${row.id}, input: { units: [] }) { ${ERRORS} }`,
  ],
  [
    'a name without a source',
    'Ingredient',
    (row) => `updateIngredient(id: ${row.id}, input: { name: "Toast" }) { ${ERRORS} }`,
  ],
];

test.each(EDITS)(
  '%s changes the version and marks the row as edited',
  async (_edit, type, edit) => {
    const row = await createRow(type);
    const { version, isEdited } = await stateOf(type, row.id);

    expect(isEdited).toBe(false);
    const { made } = await curator.ask(`mutation { made: ${edit(row)} }`);

    expect(made.errors).toEqual([]);
    const after = await stateOf(type, row.id);

    expect(after.isEdited).toBe(true);
    expect(after.version).not.toBe(version);
    const stale = await curator.ask(
      `mutation { made: update${type}(id: ${row.id}, input: { isRetired: true }, ifVersion: "${version}") { ${ERRORS} } }`,
    );

    expect(stale.made.errors).toMatchObject([{ path: ['ifVersion'], code: 'CONFLICT' }]);
  },
);

test('unchanged id lists keep the version', async () => {
  const row = await createRow('Exercise');
  const before = await stateOf('Exercise', row.id);
  const { made } = await curator.ask(
    `mutation { made: updateExercise(id: ${row.id}, input: { muscleIds: [1], equipmentIds: [1] }) { ${ERRORS} } }`,
  );

  expect(made.errors).toEqual([]);
  expect(await stateOf('Exercise', row.id)).toEqual(before);
});

test('a new image changes the version only, because imports replace no images', async () => {
  const row = await createRow('Exercise');
  const before = await stateOf('Exercise', row.id);
  const form = new FormData();

  form.set('exercise', row.id);
  form.set('image', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'a.png');
  expect((await curator.send('POST', '/api/v2/exerciseimage/', form)).status).toBe(201);
  const after = await stateOf('Exercise', row.id);

  expect(after.isEdited).toBe(false);
  expect(after.version).not.toBe(before.version);
});

test('of many edits of one version, exactly one succeeds', async () => {
  const row = await createRow('Exercise');
  const { version } = await stateOf('Exercise', row.id);
  const inputs = ['muscleIds: [2]', 'equipmentIds: []', 'musclesSecondaryIds: [3]'];
  const answers = await Promise.all(
    [...inputs, ...inputs].map((input) =>
      curator.ask(
        `mutation { made: updateExercise(id: ${row.id}, input: { ${input} }, ifVersion: "${version}") { ${ERRORS} } }`,
      ),
    ),
  );

  expect(answers.filter(({ made }) => made.errors.length === 0)).toHaveLength(1);
});
