/**
 * Curators write the catalogue over GraphQL; other users and anonymous clients may not, and REST
 * stays read-only.
 */
import { plain } from '../../files/pictures';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { until } from '../../setup/waits';
import { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let curator: Person;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  curator = await fitgraph.user('curator', { isCurator: true });
});

const ERRORS = 'errors { path code message }';
const FORBIDDEN = { code: 'FORBIDDEN' };

/** Mutations that create a row of each type, with the smallest input. */
const CREATIONS: [type: string, input: string][] = [
  ['Equipment', '{ name: "Rings" }'],
  ['ExerciseCategory', '{ name: "Neck" }'],
  ['Muscle', '{ name: "Soleus" }'],
  ['Language', '{ shortName: "fr", fullName: "Français" }'],
  ['License', '{ shortName: "MIT", fullName: "MIT License" }'],
  ['HouseholdUnit', '{ name: "Slice", languageId: 2 }'],
  ['WeightUnit', '{ name: "Stones" }'],
  ['RepetitionUnit', '{ name: "Laps" }'],
  ['IngredientUnit', '{ ingredientId: 1, householdUnitId: 1, grams: "30" }'],
  ['ExerciseComment', '{ translationId: 1, comment: "Breathe." }'],
  [
    'ExerciseTranslation',
    '{ exerciseId: 1, languageId: 1, name: "Kniebeuge", description: "Stehe aufrecht und bewege dich langsam nach unten." }',
  ],
  ['Variation', ''],
];
const fieldOf = (type: string) => type[0]!.toLowerCase() + type.slice(1);
const create = (type: string, input: string) =>
  `mutation { made: create${type}${input && `(input: ${input})`} { row: ${fieldOf(type)} { id version } ${ERRORS} } }`;

describe.each(CREATIONS)('%s', (type, input) => {
  test('is created and deleted by curators only', async () => {
    for (const person of [ann, fitgraph.anonymous]) {
      expect((await person.query(create(type, input))).code).toBe(
        person === ann ? 'FORBIDDEN' : 'UNAUTHENTICATED',
      );
    }

    const { made } = await curator.ask(create(type, input));

    expect(made.errors).toEqual([]);
    const { id, version } = made.row;
    const remove = `mutation ($id: ID!, $version: String) { gone: delete${type}(id: $id, ifVersion: $version) { deletedIds ${ERRORS} } }`;

    for (const person of [ann, fitgraph.anonymous]) {
      expect((await person.query(remove, { id })).code).toBe(
        person === ann ? 'FORBIDDEN' : 'UNAUTHENTICATED',
      );
    }

    expect((await curator.ask(remove, { id, version: 'old' })).gone.errors).toMatchObject([
      { path: ['ifVersion'], code: 'CONFLICT' },
    ]);
    expect((await curator.ask(remove, { id, version })).gone).toEqual({
      deletedIds: [id],
      errors: [],
    });
  });
});

test('reports errors at fields', async () => {
  const { made } = await curator.ask(create('Language', '{ shortName: "abc", fullName: "" }'));

  expect(made.errors.map(({ path }: { path: string[] }) => path)).toEqual([
    ['input', 'shortName'],
    ['input', 'fullName'],
  ]);
});

test('an access token of a curator needs the scope to write the catalogue', async () => {
  const tokenFor = async (scope: string) => {
    const { made } = await curator.ask(
      `mutation { made: createAccessToken(name: "${scope}", scopes: [${scope}]) { token } }`,
    );

    return new Person(fitgraph.url, { id: curator.id, token: made.token });
  };

  const reader = await tokenFor('READ_CATALOGUE');
  const writer = await tokenFor('WRITE_CATALOGUE');

  expect(await reader.query(create('Equipment', '{ name: "Rope" }'))).toMatchObject(FORBIDDEN);
  expect((await writer.ask(create('Equipment', '{ name: "Rope" }'))).made.errors).toEqual([]);
});

const CREATE_EXERCISE = `mutation ($input: ExerciseInput!) { made: createExercise(input: $input) { exercise {
  id name version status muscles { name } equipment { name } translations { id name status comments { id comment } } } ${ERRORS} } }`;
