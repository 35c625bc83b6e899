/**
 * Searches by name rank a limited number of hits. Rows that the viewer cannot see, that belong to
 * another parent row or that do not meet the other conditions do not count towards the limit.
 */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile({ environment: { BUDGET: 'off' } });
const [GERMAN, ENGLISH] = [1, 2];
const MANY = 3_000;
let ann: Person;

const addFoods = (names: string, language: number, status = '2') =>
  fitgraph.sql(
    `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
      SELECT ${names}, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, ${language}, '${status}' FROM generate_series(1, ${MANY}) AS i RETURNING "id"`,
  );

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  const pending = await addFoods(`'Quark'`, ENGLISH, '1');

  await fitgraph.sql(
    'INSERT INTO "ingredient_contributor" ("row_id", "user_id") SELECT unnest($1::int[]), $2',
    [pending.map(({ id }) => id), (await fitgraph.user('bob')).id],
  );
  await addFoods(`'Quark ' || i`, ENGLISH);
  await fitgraph.sql(
    `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
      SELECT 'Quark mit langem Namen ' || i, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, ${GERMAN}, '2' FROM generate_series(1, 5) AS i`,
  );
  await fitgraph.sql('ANALYZE "ingredient"');
});

test('pending foods of others hide no hits', async () => {
  const { ingredients } = await ann.ask(
    '{ ingredients(where: { name: { search: "quark" } }) { totalCount nodes { name } } }',
  );

  expect(ingredients.nodes[0].name).toMatch(/^Quark \d$/);
  expect(ingredients.totalCount).toBeGreaterThan(500);
});

test('lists of child rows find hits of their own parent row', async () => {
  const { languages } = await ann.ask(
    `{ languages { id ingredients(where: { name: { search: "quark" } }) { totalCount nodes { name } } } }`,
  );
  const german = languages.find(({ id }: { id: string }) => id === String(GERMAN));
  const english = languages.find(({ id }: { id: string }) => id === String(ENGLISH));

  expect(german.ingredients.totalCount).toBe(5);
  expect(german.ingredients.nodes[0].name).toBe('Quark mit langem Namen 1');
  expect(english.ingredients.totalCount).toBeGreaterThan(500);
});

test('groups count hits of their own parent row, and visible ones only', async () => {
  const { all, languages } = await ann.ask(
    `{ all: ingredientsGrouped(where: { name: { search: "langem quark" } }) { count }
      languages { id ingredientsGrouped(where: { name: { search: "quark" } }) { count } } }`,
  );
  const german = languages.find(({ id }: { id: string }) => id === String(GERMAN));

  expect(all).toEqual([{ count: 5 }]);
  expect(german.ingredientsGrouped).toEqual([{ count: 5 }]);
});
