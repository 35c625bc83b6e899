/**
 * Recipes: foods made of other foods. The database computes their nutrients and portions; their
 * authors write them like other contributions.
 */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import { deleteUser } from '../../../src/accounts/deletion';

const fitgraph = fitgraphForThisFile({ environment: { BUDGET: 'off' } });
let ann: Person;
let bob: Person;
let curator: Person;

beforeAll(async () => {
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  curator = await fitgraph.user('curator', { isCurator: true });
  await curator.ask(
    'mutation { createHouseholdUnit(input: { name: "Portion", languageId: 2 }) { errors { code } } }',
  );
  await fitgraph.reference.reload();
});

async function renameUnit(from: string, to: string) {
  await fitgraph.sql('UPDATE "household_unit" SET "name" = $2 WHERE "name" = $1', [from, to]);
  await fitgraph.reference.reload();
}

test('a number of portions needs a household unit for them', async () => {
  const input = recipeInput([{ ingredientId: await foodOf(curator), grams: '1' }]);

  await renameUnit('Portion', 'Dose');

  expect(await errorsOf(ann, CREATE_RECIPE, { input })).toEqual([
    {
      path: ['input', 'portions'],
      code: 'INVALID',
      message: 'There is no household unit "Portion".',
    },
  ]);
  expect(
    await make(ann, CREATE_RECIPE, { input: { ...input, portions: undefined } }),
  ).toMatchObject({ energy: 100, units: [] });
  await renameUnit('Dose', 'Portion');
});

const ERRORS = 'errors { path code message }';
const NUTRIENTS = 'energy protein carbohydrates sugar fat saturatedFat fibres sodium';
const RECIPE = `id status ${NUTRIENTS} parts { id nodeId grams ingredientId ingredient { name } }
  units { id grams portions householdUnit { name } }`;
const CREATE_RECIPE = `mutation ($input: RecipeInput!) { made: createRecipe(input: $input) { ingredient { ${RECIPE} } ${ERRORS} } }`;
const CREATE_FOOD = `mutation ($input: IngredientInput!) { made: createIngredient(input: $input) { ingredient { ${RECIPE} } ${ERRORS} } }`;
const UPDATE_FOOD = `mutation ($id: ID!, $input: IngredientPatch!) { made: updateIngredient(id: $id, input: $input) { ingredient { ${RECIPE} } ${ERRORS} } }`;
const DELETE_FOOD =
  'mutation ($id: ID!) { made: deleteIngredient(id: $id) { deletedIds errors { code } } }';
const MERGE_FOODS = `mutation ($from: ID!, $into: ID!) { made: mergeIngredients(from: $from, into: $into) { ingredient { id } ${ERRORS} } }`;

const MESSAGE =
  'A recipe consists of accepted foods and of pending ones of its author, not of recipes.';

interface Part {
  id?: string;
  ingredientId?: string;
  grams?: string;
}

async function make(person: Person, query: string, variables: object): Promise<any> {
  const { made } = await person.ask(query, variables as Record<string, unknown>);

  expect(made.errors).toEqual([]);
  return made.ingredient;
}

let foodCount = 0;

/** Creates a food with these nutrients per 100 g, and returns its id. */
const foodOf = async (person: Person, nutrients: object = {}): Promise<string> =>
  (
    await make(person, CREATE_FOOD, {
      input: {
        name: `Food ${(foodCount += 1)}`,
        languageId: 2,
        energy: 100,
        protein: '10',
        carbohydrates: '20',
        fat: '5',
        ...nutrients,
      },
    })
  ).id;

const recipeInput = (parts: readonly Part[], more: object = {}) => ({
  name: 'Pancakes',
  languageId: 2,
  portions: 4,
  parts,
  ...more,
});

const createRecipe = (person: Person, parts: readonly Part[], more: object = {}) =>
  make(person, CREATE_RECIPE, { input: recipeInput(parts, more) });

const recipeOf = async (person: Person, id: string) =>
  (await person.ask(`{ ingredient(id: ${id}) { ${RECIPE} } }`)).ingredient;

const errorsOf = async (person: Person, query: string, variables: object) =>
  (await person.ask(query, variables as Record<string, unknown>)).made.errors;

