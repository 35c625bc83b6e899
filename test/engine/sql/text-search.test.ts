/**
 * Fuzzy search: finds names despite typos, missing accents and word order, but no names that are
 * merely similar.
 */
import { DatabaseSession } from '../../../src/database/session';
import { fitgraphForThisFile } from '../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();

const FOODS = [
  ...[
    'Chicken',
    'Chicken breast',
    'Chicken breast with skin, roasted',
    'Grilled chicken',
    'Chickpeas',
    'Chips',
    'Bread',
    'Beef',
    'Beer',
  ],
  ...[
    'Beets',
    'Soy milk',
    'Silk tofu',
    'Rice',
    'Ice cream',
    'Mice of sugar',
    'Mate tea',
    'Meat loaf',
    'Broccoli',
    'Zucchini',
  ],
  ...[
    'Mozzarella',
    'Cappuccino',
    'Spaghetti',
    'Yoghurt',
    'Salmon, smoked',
    'Onion',
    'Lemon',
    'Melon',
    'Tomato',
    'Potato',
    'Avocado',
  ],
  ...[
    'Cauliflower',
    'Mayonnaise',
    'Jalapeño',
    'Crème fraîche',
    'Äpfel',
    'Käsespätzle',
    'Worcestershire sauce',
    'Butter',
    'Peanut butter',
  ],
  ...[
    'Vanilla 100',
    'Vanilla 1000',
    'Chocolate milk',
    'Cucumber',
    'Étoile d’anis',
    'Cookies',
    'Raspberry',
    'Blackberry',
  ],
];
const EXERCISES = [
  'Dumbbell press',
  'Barbell row',
  'Pull-up',
  'Push-up',
  'Deadlift',
  'Shoulder press',
  'Leg press',
  'Leg curl',
];

beforeAll(async () => {
  for (const name of FOODS) {
    await fitgraph.sql(
      `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
       VALUES ($1, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, 2, '2')`,
      [name],
    );
  }

  for (const name of EXERCISES) {
    await fitgraph.sql(
      `INSERT INTO "exercise" ("uuid", "name", "status", "description", "language_id", "exercise_base_id")
       VALUES (gen_random_uuid(), $1, '2', 'How it is done.', 2, 1)`,
      [name],
    );
  }
});

const namesFound = async (
  many: 'ingredients' | 'exerciseTranslations',
  search: string,
): Promise<string[]> => {
  const type = many === 'ingredients' ? 'Ingredient' : 'ExerciseTranslation';
  const { page } = await fitgraph.anonymous.ask(
    `query ($where: ${type}Where) { page: ${many}(first: 100, where: $where) { totalCount nodes { name } } }`,
    { where: { name: { search } } },
  );

  expect(page.totalCount).toBe(page.nodes.length);
  return page.nodes.map(({ name }: { name: string }) => name);
};