const UPDATE_EXERCISE = `mutation ($id: ID!, $input: ExercisePatch!) { made: updateExercise(id: $id, input: $input) { exercise {
  name status muscles { id } translations { id name comments { id comment } } } ${ERRORS} } }`;
const DESCRIPTION = 'Lie down, breathe in, lift the bar slowly and breathe out again.';

test('writes an exercise with its muscles, translations and comments in one mutation', async () => {
  const input = {
    categoryId: 1,
    muscleIds: [1],
    equipmentIds: [],
    translations: [
      {
        languageId: 2,
        name: 'Floor press',
        description: DESCRIPTION,
        comments: [{ comment: 'Slowly.' }, { comment: 'Breathe.' }],
      },
      { languageId: 1, name: 'Bodendrücken', description: DESCRIPTION },
    ],
  };
  const { made } = await curator.ask(CREATE_EXERCISE, { input });

  expect(made.errors).toEqual([]);
  const { id, translations, ...exercise } = made.exercise;

  expect(exercise).toMatchObject({
    name: 'Floor press',
    status: 'ACCEPTED',
    muscles: [{ name: 'Biceps brachii' }],
    equipment: [],
  });
  expect(translations).toMatchObject([
    { name: 'Bodendrücken', status: 'ACCEPTED', comments: [] },
    { name: 'Floor press', comments: [{ comment: 'Slowly.' }, { comment: 'Breathe.' }] },
  ]);
  const [, press] = translations;
  const update = await curator.ask(UPDATE_EXERCISE, {
    id,
    input: {
      muscleIds: [1, 2],
      translations: [
        { id: press.id, name: 'Bench', comments: [{ id: press.comments[1].id, comment: 'In.' }] },
      ],
    },
  });

  expect(update.made).toEqual({
    exercise: {
      name: 'Bench',
      status: 'ACCEPTED',
      muscles: [{ id: '1' }, { id: '2' }],
      translations: [
        { id: press.id, name: 'Bench', comments: [{ id: press.comments[1].id, comment: 'In.' }] },
      ],
    },
    errors: [],
  });
  expect((await ann.query(UPDATE_EXERCISE, { id, input: { categoryId: 2 } })).code).toBe(
    'FORBIDDEN',
  );
  const bad = await curator.ask(UPDATE_EXERCISE, {
    id,
    input: { translations: [{ languageId: 2, name: 'x' }] },
  });

  expect(bad.made.errors).toMatchObject([
    { path: ['input', 'translations', '0', 'description'], code: 'REQUIRED' },
  ]);
});

test('creates an exercise with an uploaded image', async () => {
  const form = new FormData();
  const query = `mutation ($input: ExerciseInput!) { made: createExercise(input: $input) { exercise { images { status isMain } } ${ERRORS} } }`;

  form.set(
    'operations',
    JSON.stringify({ query, variables: { input: { categoryId: 1, images: [{ image: null }] } } }),
  );
  form.set('map', JSON.stringify({ 0: ['variables.input.images.0.image'] }));
  form.set('0', new Blob([new Uint8Array(await plain().png().toBuffer())]), 'a.png');
  const { body } = await curator
    .withHeaders({ 'apollo-require-preflight': '1' })
    .send('POST', '/graphql', form);

  expect(body).toEqual({
    data: { made: { exercise: { images: [{ status: 'ACCEPTED', isMain: true }] }, errors: [] } },
  });
});

test('repeats the response to a repeated idempotency key', async () => {
  const retrying = curator.withHeaders({
    'Idempotency-Key': 'bf1e3b46-8f5b-4a2b-9d58-2f9cbd9d9b11',
  });
  const first = await retrying.query(create('Muscle', '{ name: "Once" }'));

  expect((await retrying.query(create('Muscle', '{ name: "Once" }'))).text).toBe(first.text);
  expect(await fitgraph.sql(`SELECT FROM "muscle" WHERE "name" = 'Once'`)).toHaveLength(1);
});