test('a recipe has the nutrients of its parts by weight, and a portion', async () => {
  const flour = await foodOf(curator, {
    energy: 350,
    protein: '10',
    carbohydrates: '70',
    fat: '1.001',
    sugar: '0.5',
    fibres: '3',
  });
  const milk = await foodOf(curator, {
    energy: 64,
    protein: '3.4',
    carbohydrates: '4.8',
    fat: '3.5',
    sugar: '4.8',
    sodium: '0.05',
  });
  const parts = [
    { ingredientId: flour, grams: '250' },
    { ingredientId: milk, grams: '500.5' },
  ];
  const recipe = await createRecipe(ann, parts);

  expect(recipe).toMatchObject({
    status: 'PENDING',
    energy: 159, // (250 * 350 + 500.5 * 64) / 750.5 = 159.27
    protein: '5.599',
    carbohydrates: '26.519',
    fat: '2.668',
    sugar: '3.368',
    // Unknown for the milk, for both, for the milk and for the flour.
    fibres: null,
    saturatedFat: null,
    sodium: null,
    units: [{ grams: '188', portions: 4, householdUnit: { name: 'Portion' } }],
  });
  expect(recipe.parts).toMatchObject([
    { ingredientId: flour, grams: '250.00' },
    { ingredientId: milk, grams: '500.50' },
  ]);

  const { ingredient } = await ann.ask(
    `{ ingredient(id: ${recipe.id}) { valuesOf(amount: "2", unitId: ${recipe.units[0].id}) { energy } } }`,
  );

  expect(ingredient.valuesOf.energy).toBe('597.84'); // 2 * 188 * 159 / 100

  await make(curator, UPDATE_FOOD, { id: milk, input: { fibres: '0', energy: 100 } });
  expect(await recipeOf(ann, recipe.id)).toMatchObject({ energy: 183, fibres: '0.999' });
});

test('only the author sees and uses a pending recipe, until it is accepted', async () => {
  const recipe = await createRecipe(ann, [{ ingredientId: await foodOf(ann), grams: '100' }]);
  const { id, units } = recipe;
  const query = `{ ingredient(id: ${id}) { parts { grams } } node(nodeId: "${recipe.parts[0].nodeId}") { nodeId }
    ingredients(where: { parts: { some: { id: { eq: ${recipe.parts[0].id} } } } }) { totalCount } }`;

  const eat = async (person: Person) => {
    const plan = (await person.post('/nutritionplan/', {})).body.id as number;
    const meal = (await person.post('/meal/', { plan })).body.id as number;
    const portion = { ingredient: Number(id), weight_unit: Number(units[0].id), amount: 2 };

    return [
      (await person.post('/mealitem/', { meal, ...portion })).status,
      (await person.post('/nutritiondiary/', { plan, ...portion })).status,
    ];
  };

  expect((await ann.ask(query)).ingredient).toEqual({ parts: [{ grams: '100.00' }] });
  expect(await eat(ann)).toEqual([201, 201]);

  for (const person of [bob, fitgraph.anonymous]) {
    expect(await person.ask(query)).toEqual({
      ingredient: null,
      node: null,
      ingredients: { totalCount: 0 },
    });
  }

  expect(await eat(bob)).toEqual([400, 400]);
  expect((await bob.query(UPDATE_FOOD, { id, input: { parts: [] } })).data.made.errors).toEqual([
    { path: ['id'], code: 'NOT_FOUND', message: `There is no Ingredient with the id "${id}".` },
  ]);

  await make(curator, UPDATE_FOOD, {
    id: recipe.parts[0].ingredientId,
    input: { status: 'ACCEPTED' },
  });
  await make(curator, UPDATE_FOOD, { id, input: { status: 'ACCEPTED' } });
  expect((await bob.ask(query)).ingredient).toEqual({ parts: [{ grams: '100.00' }] });
  expect(await eat(bob)).toEqual([201, 201]);
  expect((await ann.query(UPDATE_FOOD, { id, input: { parts: [] } })).code).toBe('FORBIDDEN');
});