describe('a search condition', () => {
  test.each<[term: string, first: string]>([
    ['chiken brest', 'Chicken breast'],
    ['chicken', 'Chicken'],
    ['chicken breast', 'Chicken breast'],
    ['breast chicken', 'Chicken breast'],
    ['chick bre', 'Chicken breast'],
    ['griled chiken', 'Grilled chicken'],
    ['hcicken', 'Chicken'],
    ['chikcen', 'Chicken'],
    ['chickenn', 'Chicken'],
    ['chcken', 'Chicken'],
    ['mlik', 'Milk'],
    ['mikl', 'Milk'],
    ['millk', 'Milk'],
    ['soy mlik', 'Soy milk'],
    ['beff', 'Beef'],
    ['bred', 'Bread'],
    ['rcie', 'Rice'],
    ['brocolli', 'Broccoli'],
    ['brocoli', 'Broccoli'],
    ['zuchini', 'Zucchini'],
    ['zucchinni', 'Zucchini'],
    ['mozarela', 'Mozzarella'],
    ['capucino', 'Cappuccino'],
    ['spagetti', 'Spaghetti'],
    ['yogurt', 'Yoghurt'],
    ['samlon', 'Salmon, smoked'],
    ['smokd salmn', 'Salmon, smoked'],
    ['oinon', 'Onion'],
    ['tomatoe', 'Tomato'],
    ['potatos', 'Potato'],
    ['avacado', 'Avocado'],
    ['cauliflour', 'Cauliflower'],
    ['mayonaise', 'Mayonnaise'],
    ['jalapeno', 'Jalapeño'],
    ['creme fraiche', 'Crème fraîche'],
    ['apfel', 'Äpfel'],
    ['kasespatzle', 'Käsespätzle'],
    ['worcestershire', 'Worcestershire sauce'],
    ['wostershire', 'Worcestershire sauce'],
    ['peanutt buter', 'Peanut butter'],
    ['BUTER', 'Butter'],
    ['vanilla 1000', 'Vanilla 1000'],
    ['choclate milk', 'Chocolate milk'],
    ['cucumbar', 'Cucumber'],
    ['etoile anis', 'Étoile d’anis'],
    ['cookeis', 'Cookies'],
    ['rasberry', 'Raspberry'],
    ['  chicken  ', 'Chicken'],
  ])('for %j finds %j first', async (term, first) => {
    expect((await namesFound('ingredients', term))[0]).toBe(first);
  });

  test.each<[term: string, names: string[]]>([
    ['beef', ['Beef']],
    ['beer', ['Beer']],
    ['ice', ['Ice cream', 'Rice', 'Mice of sugar']],
    ['rice', ['Rice']],
    ['milk', ['Milk', 'Soy milk', 'Chocolate milk']],
    ['meat', ['Meat loaf']],
    ['lemon', ['Lemon']],
    ['chicken soup', []],
    ['chiken bread', []],
    ['chips', ['Chips']],
    ['butter', ['Butter', 'Peanut butter']],
    ['vanilla 1100', []],
    ['vanilla 100', ['Vanilla 100', 'Vanilla 1000']],
    ['mlk', []],
    ['xyzzy', []],
    ['tomato potato', []],
    ['strawberry', []],
  ])('for %j finds exactly %j', async (term, names) => {
    expect((await namesFound('ingredients', term)).sort()).toEqual([...names].sort());
  });

  test.each<[term: string, first: string]>([
    ['dumbell pres', 'Dumbbell press'],
    ['barbel row', 'Barbell row'],
    ['pullup', 'Pull-up'],
    ['dedlift', 'Deadlift'],
    ['sholder press', 'Shoulder press'],
    ['leg pres', 'Leg press'],
    ['bench perss', 'Bench press'],
  ])('for the exercise %j finds %j first', async (term, first) => {
    expect((await namesFound('exerciseTranslations', term))[0]).toBe(first);
  });

  test('ranks names that start with the term before names that contain it', async () => {
    expect(await namesFound('ingredients', 'chicken')).toEqual([
      'Chicken',
      'Chicken breast',
      'Chicken breast with skin, roasted',
      'Grilled chicken',
    ]);
  });
});

test('finds only literal parts of names over REST', async () => {
  const { body } = await fitgraph.anonymous.get('/ingredient/search/?language=en&term=chiken');

  expect(body.suggestions).toEqual([]);
  const exact = await fitgraph.anonymous.get('/ingredient/search/?language=en&term=chicken');

  expect(exact.body.suggestions.map(({ value }: { value: string }) => value)).toEqual([
    'Chicken',
    'Chicken breast',
    'Chicken breast with skin, roasted',
    'Grilled chicken',
  ]);
});

