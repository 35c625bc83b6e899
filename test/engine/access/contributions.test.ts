/**
 * Contributions of users to the catalogue: their authors use them at once over both interfaces,
 * others see them once a curator accepts them. Curators also refuse, retire, merge and undo.
 */
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
const CREATE_FOOD = `mutation ($input: IngredientInput!) { made: createIngredient(input: $input) {
  ingredient { id name status isRetired refusalReason units { id grams householdUnit { name } } } ${ERRORS} } }`;
const UPDATE_FOOD = `mutation ($id: ID!, $input: IngredientPatch!) { made: updateIngredient(id: $id, input: $input) {
  ingredient { id name status } ${ERRORS} } }`;
const MERGE_FOODS = `mutation ($from: ID!, $into: ID!) { made: mergeIngredients(from: $from, into: $into) { ingredient { id name units { grams } } ${ERRORS} } }`;
const DELETE_FOOD = `mutation ($id: ID!) { made: deleteIngredient(id: $id) { deletedIds ${ERRORS} } }`;

const food = (name: string, more: object = {}) => ({
  name,
  energy: 100,
  protein: '1',
  carbohydrates: '2',
  fat: '3',
  languageId: 2,
  ...more,
});

async function contribute(person: Person, name: string, more: object = {}): Promise<string> {
  const { made } = await person.ask(CREATE_FOOD, { input: food(name, more) });

  expect(made.errors).toEqual([]);
  return made.ingredient.id;
}

async function mealOf(person: Person): Promise<{ plan: number; meal: number }> {
  const plan = (await person.post('/nutritionplan/', {})).body.id as number;

  return { plan, meal: (await person.post('/meal/', { plan })).body.id as number };
}

const eat = async (person: Person, ingredient: string, more: object = {}) =>
  person.post('/mealitem/', {
    meal: (await mealOf(person)).meal,
    ingredient: Number(ingredient),
    amount: 50,
    ...more,
  });

/** All ways by which a person may find a food by its id and its name. */
async function finds(person: Person, id: string, name: string): Promise<Record<string, boolean>> {
  const { one, list, search, units, barcode } = await person.ask(
    `query ($id: ID!, $name: String) { one: ingredient(id: $id) { name }
      list: ingredients(where: { name: { eq: $name } }) { totalCount }
      search: ingredients(where: { name: { search: $name } }) { nodes { id } }
      units: ingredientUnits(where: { ingredientId: { eq: $id } }) { totalCount }
      barcode: ingredientByBarcode(code: "4006381333931") { id } }`,
    { id, name },
  );
  const rest = await person.get(`/ingredient/${id}/`);
  const restList = await person.get(`/ingredient/?name=${encodeURIComponent(name)}`);
  const restUnits = await person.get(`/ingredientweightunit/?ingredient=${id}`);

  return {
    one: one !== null,
    list: list.totalCount === 1,
    search: search.nodes.some((node: { id: string }) => node.id === id),
    units: units.totalCount === 1,
    barcode: barcode?.id === id,
    rest: rest.status === 200,
    restList: restList.body.count === 1,
    restUnits: restUnits.body.count === 1,
  };
}

const everywhere = (found: boolean) =>
  Object.fromEntries(
    ['one', 'list', 'search', 'units', 'barcode', 'rest', 'restList', 'restUnits'].map((way) => [
      way,
      found,
    ]),
  );

