/** Rules: API contract, section 9 (searches); D-500 for a NUL. */
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const ENGLISH = 2;
const GERMAN = 1;

beforeAll(async () => {
  const add = (name: string, language = ENGLISH, status = '2') =>
    fitgraph.sql(
      `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
       VALUES ($1, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, $2, $3)`,
      [name, language, status],
    );
  for (const name of ['100% juice', 'snake_case', 'back\\slash', 'Weißbrot', 'Möhre', 'ΟΔΥΣΣΕΥΣ', 'Étoile d’anis']) await add(name);
  await add('Milchreis', GERMAN);
  await add('Milk of tomorrow', ENGLISH, '1');
});

const found = async (query: string, kind = 'ingredient') => {
  const { status, body } = await fitgraph.anyone.get(`/${kind}/search/?${query}`);
  expect(status).toBe(200);
  return body.suggestions?.map(({ value }: { value: string }) => value);
};

test.each<[rule: string, term: string, names: string[]]>([
  ['a part of the name', 'ilk', ['Milk']],
  ['whatever the case', 'MILK', ['Milk']],
  ['of any letter', 'MÖHRE', ['Möhre']],
  ['with an accent', 'éTOILE', ['Étoile d’anis']],
  ['a sigma is a sigma wherever it stands', 'δυσςευσ', ['ΟΔΥΣΣΕΥΣ']],
  ['a capital sigma too', 'ΣΕΥΣ', ['ΟΔΥΣΣΕΥΣ']],
  ['ß is no ss', 'weiss', []],
  ['but itself', 'WEIß', ['Weißbrot']],
  ['a percent sign is one', '%', ['100% juice']],
  ['in longer terms as well', '100%', ['100% juice']],
  ['and is no wildcard', '100%ice', []],
  ['an underscore is one', 'snake_', ['snake_case']],
  ['and is no wildcard', 'sna_e', []],
  ['a backslash is one', '\\', ['back\\slash']],
  ['in longer terms as well', 'back\\', ['back\\slash']],
  ['sorted by name, other languages left out', 'mil', ['Milk']],
  ['nothing', 'zzz', []],
])('%s: %s', async (_rule, term, names) => {
  expect(await found(`term=${encodeURIComponent(term)}`)).toEqual(names);
});

describe('among many', () => {
  // Letters of every frequency, so that short terms are in most names, in few or in none.
  beforeAll(() =>
    fitgraph.sql(`
      INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
      SELECT (ARRAY['Roast', 'Fresh', 'Dried', 'Salted'])[1 + i % 4] || ' ' || (ARRAY['Beef', 'Quince', 'Okra', 'Żurek', 'Tofu'])[1 + i % 5] ||
          CASE WHEN i % 1000 = 7 THEN ' Jazz' WHEN i % 7 = 0 THEN ', 50% Off' ELSE '' END || ' ' || i,
        '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, CASE WHEN i % 10 = 3 THEN ${GERMAN} ELSE ${ENGLISH} END, CASE WHEN i % 10 = 4 THEN '1' ELSE '2' END
      FROM generate_series(1, 8000) AS i`),
  );

  test.each([
    'e',
    'E',
    'q',
    'QU',
    'ż',
    'Ż',
    'zz',
    'ZZ',
    'xx',
    '%',
    '0%',
    '_',
    'd ',
    ', ',
    'o f',
    'o, 5',
    'h o',
    't b',
    ', x',
    '17',
    'jazz',
    'fresh',
  ])('%s', async (term) => {
    const names = await fitgraph.sql(
      `SELECT "name" FROM "ingredient" WHERE strpos(search_fold("name"), search_fold($1)) > 0 AND "language_id" = $2 AND "status" = '2' ORDER BY "name", "id"`,
      [term, ENGLISH],
    );
    expect(await found(`term=${encodeURIComponent(term)}&language=en`)).toEqual(names.map(({ name }) => name));
  });

  test.each<[what: string, term: string, hits: number, statements: number]>([
    ['a word in many names', 'fresh', 1000, 1],
    ['a word in none', 'xyzzy', 0, 1],
    ['a letter in many, by a sample first', 'e', 1000, 2],
    ['two letters in few', 'zz', 1, 2],
    ['letters with a blank between them', 'h o', 100, 2],
  ])('%s: %s', async (_what, term, hits, statements) => {
    const answer = await fitgraph.anyone.get(`/ingredient/search/?term=${encodeURIComponent(term)}&language=en`);
    expect(answer.body.suggestions.length).toBeGreaterThanOrEqual(hits);
    expect(answer.statements).toBe(statements);
  });
});

test('names stay apart whatever they hold', async () => {
  const names = ['\u0001\u001f', '\n', ' ', '"', '\\', '\u2028😀'].map((part) => `Line${part}break`);
  for (const name of names)
    await fitgraph.sql(
      `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
       VALUES ($1, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, $2, '2')`,
      [name, ENGLISH],
    );
  expect((await found('term=line&language=en')).sort()).toEqual(names.sort());
});

test.each(['', 'term=', 'language=en'])('without a term the answer is empty: %s', async (query) => {
  expect((await fitgraph.anyone.get(`/exercise/search/?${query}`)).body).toEqual({});
  expect((await fitgraph.anyone.get(`/ingredient/search/?${query}`)).body).toEqual({});
});

test('a NUL is refused', async () => {
  expect(await fitgraph.anyone.get('/ingredient/search/?term=%00')).toMatchObject({
    status: 400,
    body: { term: ['Null characters are not allowed.'] },
  });
});

test.each<[query: string, names: string[]]>([
  ['term=mil&language=de', ['Milchreis']],
  ['term=mil&language=en', ['Milk']],
  ['term=mil&language=xx', ['Milk']],
  ['term=mil&language=1', ['Milk']],
])('the language: %s', async (query, names) => {
  expect(await found(query)).toEqual(names);
});

test('exercises are sorted by category, and pending ones are not found', async () => {
  expect(await found('term=e', 'exercise')).toEqual(await found('term=E', 'exerciseinfo'));
  expect(await found('term=accepted', 'exercise')).toEqual([]);
});

test('GraphQL leads on from a suggestion to the row', async () => {
  const { data } = await fitgraph.anyone.query(
    '{ exerciseSearch(term: "squat") { value data { category imageThumbnail } exercise { muscles { name } } } none: exerciseSearch { value } }',
  );
  expect(data.none).toBeNull();
  expect(data.exerciseSearch).toEqual([
    {
      value: 'Squat',
      data: { category: expect.any(String), imageThumbnail: '/media/exercise-images/1/squat.png.30x30_q85_crop-smart.jpg' },
      exercise: { muscles: [{ name: 'Quadriceps femoris' }] },
    },
  ]);
});