test('rejects a term of more than 200 characters, but not one of many words', async () => {
  for (const [many, type] of [
    ['ingredients', 'Ingredient'],
    ['exerciseTranslations', 'ExerciseTranslation'],
  ]) {
    const document = `query ($where: ${type}Where) { ${many}(where: $where) { totalCount } }`;
    const { errors } = await fitgraph.anonymous.query(document, {
      where: { name: { search: 'x'.repeat(201) } },
    });

    expect(errors![0]!.extensions).toEqual({
      code: 'BAD_USER_INPUT',
      inputErrors: [
        {
          path: ['where', 'name', 'search'],
          message: 'Ensure this value has no more than 200 characters.',
        },
      ],
    });
  }

  expect(await namesFound('ingredients', 'ab '.repeat(60))).toEqual([]);
  expect(await namesFound('ingredients', 'çéà '.repeat(45))).toEqual([]);
  expect(await namesFound('ingredients', `${'a'.repeat(100)} ${'ab'.repeat(49)}`)).toEqual([]);
});

test('finds a renamed ingredient immediately, and no longer by its old name', async () => {
  await fitgraph.sql(`UPDATE "ingredient" SET "name" = 'Marzipan' WHERE "name" = 'Silk tofu'`);
  expect(await namesFound('ingredients', 'marzpian')).toEqual(['Marzipan']);
  expect(await namesFound('ingredients', 'marcipan')).toEqual(['Marzipan']);
  await fitgraph.sql(`UPDATE "ingredient" SET "name" = 'Silken tofu' WHERE "name" = 'Marzipan'`);
  expect(await namesFound('ingredients', 'marzpian')).toEqual([]);
});

test('does not block concurrent inserts of the same new word', async () => {
  const clients = [await fitgraph.database.pool.connect(), await fitgraph.database.pool.connect()];

  try {
    for (const client of clients) await client.query('BEGIN');

    for (const client of clients) {
      await client.query(`SET LOCAL lock_timeout = '2s'`);
      await client.query(
        `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
         VALUES ('Pumpernickel', '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, 2, '2')`,
      );
    }

    await clients[0]!.query('ROLLBACK');
    await clients[1]!.query('COMMIT');
  } finally {
    for (const client of clients) client.release();
  }

  expect(await namesFound('ingredients', 'pumpernikel')).toEqual(['Pumpernickel']);
});

test('tolerates typos in texts of the user and in names of related rows', async () => {
  const ann = await fitgraph.user('ann');

  await ann.post('/workout/', { comment: 'Morning stretches' });
  const { workouts } = await ann.ask(
    '{ workouts(where: { name: { search: "mornign stretchs" } }) { nodes { name } } }',
  );

  expect(workouts.nodes).toEqual([{ name: 'Morning stretches' }]);
  const exercisesByMuscle = (condition: string) =>
    `exercises(where: { muscles: { some: { name: { ${condition} } } } }) { nodes { id } }`;
  const { found, meant: expected } = await ann.ask(
    `{ found: ${exercisesByMuscle('search: "bicep brachi"')} meant: ${exercisesByMuscle('eq: "Biceps brachii"')} }`,
  );

  expect(found.nodes.length).toBeGreaterThan(0);
  expect(found).toEqual(expected);
});

test('uses the indexes of names and words', async () => {
  await fitgraph.sql(
    `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
     SELECT 'Crisp ' || left(translate(md5(i::text), '0123456789', 'ghijklmnop'), 7), '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, 2, '2' FROM generate_series(1, 8000) i`,
  );
  await fitgraph.sql('VACUUM ANALYZE "ingredient", "catalogue_word"');

  const { pool } = fitgraph.database;
  const querySpy = jest.spyOn(DatabaseSession.prototype, 'query');

  await namesFound('ingredients', 'chiken');
  const [[text, values]] = querySpy.mock.calls as [Parameters<DatabaseSession['query']>];

  querySpy.mockRestore();
  const plan = JSON.stringify((await pool.query(`EXPLAIN ${text}`, values)).rows);

  for (const index of ['vector', 'prefix', 'search']) {
    expect(plan).toContain(`ingredient_name_${index}`);
  }

  // The subqueries of hits; the number of all hits is read from all of these few rows.
  expect(plan).not.toContain('Seq Scan on ingredient th');
  expect(await namesFound('ingredients', 'chiken brest')).toEqual([
    'Chicken breast',
    'Chicken breast with skin, roasted',
  ]);
});