test('a contributed food is found and used by its author only, until a curator accepts it', async () => {
  const id = await contribute(ann, 'Bread of Ann', {
    code: '4006381333931',
    status: 'ACCEPTED',
    isRetired: true,
    refusalReason: 'x',
    units: [{ householdUnitId: 1, grams: '40' }],
  });

  expect(await finds(ann, id, 'Bread of Ann')).toEqual(everywhere(true));
  expect(await finds(bob, id, 'Bread of Ann')).toEqual(everywhere(false));
  expect(await finds(fitgraph.anonymous, id, 'Bread of Ann')).toEqual(everywhere(false));
  const { ingredient } = await ann.ask(
    `{ ingredient(id: ${id}) { status isRetired refusalReason } }`,
  );

  expect(ingredient).toEqual({ status: 'PENDING', isRetired: false, refusalReason: null });

  const item = await eat(ann, id);

  expect(item.status).toBe(201);
  expect((await ann.get(`/mealitem/${item.body.id}/`)).body.ingredient).toBe(Number(id));
  const { mealItem } = await ann.ask(`{ mealItem(id: ${item.body.id}) { ingredient { name } } }`);

  expect(mealItem.ingredient.name).toBe('Bread of Ann');
  const foreign = await eat(bob, id);

  expect(foreign.status).toBe(400);
  expect(foreign.body).toEqual({
    ingredient: [`Invalid pk "${id}" - object does not exist.`],
  });
  const unknown = await eat(bob, '2000000000');

  expect(foreign.text.replace(id, '#')).toBe(unknown.text.replace('2000000000', '#'));
  const { meal } = await mealOf(bob);
  const create = `mutation { made: createMealItem(input: { mealId: ${meal}, ingredientId: ${id}, amount: "5" }) { ${ERRORS} } }`;

  expect((await bob.ask(create)).made.errors).toEqual([
    {
      path: ['input', 'ingredientId'],
      code: 'NOT_FOUND',
      message: `There is no Ingredient with the id "${id}".`,
    },
  ]);

  const queue = '{ ingredients(where: { status: { eq: PENDING } }) { nodes { id } } }';

  expect((await curator.ask(queue)).ingredients.nodes).toContainEqual({ id });
  expect((await bob.ask(queue)).ingredients.nodes).toEqual([]);
  expect((await bob.query(UPDATE_FOOD, { id, input: { name: 'Mine' } })).data.made.errors).toEqual([
    { path: ['id'], code: 'NOT_FOUND', message: `There is no Ingredient with the id "${id}".` },
  ]);
  const { made } = await curator.ask(UPDATE_FOOD, { id, input: { status: 'ACCEPTED' } });

  expect(made).toMatchObject({ ingredient: { status: 'ACCEPTED' }, errors: [] });
  expect(await finds(bob, id, 'Bread of Ann')).toEqual(everywhere(true));
  expect((await eat(bob, id)).status).toBe(201);
  expect((await ann.query(UPDATE_FOOD, { id, input: { name: 'Back' } })).code).toBe('FORBIDDEN');
});

test('an author changes and deletes a pending food with its units, but no other rows', async () => {
  const id = await contribute(ann, 'Soup', { units: [{ householdUnitId: 1, grams: '200' }] });
  const { made } = await ann.ask(UPDATE_FOOD, {
    id,
    input: { name: 'Stew', status: 'ACCEPTED', units: [] },
  });

  expect(made).toEqual({ ingredient: { id, name: 'Stew', status: 'PENDING' }, errors: [] });
  expect((await ann.query(UPDATE_FOOD, { id: 1, input: { name: 'Oats!' } })).code).toBe(
    'FORBIDDEN',
  );
  expect(
    (
      await ann.query(
        'mutation { made: createIngredientUnit(input: { ingredientId: 1, householdUnitId: 1, grams: "1" }) { errors { code } } }',
      )
    ).code,
  ).toBe('FORBIDDEN');
  expect((await ann.ask(DELETE_FOOD, { id })).made).toEqual({ deletedIds: [id], errors: [] });
  expect((await fitgraph.anonymous.query(CREATE_FOOD, { input: food('Nothing') })).code).toBe(
    'UNAUTHENTICATED',
  );
});