test('all instances follow a change of a cached table, and its change is in the feed', async () => {
  const two = await Fitgraph.start({ sameDatabaseAs: fitgraph });

  try {
    const { changes } = await ann.ask('{ changes(types: [EQUIPMENT]) { cursor } }');
    const { made } = await curator.ask(create('Equipment', '{ name: "Sled" }'));
    const query = `{ equipment(id: ${made.row.id}) { name } }`;

    await until('the other instance has the row', async () => {
      const { equipment } = await ann.atInstance(two.url).ask(query);

      return equipment?.name === 'Sled';
    });
    const feed = await ann.ask(
      `{ changes(types: [EQUIPMENT], since: "${changes.cursor}") { changes { operation rowId node { ... on Equipment { name } } } } }`,
    );

    expect(feed.changes.changes).toEqual([
      { operation: 'CREATED', rowId: made.row.id, node: { name: 'Sled' } },
    ]);
  } finally {
    await two.stop();
  }
});

test('a new row of a cached table can be referred to at once at another instance', async () => {
  const two = await Fitgraph.start({ sameDatabaseAs: fitgraph });

  try {
    for (let round = 0; round < 5; round += 1) {
      const { made } = await curator.ask(create('Muscle', `{ name: "Muscle ${round}" }`));
      const other = await curator
        .atInstance(two.url)
        .ask(createWithMuscles(`muscleIds: [${made.row.id}]`));

      expect(other.made.errors).toEqual([]);
    }
  } finally {
    await two.stop();
  }
});

test('REST stays read-only for curators', async () => {
  for (const path of ['equipment', 'exercise', 'ingredient', 'muscle', 'ingredientweightunit']) {
    expect((await curator.options(`/${path}/`)).text).toBe((await ann.options(`/${path}/`)).text);
    expect((await curator.delete(`/${path}/1/`)).status).toBe(
      (await ann.delete(`/${path}/1/`)).status,
    );
    expect((await curator.put(`/${path}/1/`, { name: 'x' })).status).not.toBe(200);
  }
});

test('an edit of an imported row marks it, so that imports leave it', async () => {
  await fitgraph.sql(
    `UPDATE "ingredient" SET "source_name" = 'S', "source_id" = '1' WHERE "id" = 2`,
  );
  await fitgraph.sql(`UPDATE "ingredient" SET "edited_at" = NULL WHERE "id" = 2`);
  const { made } = await curator.ask(
    `mutation { made: updateIngredient(id: 2, input: { brand: "Farm" }) { ingredient { brand } ${ERRORS} } }`,
  );

  expect(made).toEqual({ ingredient: { brand: 'Farm' }, errors: [] });
  expect(
    (await fitgraph.sql('SELECT "edited_at" FROM "ingredient" WHERE "id" = 2'))[0]!.edited_at,
  ).not.toBeNull();
});

test('writes many foods and exercises at once', async () => {
  const food = (name: string) => ({
    name,
    languageId: 2,
    energy: 50,
    protein: '1',
    carbohydrates: '2',
    fat: '3',
  });
  const createFoods = `mutation ($inputs: [IngredientInput!]!) { made: createIngredients(inputs: $inputs) {
    ingredients { id version status units { grams } } ${ERRORS} } }`;
  const inputs = [
    { ...food('Bulk bread'), units: [{ householdUnitId: 1, grams: '30' }] },
    food('Bulk butter'),
  ];
  const { made } = await curator.ask(createFoods, { inputs });

  expect(made).toMatchObject({
    ingredients: [
      { status: 'ACCEPTED', units: [{ grams: '30' }] },
      { status: 'ACCEPTED', units: [] },
    ],
    errors: [],
  });
  expect(
    (await curator.ask(createFoods, { inputs: [food('Bulk tea'), food('x')] })).made,
  ).toMatchObject({ ingredients: null, errors: [{ path: ['inputs', '1', 'name'] }] });

  const change = `mutation ($changes: [IngredientChange!]!) { made: updateIngredients(changes: $changes) {
    ingredients { name energy } ${ERRORS} } }`;
  const changes = (input: object) =>
    made.ingredients.map(({ id, version }: { id: string; version: string }) => ({
      id,
      ifVersion: version,
      input,
    }));

  expect((await ann.query(change, { changes: changes({ energy: 60 }) })).code).toBe('FORBIDDEN');
  expect(
    (await curator.ask(change, { changes: changes({ units: [] }) })).made.errors,
  ).toMatchObject([{ path: ['changes', '0', 'input'] }, { path: ['changes', '1', 'input'] }]);
  expect((await curator.ask(change, { changes: changes({ energy: 60 }) })).made).toMatchObject({
    ingredients: [
      { name: 'Bulk bread', energy: 60 },
      { name: 'Bulk butter', energy: 60 },
    ],
  });
  const remove = `mutation ($rows: [RowVersion!]!) { gone: deleteIngredients(rows: $rows) { deletedIds ${ERRORS} } }`;
  const rows = made.ingredients.map(({ id }: { id: string }) => ({ id }));

  expect((await ann.query(remove, { rows })).code).toBe('FORBIDDEN');
  expect((await curator.ask(remove, { rows })).gone.deletedIds).toHaveLength(2);
});

