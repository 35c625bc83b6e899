/**
 * Searches by name in REST. The rules are those of test/system/contract/CONTRACT.md, section 9, and
 * of D-500 in DEVIATIONS.md for NUL characters.
 */
import { DatabaseSession } from '../../../src/database/session';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, Person } from '../../setup/person';
import { growth, LINEAR } from '../../setup/waits';

const fitgraph = fitgraphForThisFile();
const ENGLISH = 2;
const GERMAN = 1;
const FRENCH = 12;

const add = (name: string, language = ENGLISH, status = '2') =>
  fitgraph.sql(
    `INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
     VALUES ($1, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, $2, $3)`,
    [name, language, status],
  );

beforeAll(async () => {
  for (const name of [
    '100% juice',
    'snake_case',
    'back\\slash',
    'Weißbrot',
    'Möhre',
    'ΟΔΥΣΣΕΥΣ',
    'Étoile d’anis',
    'Kefir',
    '25 \u212a tea',
    'D\u0130L peyniri',
  ]) {
    await add(name);
  }

  await fitgraph.sql(
    `INSERT INTO "language" ("id", "short_name", "full_name") VALUES (${FRENCH}, 'fr', 'Français')`,
  );
  await add('Millet', FRENCH);
  await add('Milchreis', GERMAN);
  await add('Milk of tomorrow', ENGLISH, '1');
});

const valuesOf = ({ body }: Answer): string[] =>
  body.suggestions.map(({ value }: { value: string }) => value);

const namesFound = async (query: string, kind = 'ingredient') => {
  const { status, body } = await fitgraph.anonymous.get(`/${kind}/search/?${query}`);

  expect(status).toBe(200);
  return body.suggestions?.map(({ value }: { value: string }) => value);
};

test.each<[rule: string, term: string, names: string[]]>([
  ['by part of a name', 'ilk', ['Milk']],
  ['ignoring case', 'MILK', ['Milk']],
  ['ignoring the case of umlauts', 'MÖHRE', ['Möhre']],
  ['ignoring the case of accented letters', 'éTOILE', ['Étoile d’anis']],
  ['final and medial sigma match each other', 'δυσςευσ', ['ΟΔΥΣΣΕΥΣ']],
  ['capital sigma matches itself', 'ΣΕΥΣ', ['ΟΔΥΣΣΕΥΣ']],
  ['ß does not match ss', 'weiss', []],
  ['ß matches itself', 'WEIß', ['Weißbrot']],
  ['a percent sign is literal', '%', ['100% juice']],
  ['a percent sign is literal in longer terms', '100%', ['100% juice']],
  ['a percent sign is no wildcard', '100%ice', []],
  ['an underscore is literal', 'snake_', ['snake_case']],
  ['an underscore is no wildcard', 'sna_e', []],
  ['a backslash is literal', '\\', ['back\\slash']],
  ['a backslash is literal in longer terms', 'back\\', ['back\\slash']],
  ['names in other languages are excluded', 'mil', ['Milk']],
  ['no match', 'zzz', []],
])('searches names: %s (%s)', async (_rule, term, names) => {
  expect(await namesFound(`term=${encodeURIComponent(term)}`)).toEqual(names);
});

/** Inserts names in which short terms occur often, rarely or never. */
const populate = () =>
  fitgraph.sql(`
      DELETE FROM "ingredient" WHERE "energy" = 2;
      INSERT INTO "ingredient" ("name", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
      SELECT (ARRAY['Roast', 'Fresh', 'Dried', 'Salted'])[1 + i % 4] || ' ' || (ARRAY['Beef', 'Quince', 'Okra', 'Żurek', 'Tofu'])[1 + i % 5] ||
          CASE WHEN i % 1000 = 7 THEN ' Jazz' WHEN i % 7 = 0 THEN ', 50% Off' ELSE '' END || ' ' || i,
        '2021-01-01', '2021-01-01', 2, 1, 1, 1, 1, CASE WHEN i % 10 = 3 THEN ${GERMAN} ELSE ${ENGLISH} END, CASE WHEN i % 10 = 4 THEN '1' ELSE '2' END
      FROM generate_series(1, 8000) AS i`);