test('a refused food shows its reason to its author', async () => {
  const id = await contribute(ann, 'Stone soup');

  await curator.ask(UPDATE_FOOD, {
    id,
    input: { status: 'DECLINED', refusalReason: 'This is no food.' },
  });
  const query = `{ ingredient(id: ${id}) { status refusalReason } }`;

  expect((await ann.ask(query)).ingredient).toEqual({
    status: 'DECLINED',
    refusalReason: 'This is no food.',
  });
  expect((await bob.ask(query)).ingredient).toBeNull();
});

test('a contributed exercise is visible with its translations, and accepted with them', async () => {
  const create = `mutation ($input: ExerciseInput!) { made: createExercise(input: $input) { exercise { id translations { id status } } ${ERRORS} } }`;
  const description = 'Stand on one leg and breathe slowly, then change the leg.';
  const { made } = await ann.ask(create, {
    input: {
      categoryId: 1,
      translations: [
        { languageId: 2, name: 'Stork', description, comments: [{ comment: 'Breathe.' }] },
      ],
    },
  });

  expect(made.errors).toEqual([]);
  const { id, translations } = made.exercise;
  const [{ id: translation, status }] = translations;

  expect(status).toBe('PENDING');
  const query = `{ exercise(id: ${id}) { translations { name comments { comment } } } exerciseTranslation(id: ${translation}) { name } }`;
  const visible = {
    exercise: { translations: [{ name: 'Stork', comments: [{ comment: 'Breathe.' }] }] },
    exerciseTranslation: { name: 'Stork' },
  };
  const hidden = { exercise: null, exerciseTranslation: null };

  expect(await ann.ask(query)).toEqual(visible);
  expect(await bob.ask(query)).toEqual(hidden);
  expect((await ann.get(`/exercise/${translation}/`)).status).toBe(200);
  expect((await bob.get(`/exercise/${translation}/`)).status).toBe(404);
  expect((await bob.get(`/exercisecomment/?exercise=${translation}`)).body.count ?? 0).toBe(0);

  const log = async (person: Person) => {
    const workout = (await person.post('/workout/', {})).body.id;

    return person.post('/workoutlog/', {
      exercise: Number(translation),
      workout,
      reps: 5,
      weight: '20',
      date: '2021-03-01',
      repetition_unit: 1,
      weight_unit: 1,
    });
  };

  expect((await log(ann)).status).toBe(201);
  expect((await log(bob)).status).toBe(400);
  await curator.ask(
    `mutation { made: updateExercise(id: ${id}, input: { status: ACCEPTED }) { ${ERRORS} } }`,
  );
  expect(await bob.ask(query)).toEqual(visible);
  expect((await log(bob)).status).toBe(201);
});

test('users contribute at most 100 rows a day, however many requests run at once', async () => {
  const busy = await fitgraph.user('busy');
  const many = `mutation ($a: IngredientInput!) { ${Array.from({ length: 10 }, (_, index) => `f${index}: createIngredient(input: $a) { errors { code } }`).join(' ')} }`;

  await Promise.all(Array.from({ length: 14 }, () => busy.query(many, { a: food('Many beans') })));
  const { ingredients } = await busy.ask(
    '{ ingredients(where: { name: { eq: "Many beans" } }) { totalCount } }',
  );

  expect(ingredients.totalCount).toBe(100);
  expect((await busy.query(CREATE_FOOD, { input: food('One more') })).code).toBe(
    'TOO_MANY_REQUESTS',
  );
  expect((await ann.query(CREATE_FOOD, { input: food('Of Ann') })).code).toBeUndefined();
});