test('the author changes the parts and the number of portions', async () => {
  const [one, other] = [await foodOf(curator, { energy: 100 }), await foodOf(ann, { energy: 300 })];
  const recipe = await createRecipe(ann, [{ ingredientId: one, grams: '100' }], { portions: 1 });

  expect(recipe).toMatchObject({ energy: 100, units: [{ grams: '100' }] });
  const [part] = recipe.parts;
  const changed = await make(ann, UPDATE_FOOD, {
    id: recipe.id,
    input: {
      parts: [
        { id: part.id, grams: '300' },
        { ingredientId: other, grams: '100' },
      ],
    },
  });

  expect(changed).toMatchObject({ energy: 150, units: [{ grams: '400' }] });
  expect(changed.parts[0]).toMatchObject({ id: part.id, grams: '300.00' });

  const [unit] = changed.units;

  expect(
    await make(ann, UPDATE_FOOD, {
      id: recipe.id,
      input: { energy: 1, units: [{ id: unit.id, portions: 8, grams: '1' }] },
    }),
  ).toMatchObject({ energy: 150, units: [{ id: unit.id, portions: 8, grams: '50' }] });
  expect(
    await make(ann, UPDATE_FOOD, {
      id: recipe.id,
      input: { parts: [{ id: changed.parts[1].id }] },
    }),
  ).toMatchObject({ energy: 300, parts: [{ grams: '100.00' }], units: [{ grams: '13' }] });
});

test('the version of a recipe changes with its parts, also if its values stay the same', async () => {
  const recipe = await createRecipe(ann, [
    { ingredientId: await foodOf(curator), grams: '100' },
    { ingredientId: await foodOf(curator, { energy: 700 }), grams: '200' },
  ]);
  const versionOf = async () =>
    (await ann.ask(`{ ingredient(id: ${recipe.id}) { version } }`)).ingredient.version;
  const version = await versionOf();
  const doubled = recipe.parts.map(({ id, grams }: Part) => ({
    id,
    grams: `${2 * Number(grams)}`,
  }));

  await make(ann, UPDATE_FOOD, { id: recipe.id, input: { parts: doubled } });
  expect(await versionOf()).not.toBe(version);
  expect(
    (
      await ann.query(
        `mutation { updateIngredient(id: ${recipe.id}, ifVersion: "${version}", input: { brand: "Mill" }) { errors { code } } }`,
      )
    ).text,
  ).toContain('CONFLICT');
});

test('errors name the fields of parts and portions', async () => {
  const food = await foodOf(curator);
  const secret = await foodOf(bob);
  const create = (parts: readonly Part[], more: object = {}) =>
    errorsOf(ann, CREATE_RECIPE, { input: recipeInput(parts, more) });
  const pathsOf = (errors: { path: string[]; code: string }[]) =>
    errors.map(({ path, code }) => `${path.join('.')} ${code}`);

  expect(
    pathsOf(
      await create([
        { ingredientId: food, grams: '0' },
        { ingredientId: food, grams: '100000.01' },
        { ingredientId: food, grams: '1.001' },
        { ingredientId: food },
        { grams: '1' },
        { ingredientId: secret, grams: '1' },
        { ingredientId: '2000000000', grams: '1' },
      ]),
    ),
  ).toEqual([
    'input.parts.0.grams TOO_SMALL',
    'input.parts.1.grams TOO_LARGE',
    'input.parts.2.grams TOO_PRECISE',
    'input.parts.3.grams REQUIRED',
    'input.parts.4.ingredientId REQUIRED',
    'input.parts.5.ingredientId NOT_FOUND',
    'input.parts.6.ingredientId NOT_FOUND',
  ]);
  const part = { ingredientId: food, grams: '1' };

  expect(pathsOf(await create([part], { name: 'x', languageId: '99' }))).toEqual([
    'input.name TOO_SHORT',
    'input.languageId NOT_FOUND',
  ]);
  expect(pathsOf(await create([], {}))).toEqual(['input.parts EMPTY']);
  expect(pathsOf(await create([part], { portions: 0 }))).toEqual(['input.portions TOO_SMALL']);
  expect(pathsOf(await create([part], { portions: 1001 }))).toEqual(['input.portions TOO_LARGE']);

  const parts = Array.from({ length: 100 }, () => part);
  const recipe = await createRecipe(ann, parts);

  expect(recipe).toMatchObject({ energy: 100, units: [{ grams: '25' }] });
  const tooMany = [
    {
      path: ['input', 'parts'],
      code: 'INVALID',
      message: 'Ensure this list has no more than 100 elements.',
    },
  ];

  expect(await create([...parts, part])).toEqual(tooMany);
  expect(
    await errorsOf(ann, UPDATE_FOOD, {
      id: recipe.id,
      input: { parts: [...recipe.parts.map(({ id }: Part) => ({ id })), part] },
    }),
  ).toEqual(tooMany);
  expect((await fitgraph.anonymous.query(CREATE_RECIPE, { input: recipeInput([part]) })).code).toBe(
    'UNAUTHENTICATED',
  );
});