test('a contributor’s foods of one request count one by one towards the limit of a day', async () => {
  const ben = await fitgraph.user('ben');
  const inputs = Array.from({ length: 101 }, (_, index) => ({
    name: `Many foods ${index}`,
    languageId: 2,
    energy: 50,
    protein: '1',
    carbohydrates: '2',
    fat: '3',
  }));
  const createFoods = `mutation ($inputs: [IngredientInput!]!) { made: createIngredients(inputs: $inputs) { ingredients { status } ${ERRORS} } }`;

  expect((await ben.query(createFoods, { inputs })).code).toBe('TOO_MANY_REQUESTS');
  const { made } = await ben.ask(createFoods, { inputs: inputs.slice(1) });

  expect(made.ingredients).toHaveLength(100);
  expect(made.ingredients[0]).toEqual({ status: 'PENDING' });
});

const MUSCLES = 'muscles { id } musclesSecondary { id } version';
const createWithMuscles = (input: string) =>
  `mutation { made: createExercise(input: { categoryId: 1, ${input} }) { exercise { id ${MUSCLES} } ${ERRORS} } }`;
const updateMuscles = (id: string, input: string, version = '') =>
  `mutation { made: updateExercise(id: ${id}, input: { ${input} } ${version && `ifVersion: "${version}"`}) { exercise { ${MUSCLES} } ${ERRORS} } }`;
const idsOf = (...ids: string[]) => ids.map((id) => ({ id }));

test('primary and secondary muscles are written independently of each other', async () => {
  const { made } = await curator.ask(
    createWithMuscles('muscleIds: [1, 3], musclesSecondaryIds: [2]'),
  );

  expect(made).toMatchObject({
    exercise: { muscles: idsOf('1', '3'), musclesSecondary: idsOf('2') },
    errors: [],
  });
  const { id } = made.exercise;

  for (const [input, muscles, musclesSecondary] of [
    ['muscleIds: [1]', ['1'], ['2']],
    ['musclesSecondaryIds: [2, 3]', ['1'], ['2', '3']],
    ['muscleIds: [3], musclesSecondaryIds: [1]', ['3'], ['1']],
    ['muscleIds: []', [], ['1']],
  ] as const) {
    expect((await curator.ask(updateMuscles(id, input))).made).toMatchObject({
      exercise: { muscles: idsOf(...muscles), musclesSecondary: idsOf(...musclesSecondary) },
      errors: [],
    });
  }
});

test('a muscle cannot be both primary and secondary', async () => {
  const error = {
    path: ['input', 'musclesSecondaryIds'],
    code: 'INVALID',
    message: 'A muscle is either primary or secondary.',
  };
  const both = await curator.ask(createWithMuscles('muscleIds: [1], musclesSecondaryIds: [2, 1]'));

  expect(both.made).toEqual({ exercise: null, errors: [error] });
  const { made } = await curator.ask(createWithMuscles('muscleIds: [1], musclesSecondaryIds: [2]'));
  const { id } = made.exercise;

  expect((await curator.ask(updateMuscles(id, 'musclesSecondaryIds: [1]'))).made.errors).toEqual([
    error,
  ]);
  await Promise.all([
    ...Array.from({ length: 4 }, () => curator.ask(updateMuscles(id, 'muscleIds: [3]'))),
    ...Array.from({ length: 4 }, () => curator.ask(updateMuscles(id, 'musclesSecondaryIds: [3]'))),
  ]);
  expect(
    await fitgraph.sql(
      'SELECT FROM "exercise_base_muscle" WHERE "exercise_base_id" = $1 AND "muscle_id" = 3',
      [id],
    ),
  ).toHaveLength(1);
});