test('a retired food is visible in existing rows only', async () => {
  const id = await contribute(curator, 'Old cheese');
  const item = (await eat(ann, id)).body.id as number;
  const used = await curator.ask(DELETE_FOOD, { id });

  expect(used.made).toEqual({
    deletedIds: [],
    errors: [
      {
        path: ['id'],
        code: 'IN_USE',
        message: 'It is in use. Retire it (`isRetired`) or merge it into another row.',
      },
    ],
  });
  await curator.ask(UPDATE_FOOD, { id, input: { isRetired: true } });
  const query = `{ ingredient(id: ${id}) { id } ingredients(where: { id: { eq: ${id} } }) { totalCount } mealItem(id: ${item}) { ingredient { name } } }`;

  expect(await ann.ask(query)).toEqual({
    ingredient: null,
    ingredients: { totalCount: 0 },
    mealItem: { ingredient: { name: 'Old cheese' } },
  });
  expect((await ann.get(`/ingredient/${id}/`)).status).toBe(404);
  const { meal } = await mealOf(ann);
  const create = `mutation { made: createMealItem(input: { mealId: ${meal}, ingredientId: ${id}, amount: "5" }) { errors { code } } }`;

  expect((await ann.ask(create)).made.errors).toEqual([{ code: 'NOT_FOUND' }]);
});

test('the error for a food in use names what its author can do', async () => {
  const id = await contribute(ann, 'Used by Ann');

  await eat(ann, id);
  expect((await ann.ask(DELETE_FOOD, { id })).made.errors).toMatchObject([
    { code: 'IN_USE', message: 'It is in use. Change the rows that refer to it first.' },
  ]);
});

test('a row keeps its reference to a food that has been retired since', async () => {
  const id = await contribute(curator, 'Former cheese');
  const item = (await eat(ann, id)).body.id as number;
  const other = (await eat(ann, '1')).body.id as number;
  const update = (row: number) =>
    `mutation { made: updateMealItem(id: ${row}, input: { ingredientId: ${id}, amount: "60" }) { mealItem { amount } errors { code } } }`;

  await curator.ask(UPDATE_FOOD, { id, input: { isRetired: true } });
  expect((await ann.ask(update(item))).made).toEqual({ mealItem: { amount: '60.00' }, errors: [] });
  expect((await ann.ask(update(other))).made.errors).toEqual([{ code: 'NOT_FOUND' }]);
});

test('merged foods are replaced in the rows of all users, with their units', async () => {
  const units = (grams: string, householdUnitId = 1) => ({ householdUnitId, grams });
  const { made: unit } = await curator.ask(
    'mutation { made: createHouseholdUnit(input: { name: "Bowl", languageId: 2 }) { householdUnit { id } } }',
  );
  const cup = unit.householdUnit.id;
  const into = await contribute(curator, 'Rice', { units: [units('150')] });
  const from = await contribute(curator, 'Rise', { units: [units('160'), units('20', cup)] });
  const unitIds = (
    await fitgraph.sql(
      'SELECT "id" FROM "ingredient_unit" WHERE "ingredient_id" = $1 ORDER BY "id"',
      [from],
    )
  ).map(({ id }) => id as number);
  const items = [
    (await eat(ann, from, { weight_unit: unitIds[0] })).body.id,
    (await eat(bob, from, { weight_unit: unitIds[1] })).body.id,
  ];
  const versionOf = async () =>
    (await bob.ask(`{ mealItem(id: ${items[1]}) { version } }`)).mealItem.version as string;
  const [version, cursor] = [
    await versionOf(),
    (await bob.ask('{ changes { cursor } }')).changes.cursor,
  ];

  expect((await ann.query(MERGE_FOODS, { from, into })).code).toBe('FORBIDDEN');
  expect((await curator.ask(MERGE_FOODS, { from, into: from })).made.errors).not.toEqual([]);
  const { made } = await curator.ask(MERGE_FOODS, { from, into });

  expect(made.errors).toEqual([]);
  expect(made.ingredient.units).toEqual([{ grams: '150' }, { grams: '20' }]);
  const rows = await fitgraph.sql(
    `SELECT m."ingredient_id" AS "ingredient", u."gram" FROM "meal_item" m JOIN "ingredient_unit" u ON u."id" = m."weight_unit_id"
      WHERE m."id" = ANY($1) ORDER BY m."id"`,
    [items],
  );

  expect(rows).toEqual([
    { ingredient: Number(into), gram: 150 },
    { ingredient: Number(into), gram: 20 },
  ]);
  expect(await versionOf()).not.toBe(version);
  const { changes } = await bob.ask(
    `{ changes(since: "${cursor}", types: [MEAL_ITEM]) { changes { rowId operation } } }`,
  );

  expect(changes.changes).toContainEqual({ rowId: String(items[1]), operation: 'UPDATED' });
  expect((await ann.get(`/ingredient/${from}/`)).status).toBe(404);
  expect((await eat(ann, from)).status).toBe(400);
  expect((await curator.ask(MERGE_FOODS, { from: into, into: from })).made.errors).toMatchObject([
    { path: ['into'] },
  ]);
});