test('no recipe is a part of a recipe', async () => {
  const food = await foodOf(curator);
  const part = { ingredientId: food, grams: '100' };
  const recipe = await createRecipe(ann, [part]);
  const parts = [part, { ingredientId: recipe.id, grams: '1' }];
  const nested = [
    { path: ['input', 'parts', '1', 'ingredientId'], code: 'INVALID', message: MESSAGE },
  ];

  expect(await errorsOf(ann, CREATE_RECIPE, { input: recipeInput(parts) })).toEqual(nested);
  expect(await errorsOf(ann, UPDATE_FOOD, { id: recipe.id, input: { parts } })).toEqual(nested);
  const [used] = (await createRecipe(ann, [{ ingredientId: await foodOf(ann), grams: '1' }])).parts;

  expect(
    await errorsOf(ann, UPDATE_FOOD, { id: used.ingredientId, input: { parts: [part] } }),
  ).toEqual([{ path: ['input', 'parts', '0', 'ingredientId'], code: 'INVALID', message: MESSAGE }]);
});

test('parallel writes nest no recipes', async () => {
  const rounds = Array.from({ length: 8 }, async () => {
    const part = { ingredientId: await foodOf(curator), grams: '100' };
    const [a, b] = [await foodOf(curator), await foodOf(curator)];
    const use = (id: string, ingredientId: string) =>
      curator.query(UPDATE_FOOD, { id, input: { parts: [part, { ingredientId, grams: '1' }] } });
    const answers = await Promise.all([use(a, b), use(b, a), use(a, b), use(b, a)]);

    // Which of both becomes the recipe depends on who is first, but not on how often it is tried.
    expect(answers.filter(({ data }) => data.made?.errors.length === 0).length).toBeGreaterThan(0);
    const codes = answers.flatMap(
      ({ code, data }) => code ?? data.made.errors.map((e: any) => e.code),
    );

    expect(new Set([...codes, 'INVALID', 'CONFLICT'])).toEqual(new Set(['INVALID', 'CONFLICT']));
  });

  await Promise.all(rounds);
  const nested = await fitgraph.sql(
    `SELECT FROM "recipe_part" p JOIN "recipe_part" q ON q."recipe_id" = p."ingredient_id"`,
  );

  expect(nested).toEqual([]);
});

/** Recipes whose stored values differ from the means of their parts. */
const wrongRecipes = () =>
  fitgraph.sql(`SELECT r."id", r."energy", r."protein", r."sodium", m.* FROM "ingredient" r JOIN (
      SELECT p."recipe_id", round(sum(p."grams" * f."energy") / sum(p."grams")) AS "kcal",
        round(sum(p."grams" * f."protein") / sum(p."grams"), 3) AS "g",
        CASE WHEN bool_and(f."sodium" IS NOT NULL) THEN round(sum(p."grams" * f."sodium") / sum(p."grams"), 3) END AS "na"
      FROM "recipe_part" p JOIN "ingredient" f ON f."id" = p."ingredient_id" GROUP BY 1) m ON m."recipe_id" = r."id"
    WHERE (r."energy", r."protein", r."sodium") IS DISTINCT FROM (m."kcal", m."g", m."na")`);

