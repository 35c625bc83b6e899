/** Ingredients by barcode. */
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { messagesByPath } from '../../setup/input-errors';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
const ENGLISH = 2;
const GERMAN = 1;
const [PENDING, ACCEPTED] = ['1', '2'];

const add = (name: string, code: string, language = ENGLISH, status = ACCEPTED) =>
  fitgraph.sql(
    `INSERT INTO "ingredient" ("name", "code", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
     VALUES ($1, $2, '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, $3, $4)`,
    [name, code, language, status],
  );

let german: Person;

beforeAll(async () => {
  await add('Oats', '4006381333931');
  await add('Haferflocken', '4006381333931', GERMAN);
  await add('Cola', '0049000006346');
  await add('Crackers', '041220576463');
  await add('Without barcode', '');
  await add('Mints', '96385074');
  await add('From our bakery', '12-A');
  await add('Not reviewed', '5449000000996', ENGLISH, PENDING);
  german = fitgraph.anonymous.withHeaders({ 'Accept-Language': 'de' });
});

const FIND = 'query ($code: String!) { ingredientByBarcode(code: $code) { name code languageId } }';
const nameByBarcode = async (code: string, person = fitgraph.anonymous) =>
  (await person.ask(FIND, { code })).ingredientByBarcode?.name;

test.each([
  ['as stored', '0049000006346', 'Cola'],
  ['with surrounding blanks', ' 0049000006346 ', 'Cola'],
  ['UPC-A for a stored EAN-13', '049000006346', 'Cola'],
  ['EAN-13 for a stored UPC-A', '0041220576463', 'Crackers'],
  ['GTIN-14 for a stored EAN-13', '04006381333931', 'Oats'],
  ['GTIN-14 for a stored UPC-A', '00041220576463', 'Crackers'],
  ['GTIN-14 for a stored EAN-8', '00000096385074', 'Mints'],
  ['with blanks as printed', '4 006381 333931', 'Oats'],
  ['with hyphens', '0-41220-57646-3', 'Crackers'],
  ['no GTIN, as stored', '12-A', 'From our bakery'],
  ['none for zeros only', '0000000000000', undefined],
  ['the first stored row of several languages', '4006381333931', 'Oats'],
  ['none for a part of a barcode', '400638133393', undefined],
  ['none for an unreviewed ingredient', '5449000000996', undefined],
  ['none for an empty text', '', undefined],
  ['none for blanks', '  ', undefined],
])('finds an ingredient by barcode: %s (%s)', async (_what, code, name) => {
  expect(await nameByBarcode(code)).toBe(name);
});

test('prefers the ingredient in the language of the request', async () => {
  expect(await nameByBarcode('4006381333931', german)).toBe('Haferflocken');
});

test('rejects an invalid barcode and names the argument', async () => {
  const long = await fitgraph.anonymous.query(FIND, { code: '1'.repeat(201) });

  expect(long.errors).toMatchObject([
    {
      extensions: {
        code: 'BAD_USER_INPUT',
        inputErrors: [{ path: ['code'], message: expect.stringContaining('200') }],
      },
    },
  ]);
  const nul = await fitgraph.anonymous.query(FIND, { code: '1\0' });

  expect(nul.errors).toMatchObject([
    {
      extensions: {
        code: 'BAD_USER_INPUT',
        inputErrors: [{ path: ['code'], message: 'Null characters are not allowed.' }],
      },
    },
  ]);
});

test('needs two statements and has an index on the barcode', async () => {
  // No earlier request has this header, so no response to it is kept.
  const client = fitgraph.anonymous.withHeaders({ 'Accept-Language': 'fr' });
  const { statements } = await client.query(FIND, { code: '0049000006346' });

  expect(statements).toBe(2);
  const indexes = await fitgraph.sql(
    `SELECT "indexdef" FROM "pg_indexes" WHERE "indexname" = 'ingredient_code'`,
  );

  expect(indexes).toMatchObject([{ indexdef: expect.stringContaining('(code)') }]);
});

test('rejects a negative amount and names the argument', async () => {
  const { data, errors } = await fitgraph.anonymous.query(
    '{ ingredients(first: 1) { nodes { zero: valuesOf(amount: "0") { energy } less: valuesOf(amount: "-0.01") { energy } } } }',
  );

  expect(data.ingredients.nodes).toEqual([{ zero: { energy: '0.00' }, less: null }]);
  expect(errors).toMatchObject([
    {
      extensions: {
        code: 'BAD_USER_INPUT',
        inputErrors: [
          { path: ['amount'], message: 'Ensure this value is greater than or equal to 0.' },
        ],
      },
    },
  ]);
});

test('returns and compares the grams of household units as decimals', async () => {
  const document = `query ($grams: DecimalFilter!) {
    ingredientUnits(where: { grams: $grams }, orderBy: [{ grams: DESC }]) { nodes { grams } } }`;
  const gramsWhere = async (grams: object) =>
    (await fitgraph.anonymous.ask(document, { grams })).ingredientUnits.nodes;

  expect(await gramsWhere({ gt: '101.5' })).toEqual([{ grams: '103' }, { grams: '102' }]);
  expect(await gramsWhere({ eq: '101' })).toEqual([{ grams: '101' }]);
  expect(await gramsWhere({ eq: '101.5' })).toEqual([]);
});

test('rejects the unit of another ingredient and names the argument', async () => {
  const { errors } = await fitgraph.anonymous.query(
    '{ ingredient(id: 1) { valuesOf(amount: "1", unitId: 2) { energy } } }',
  );

  expect(Object.keys(messagesByPath(errors![0]!))).toEqual(['unitId']);
});