describe('a search of many names', () => {
  beforeAll(populate);

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
  ])('finds all names that contain %j', async (term) => {
    const names = await fitgraph.sql(
      `SELECT "name" FROM "ingredient" WHERE strpos(search_fold("name"), search_fold($1)) > 0 AND "language_id" = $2 AND "status" = '2' ORDER BY "name", "id"`,
      [term, ENGLISH],
    );

    expect(await namesFound(`term=${encodeURIComponent(term)}&language=en`)).toEqual(
      names.map(({ name }) => name),
    );
  });

  test('reads a term of two letters from an index that has all columns', async () => {
    const querySpy = jest.spyOn(DatabaseSession.prototype, 'query');

    await namesFound('term=zz&language=en');
    const [text, values] = querySpy.mock.calls.find(([sql]) => sql.includes('LIKE search_fold'))!;

    querySpy.mockRestore();
    const client = await fitgraph.database.pool.connect();

    try {
      // So few rows would be read in another way.
      await client.query(
        'BEGIN; ANALYZE "ingredient"; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off',
      );
      const plan = JSON.stringify((await client.query(`EXPLAIN ${text}`, values)).rows);

      expect(plan).toContain('Index Only Scan using ingredient_search_names');
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  test('merges two languages into one sorted list', async () => {
    const reader = (await fitgraph.user('Hanna')).withHeaders({ 'Accept-Language': 'de' });
    const names = await fitgraph.sql(
      `SELECT "name" FROM "ingredient" WHERE "name" LIKE 'Salted%' AND "status" = '2' ORDER BY "name", "id"`,
    );

    expect(names.length).toBeGreaterThan(1000);
    expect(valuesOf(await reader.get('/ingredient/search/?term=salted'))).toEqual(
      names.map(({ name }) => name),
    );
  });
});

test('keeps names with control characters, quotes or line separators apart', async () => {
  const names = ['\u0001\u001f', '\n', ' ', '"', '\\', '\u2028😀'].map(
    (part) => `Line${part}break`,
  );

  for (const name of names) await add(name);
  expect((await namesFound('term=line&language=en')).sort()).toEqual(names.sort());
});

test.each(['', 'term=', 'language=en'])(
  'returns an empty object without a term: %j',
  async (query) => {
    expect((await fitgraph.anonymous.get(`/exercise/search/?${query}`)).body).toEqual({});
    expect((await fitgraph.anonymous.get(`/ingredient/search/?${query}`)).body).toEqual({});
  },
);

test('rejects a NUL character in the term', async () => {
  expect(await fitgraph.anonymous.get('/ingredient/search/?term=%00')).toMatchObject({
    status: 400,
    body: { term: ['Null characters are not allowed.'] },
  });
});

test.each<[query: string, names: string[]]>([
  ['term=mil&language=de', ['Milchreis']],
  ['term=mil&language=en', ['Milk']],
  ['term=mil&language=xx', ['Milk']],
  ['term=mil&language=1', ['Milk']],
])('selects the language by the query %s', async (query, names) => {
  expect(await namesFound(query)).toEqual(names);
});

test('searches exercises in English when the language is empty', async () => {
  const search = async (query: string) => {
    const german = fitgraph.anonymous.withHeaders({ 'Accept-Language': 'de' });
    const { body } = await german.get(`/exercise/search/?term=bench${query}`);

    return body.suggestions.map(({ value }: { value: string }) => value);
  };

  expect(await search('')).toEqual([]);
  expect(await search('&language=')).toEqual(['Bench press']);
});

test('finds the same exercises with both search endpoints, and no pending ones', async () => {
  expect(await namesFound('term=e', 'exercise')).toEqual(['Bench press']);
  expect(await namesFound('term=E', 'exerciseinfo')).toEqual(['Bench press']);
  expect(await namesFound('term=accepted', 'exercise')).toEqual([]);
});

test('does not offer the suggestions of REST in GraphQL', async () => {
  const query =
    '{ exerciseSuggestions(term: "squat") { data { name } } ingredientSuggestions(term: "mil") { data { name } } }';
  const { body } = await fitgraph.anonymous.query(query);

  expect(body.errors.map(({ message }: { message: string }) => message)).toEqual([
    expect.stringMatching(/^Cannot query field "exerciseSuggestions" on type "Query"/),
    expect.stringMatching(/^Cannot query field "ingredientSuggestions" on type "Query"/),
  ]);
});

describe('a search without a language', () => {
  const of = async (accepted: string, who = fitgraph.anonymous) => {
    const { body } = await who
      .withHeaders({ 'Accept-Language': accepted })
      .get('/ingredient/search/?term=mil');

    return body.suggestions.map(({ value }: { value: string }) => value);
  };

  let german: Person;

  beforeAll(async () => {
    german = await fitgraph.user('gerda');
    await fitgraph.sql(
      `UPDATE "user_profile" SET "show_english_ingredients" = FALSE WHERE "user_id" = $1`,
      [german.id],
    );
  });

  test.each<[accepted: string, names: string[]]>([
    ['en', ['Milk']],
    ['de', ['Milchreis']],
    ['de-AT', ['Milchreis']],
    ['de_DE', ['Milchreis']],
    ['DE-1996, en;q=0.5', ['Milchreis']],
    ['en;q=0.5, de', ['Milchreis']],
    ['en;q=0.5,\t de ; q=0.7', ['Milchreis']],
    ['de;q=0, en', ['Milk']],
    ['de;q=0', ['Milk']],
    // Both quality values are invalid.
    ['de;q=2, de;q=x', ['Milk']],
    ['deutsch', ['Milk']],
    ['*', ['Milk']],
    // Languages other than English and German have few entries, so English names are included.
    ['fr', ['Milk', 'Millet']],
    ['fr, de', ['Milk', 'Millet']],
    ['xx, de', ['Milchreis']],
  ])('uses Accept-Language: %s', async (accepted, names) => {
    expect(await of(accepted)).toEqual(names);
    expect(await of(accepted, german)).toEqual(names);
  });

  test('includes English names when the user profile requests them', async () => {
    expect(await of('de', await fitgraph.user('hans'))).toEqual(['Milchreis', 'Milk']);
  });

  test.each<[name: string, header: (length: number) => string]>([
    ['many spaces', (length) => `de${' '.repeat(length)};q=x`],
    ['many languages', (length) => 'x,'.repeat(length / 2)],
    ['many subtags', (length) => 'a-'.repeat(length / 2)],
  ])('parses a long Accept-Language header in linear time: %s', async (_name, header) => {
    const read = async (share: number) =>
      expect(await of(header(14_000 * share))).toEqual(['Milk']);

    expect(await growth(read)).toBeLessThan(LINEAR);
  });
});

test.each<[rule: string, term: string, names: string[]]>([
  ['the Kelvin sign does not match K', '\u212aefi', []],
  ['the Kelvin sign matches itself', '25 \u212a', ['25 \u212a tea']],
  ['k does not match the Kelvin sign', '25 k', []],
  ['a dotted capital I does not match I', 'KEF\u0130', []],
  ['a dotless i does not match a dotted capital I', 'd\u0131l', []],
  ['a dotted capital I matches itself', 'D\u0130L', ['D\u0130L peyniri']],
  ['a dotless i matches i, because both have the capital I', 'kef\u0131', ['Kefir']],
  ['a capital \u00df does not match the small one', 'wei\u1e9e', []],
])('folds special letters: %s (%s)', async (_rule, term, names) => {
  expect(await namesFound(`term=${encodeURIComponent(term)}`)).toEqual(names);
});