test('the values are right after parallel writes of parts and foods', async () => {
  const foods = await Promise.all(
    Array.from({ length: 4 }, (_, index) => foodOf(curator, { energy: 100 * index, sodium: '1' })),
  );
  const [first, second] = foods as [string, string];
  const { id } = await createRecipe(ann, [{ ingredientId: first, grams: '10' }]);
  const another = await createRecipe(bob, [{ ingredientId: second, grams: '10' }]);

  const writeParts = async (person: Person, recipe: string, seed: number) => {
    for (let round = 0; round < 12; round += 1) {
      const parts = foods
        .filter((_, index) => (round + seed + index) % 3 > 0)
        .map((ingredientId, index) => ({
          ingredientId,
          grams: String(1 + ((round * 7 + index) % 50)),
        }));

      await make(person, UPDATE_FOOD, { id: recipe, input: { parts } });
    }
  };

  const writeFood = async (food: string, seed: number) => {
    for (let round = 0; round < 12; round += 1) {
      const input = {
        energy: (round * 31 + seed) % 800,
        protein: `${(round * 3 + seed) % 90}`,
        sodium: round % 3 === 0 ? null : '0.5',
      };

      await make(curator, UPDATE_FOOD, { id: food, input });
    }
  };

  await Promise.all([
    writeParts(ann, id, 0),
    writeParts(ann, id, 1),
    writeParts(bob, another.id, 2),
    ...foods.map(writeFood),
  ]);
  expect(await wrongRecipes()).toEqual([]);
});

test('everyone sees the parts of an accepted recipe', async () => {
  const [pending, foreign] = [await foodOf(ann), await foodOf(bob)];
  const { id, parts } = await createRecipe(ann, [{ ingredientId: pending, grams: '10' }]);
  const accept = { input: { status: 'ACCEPTED' } };
  const notAccepted = [
    {
      path: ['input', 'status'],
      code: 'INVALID',
      message: 'An accepted recipe has accepted parts.',
    },
  ];

  // Status of authors is ignored.
  expect((await make(ann, UPDATE_FOOD, { id, ...accept })).status).toBe('PENDING');
  expect(await errorsOf(curator, UPDATE_FOOD, { id, ...accept })).toEqual(notAccepted);
  expect(
    await errorsOf(curator, UPDATE_FOOD, {
      id,
      input: { parts: [{ id: parts[0].id }, { ingredientId: foreign, grams: '1' }] },
    }),
  ).toEqual([{ path: ['input', 'parts', '1', 'ingredientId'], code: 'INVALID', message: MESSAGE }]);
  expect(
    await errorsOf(curator, CREATE_RECIPE, {
      input: recipeInput([{ ingredientId: pending, grams: '1' }]),
    }),
  ).toEqual([{ path: ['input', 'parts', '0', 'ingredientId'], code: 'INVALID', message: MESSAGE }]);

  await make(curator, UPDATE_FOOD, { id: pending, ...accept });
  await make(curator, UPDATE_FOOD, { id, ...accept });
  expect(
    await errorsOf(curator, UPDATE_FOOD, { id: pending, input: { status: 'DECLINED' } }),
  ).toEqual(notAccepted);
  await make(curator, UPDATE_FOOD, { id: pending, input: { isRetired: true } });
  expect((await recipeOf(bob, id)).parts[0].ingredient.name).toMatch(/^Food/);
});

test('the database rejects parts that the recipe may not have', async () => {
  const recipe = await createRecipe(ann, [{ ingredientId: await foodOf(ann), grams: '10' }]);
  const insert = (food: string, grams = 1) =>
    fitgraph.sql(
      'INSERT INTO "recipe_part" ("recipe_id", "ingredient_id", "grams") VALUES ($1, $2, $3)',
      [recipe.id, food, grams],
    );

  for (const food of [await foodOf(bob), recipe.id]) {
    await expect(insert(food)).rejects.toThrow('this food may not be a part of this recipe');
  }

  await expect(insert(recipe.parts[0].ingredientId, 0)).rejects.toThrow('check');
  await expect(
    fitgraph.sql(`UPDATE "ingredient" SET "status" = '2' WHERE "id" = $1`, [recipe.id]),
  ).rejects.toThrow('an accepted recipe has accepted parts');
});