test('no row refers to a merged food, however writes and the merge interleave', async () => {
  const { meal } = await mealOf(ann);

  for (let round = 0; round < 5; round += 1) {
    const [from, into] = [
      await contribute(curator, `From ${round}`),
      await contribute(curator, `Into ${round}`),
    ];
    const statuses = await Promise.all([
      ...Array.from({ length: 6 }, () =>
        ann.post('/mealitem/', { meal, ingredient: Number(from), amount: 1 }),
      ),
      curator.query(MERGE_FOODS, { from, into }).then((answer) => {
        expect([answer.errors, answer.data.made?.errors]).toEqual([undefined, []]);
        return answer;
      }),
      ...Array.from({ length: 6 }, () =>
        ann.post('/mealitem/', { meal, ingredient: Number(from), amount: 1 }),
      ),
    ]).then((answers) => answers.map(({ status }) => status));

    for (const status of statuses) expect([200, 201, 400]).toContain(status);
    expect(
      await fitgraph.sql('SELECT FROM "meal_item" WHERE "ingredient_id" = $1', [from]),
    ).toEqual([]);
  }
});

test('merged exercises are replaced in logs and planned sets', async () => {
  const description = 'Stand upright and lift both arms slowly, then breathe out.';

  const create = async (name: string, languages: number[]) => {
    const { made } = await curator.ask(
      `mutation ($input: ExerciseInput!) { made: createExercise(input: $input) { exercise { id translations { id language { id } } } errors { code } } }`,
      {
        input: {
          categoryId: 1,
          translations: languages.map((languageId) => ({ languageId, name, description })),
        },
      },
    );

    return made.exercise as {
      id: string;
      translations: { id: string; language: { id: string } }[];
    };
  };

  const [from, into] = [await create('Lift', [2, 1]), await create('Raise', [2])];
  const translationOf = (exercise: typeof from, language: string) =>
    exercise.translations.find((row) => row.language.id === language)!.id;
  const workout = (await bob.post('/workout/', {})).body.id;
  const log = async (language: string) =>
    (
      await bob.post('/workoutlog/', {
        exercise: Number(translationOf(from, language)),
        workout,
        reps: 5,
        weight: '20',
        date: '2021-03-01',
        repetition_unit: 1,
        weight_unit: 1,
      })
    ).body.id as number;
  const [english, german] = [await log('2'), await log('1')];
  const { made } = await curator.ask(
    `mutation { made: mergeExercises(from: ${from.id}, into: ${into.id}) { exercise { name translations { name } } ${ERRORS} } }`,
  );

  expect(made).toEqual({
    exercise: { name: 'Raise', translations: [{ name: 'Lift' }, { name: 'Raise' }] },
    errors: [],
  });
  const { workoutLogs } = await bob.ask(
    `{ workoutLogs(where: { id: { in: [${english}, ${german}] } }, orderBy: [{ id: ASC }]) { nodes { exerciseId translationId } } }`,
  );

  expect(workoutLogs.nodes).toEqual([
    { exerciseId: into.id, translationId: translationOf(into, '2') },
    { exerciseId: into.id, translationId: translationOf(from, '1') },
  ]);
});

const HISTORY = `query ($id: Int!, $table: String) { catalogueChanges(where: { rowId: { eq: $id }, table: { eq: $table } }, orderBy: [{ id: DESC }]) {
  nodes { id table rowId operation username before after } } }`;