test('parallel decisions leave no accepted recipe with other parts', async () => {
  const rounds = Array.from({ length: 8 }, async () => {
    const food = await foodOf(curator);
    const { id } = await createRecipe(ann, [{ ingredientId: food, grams: '10' }]);
    const set = (row: string, status: string) =>
      curator.query(UPDATE_FOOD, { id: row, input: { status } });

    await Promise.all([set(id, 'ACCEPTED'), set(food, 'DECLINED')]);
  });

  await Promise.all(rounds);
  expect(
    await fitgraph.sql(`SELECT FROM "recipe_part" p JOIN "ingredient" r ON r."id" = p."recipe_id"
      JOIN "ingredient" f ON f."id" = p."ingredient_id" WHERE r."status" = '2' AND f."status" <> '2'`),
  ).toEqual([]);
});

test('a food of a recipe is merged, but not deleted, and a merged recipe keeps its parts', async () => {
  const [from, into] = [await foodOf(curator), await foodOf(curator, { energy: 900 })];
  const recipe = await createRecipe(curator, [{ ingredientId: from, grams: '10' }]);

  expect((await curator.ask(DELETE_FOOD, { id: from })).made).toEqual({
    deletedIds: [],
    errors: [{ code: 'IN_USE' }],
  });
  await make(curator, MERGE_FOODS, { from, into });
  expect(await recipeOf(bob, recipe.id)).toMatchObject({
    energy: 900,
    parts: [{ ingredientId: into }],
  });
  expect(await errorsOf(curator, MERGE_FOODS, { from: into, into: recipe.id })).toEqual([
    {
      path: ['into'],
      code: 'INVALID',
      message: 'A row that refers to the one to merge may not refer to this one.',
    },
  ]);
  const copy = await createRecipe(curator, [{ ingredientId: await foodOf(curator), grams: '5' }]);

  await make(curator, MERGE_FOODS, { from: copy.id, into: recipe.id });
  expect(await recipeOf(bob, recipe.id)).toMatchObject({ energy: 900, parts: [{}] });
  expect((await curator.ask(DELETE_FOOD, { id: recipe.id })).made.errors).toEqual([]);
  expect((await curator.ask(DELETE_FOOD, { id: into })).made.errors).toEqual([]);
});

test('curators see and undo changes of parts', async () => {
  const [one, two] = [await foodOf(curator), await foodOf(curator, { energy: 700 })];
  const recipe = await createRecipe(curator, [{ ingredientId: one, grams: '10' }]);

  await make(curator, UPDATE_FOOD, {
    id: recipe.id,
    input: { parts: [{ id: recipe.parts[0].id, ingredientId: two }] },
  });
  const { catalogueChanges } = await curator.ask(
    `{ catalogueChanges(where: { table: { eq: "recipe_part" }, rowId: { eq: ${recipe.parts[0].id} } }) { nodes { id operation } } }`,
  );

  expect(catalogueChanges.nodes).toMatchObject([
    { operation: 'CREATED' },
    { operation: 'UPDATED' },
  ]);
  expect((await recipeOf(bob, recipe.id)).energy).toBe(700);
  const { made } = await curator.ask(
    `mutation { made: undoCatalogueChange(id: ${catalogueChanges.nodes[1].id}) { ${ERRORS} } }`,
  );

  expect(made.errors).toEqual([]);
  expect((await recipeOf(bob, recipe.id)).energy).toBe(100);
});

test('an undo does not check the constraints of later writes early', async () => {
  const food = await foodOf(curator);
  const createSchedule = (alias: string) =>
    `${alias}: createSchedule(input: { name: "${alias}", isActive: true }) { schedule { isActive } errors { message } }`;

  await curator.ask(`mutation { ${createSchedule('first')} }`);
  await make(curator, UPDATE_FOOD, { id: food, input: { brand: 'Mill' } });
  const { catalogueChanges } = await curator.ask(
    `{ catalogueChanges(where: { table: { eq: "ingredient" }, rowId: { eq: ${food} } }, last: 1) { nodes { id } } }`,
  );
  const { undone, second } = await curator.ask(
    `mutation @atomic { undone: undoCatalogueChange(id: ${catalogueChanges.nodes[0].id}) { ${ERRORS} } ${createSchedule('second')} }`,
  );

  expect([undone.errors, second]).toEqual([[], { schedule: { isActive: true }, errors: [] }]);
});