const UNDO = `mutation ($id: ID!) { made: undoCatalogueChange(id: $id) { catalogueChange { operation username } ${ERRORS} } }`;

test('curators read the history of a row and undo its last change', async () => {
  const id = await contribute(curator, 'Tea');
  const historyOf = async () =>
    (await curator.ask(HISTORY, { id: Number(id), table: 'ingredient' })).catalogueChanges.nodes;

  await curator.ask(UPDATE_FOOD, { id, input: { name: 'Coffee' } });
  await curator.ask(UPDATE_FOOD, { id, input: { name: 'Cocoa' } });
  const [cocoa, coffee, created] = await historyOf();

  expect(created).toMatchObject({ operation: 'CREATED', username: 'curator', before: null });
  expect(JSON.parse(cocoa.before).name).toBe('Coffee');
  expect(JSON.parse(cocoa.after).name).toBe('Cocoa');

  expect(
    (await ann.ask(HISTORY, { id: Number(id), table: 'ingredient' })).catalogueChanges.nodes,
  ).toEqual([]);
  expect(
    (await fitgraph.anonymous.ask(HISTORY, { id: Number(id), table: 'ingredient' }))
      .catalogueChanges.nodes,
  ).toEqual([]);
  expect((await ann.query(UNDO, { id: cocoa.id })).code).toBe('FORBIDDEN');
  expect((await curator.ask(UNDO, { id: coffee.id })).made.errors).toEqual([
    { path: ['id'], code: 'CONFLICT', message: 'The row has changed since.' },
  ]);
  expect((await curator.ask(UNDO, { id: cocoa.id })).made).toEqual({
    catalogueChange: { operation: 'UPDATED', username: 'curator' },
    errors: [],
  });
  expect((await ann.ask(`{ ingredient(id: ${id}) { name } }`)).ingredient.name).toBe('Coffee');

  await curator.ask(DELETE_FOOD, { id });
  const [deleted] = await historyOf();

  expect((await curator.ask(UNDO, { id: deleted.id })).made.errors).toEqual([]);
  expect((await ann.ask(`{ ingredient(id: ${id}) { name } }`)).ingredient.name).toBe('Coffee');
  expect((await curator.ask(UNDO, { id: '2000000000' })).made.errors).toMatchObject([
    { code: 'NOT_FOUND' },
  ]);
});

test('users read their own changes, and those of nobody else', async () => {
  const id = await contribute(bob, 'Mate');

  await curator.ask(UPDATE_FOOD, { id, input: { name: 'Mate tea' } });
  const changesFor = async (person: Person) =>
    (await person.ask(HISTORY, { id: Number(id), table: 'ingredient' })).catalogueChanges.nodes;

  expect(await changesFor(bob)).toMatchObject([{ operation: 'CREATED', username: 'bob' }]);
  expect(await changesFor(curator)).toHaveLength(2);
  expect(await changesFor(ann)).toEqual([]);
  expect(await changesFor(fitgraph.anonymous)).toEqual([]);
});

const lastChangeOf = async (id: string, table = 'ingredient') =>
  (await curator.ask(HISTORY, { id: Number(id), table })).catalogueChanges.nodes[0];
const undo = async (change: { id: string }) =>
  (await curator.ask(UNDO, { id: change.id })).made.errors;

/** Makes a food one of a source, as an import does. */
const importFood = (id: string, sourceId: string) =>
  fitgraph.sql(
    `UPDATE "ingredient" SET "source_name" = 'S', "source_id" = '${sourceId}', "edited_at" = '2021-01-01T00:00:00Z' WHERE "id" = ${id}`,
  );