test('the removal of a part cannot be undone after its food was deleted', async () => {
  const food = await foodOf(curator);
  const recipe = await createRecipe(curator, [
    { ingredientId: await foodOf(curator), grams: '10' },
    { ingredientId: food, grams: '10' },
  ]);
  const [part, removed] = recipe.parts;

  await make(curator, UPDATE_FOOD, { id: recipe.id, input: { parts: [{ id: part.id }] } });
  expect((await curator.ask(DELETE_FOOD, { id: food })).made.errors).toEqual([]);
  const { catalogueChanges } = await curator.ask(
    `{ catalogueChanges(where: { table: { eq: "recipe_part" }, rowId: { eq: ${removed.id} } }, last: 1) { nodes { id operation } } }`,
  );
  const [change] = catalogueChanges.nodes;
  const { made } = await curator.ask(
    `mutation { made: undoCatalogueChange(id: ${change.id}) { ${ERRORS} } }`,
  );

  expect([change.operation, made.errors]).toEqual([
    'DELETED',
    [
      {
        path: ['id'],
        code: 'CONFLICT',
        message: 'A row to which it refers does not exist any more.',
      },
    ],
  ]);
  expect((await recipeOf(curator, recipe.id)).parts).toHaveLength(1);
});

test('an account is deleted with its recipes and their pending foods', async () => {
  const carl = await fitgraph.user('carl');
  const food = await foodOf(carl);

  await createRecipe(carl, [{ ingredientId: food, grams: '10' }]);
  const later = await foodOf(carl);

  await make(carl, UPDATE_FOOD, {
    id: later,
    input: { parts: [{ ingredientId: await foodOf(carl), grams: '1' }] },
  });
  const { contributionCount } = await deleteUser(carl.id, fitgraph.database, async () => undefined);

  expect(contributionCount).toBe(4);
});

test('the number of statements does not depend on the number of parts', async () => {
  const foods = await Promise.all(Array.from({ length: 9 }, () => foodOf(curator)));
  const partsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ingredientId: foods[index % 9]!, grams: '1' }));

  const statementsFor = async (count: number) => {
    const created = await ann.query(CREATE_RECIPE, { input: recipeInput(partsOf(count)) });
    const { id } = created.data.made.ingredient;
    const updated = await ann.query(UPDATE_FOOD, { id, input: { parts: partsOf(count) } });

    return [created.statements, updated.statements];
  };

  const few = await statementsFor(2);

  expect(few.every(Number.isFinite)).toBe(true);
  expect(await statementsFor(100)).toEqual(few);
});

test('a recipe counts as one contribution of a day', async () => {
  const dora = await fitgraph.user('dora');
  const part = { ingredientId: await foodOf(curator), grams: '1' };

  const many = `mutation ($input: RecipeInput!) { ${Array.from({ length: 20 }, (_, index) => `f${index}: createRecipe(input: $input) { errors { code } }`).join(' ')} }`;

  for (let request = 0; request < 5; request += 1) {
    await dora.ask(many, { input: recipeInput([part]) });
  }

  expect((await dora.query(CREATE_RECIPE, { input: recipeInput([part]) })).code).toBe(
    'TOO_MANY_REQUESTS',
  );
});

test('REST shows a recipe like other foods', async () => {
  const recipe = await createRecipe(ann, [{ ingredientId: await foodOf(curator), grams: '10' }]);
  const { body } = await ann.get(`/ingredient/${recipe.id}/`);
  const { body: food } = await ann.get('/ingredient/1/');
  const { body: units } = await ann.get(`/ingredientweightunit/?ingredient=${recipe.id}`);

  expect(Object.keys(body)).toEqual(Object.keys(food));
  expect(body).toMatchObject({ energy: 100, protein: '10.000' });
  expect(units.results).toEqual([
    {
      id: Number(recipe.units[0].id),
      amount: '1.00',
      gram: 3,
      ingredient: Number(recipe.id),
      unit: expect.any(Number),
    },
  ]);
});