test('an undone deletion restores the source of a food, so that imports know it', async () => {
  const id = await contribute(curator, 'Imported tea');

  await importFood(id, 'tea');
  await curator.ask(DELETE_FOOD, { id });
  expect(await undo(await lastChangeOf(id))).toEqual([]);
  expect(
    await fitgraph.sql(
      'SELECT "source_name", "source_id", "edited_at" IS NOT NULL AS "isEdited", "name_folded" FROM "ingredient" WHERE "id" = $1',
      [id],
    ),
  ).toEqual([{ source_name: 'S', source_id: 'tea', isEdited: true, name_folded: 'imported tea' }]);
});

test('a contribution that was accepted or deleted does not await review again', async () => {
  const message = 'A contribution that has been accepted or deleted cannot await review again.';
  const [accepted, deleted] = [await contribute(ann, 'Pea'), await contribute(ann, 'Bean')];

  await curator.ask(UPDATE_FOOD, { id: accepted, input: { status: 'ACCEPTED' } });
  await ann.ask(DELETE_FOOD, { id: deleted });

  for (const id of [accepted, deleted]) {
    expect(await undo(await lastChangeOf(id))).toEqual([
      { path: ['id'], code: 'CONFLICT', message },
    ]);
  }

  const refused = await contribute(ann, 'Lentil');

  await curator.ask(UPDATE_FOOD, { id: refused, input: { status: 'DECLINED' } });
  expect(await undo(await lastChangeOf(refused))).toEqual([]);
  expect((await ann.ask(`{ ingredient(id: ${refused}) { status } }`)).ingredient.status).toBe(
    'PENDING',
  );
});

test('two imported foods never have one barcode: the second write fails at the field', async () => {
  const ids = [
    await contribute(curator, 'Bar one'),
    await contribute(curator, 'Bar two'),
    await contribute(curator, 'Bar three'),
  ];
  const error = {
    path: ['input', 'code'],
    code: 'NOT_UNIQUE',
    message: 'Another imported food has this barcode.',
  };

  for (const [index, id] of ids.entries()) await importFood(id, `bar ${index}`);
  const writes = await Promise.all(
    ids.map((id) => curator.ask(UPDATE_FOOD, { id, input: { code: '4006381333931' } })),
  );
  const errors = writes.map(({ made }) => made.errors);

  expect(errors.filter((list) => list.length === 0)).toHaveLength(1);
  expect(errors.flat()).toEqual([error, error]);
  const many = `mutation ($changes: [IngredientChange!]!) { made: updateIngredients(changes: $changes) { ${ERRORS} } }`;
  const { made } = await curator.ask(many, {
    changes: ids.map((id) => ({ id, input: { code: '96385074' } })),
  });

  expect(made.errors).toEqual(
    [1, 2].map((index) => ({ ...error, path: ['changes', String(index), 'input', 'code'] })),
  );
});

test('an undone change whose barcode another food has by now is a conflict', async () => {
  const [one, two] = [
    await contribute(curator, 'Taken one', { code: '4012345678901' }),
    await contribute(curator, 'Taken two'),
  ];

  await importFood(one, 'taken 1');
  await importFood(two, 'taken 2');
  await curator.ask(UPDATE_FOOD, { id: one, input: { code: null } });
  const change = await lastChangeOf(one);

  await curator.ask(UPDATE_FOOD, { id: two, input: { code: '4012345678901' } });
  expect(await undo(change)).toEqual([
    { path: ['id'], code: 'CONFLICT', message: 'Another row has this value now.' },
  ]);
});

test('imports and other work of the server have no history', async () => {
  await fitgraph.sql(`UPDATE "ingredient" SET "brand" = 'B' WHERE "id" = 3`);
  expect(
    (await curator.ask(HISTORY, { id: 3, table: 'ingredient' })).catalogueChanges.nodes,
  ).toEqual([]);
});

test('lists cost users with contributions no further statements', async () => {
  const list = '{ ingredients(first: 2) { nodes { name } } }';
  const statements = async (person: Person) => (await person.query(list)).statements;

  expect(await statements(ann)).toBe(await statements(await fitgraph.user('new')));
});
