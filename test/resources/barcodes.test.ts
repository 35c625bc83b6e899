/** Ingredients by barcode. */
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';

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
  ['the first stored row of several languages', '4006381333931', 'Oats'],
  ['none for a part of a barcode', '400638133393', undefined],
  ['none for an unreviewed ingredient', '5449000000996', undefined],
  ['none for an empty text', '', undefined],
])('finds an ingredient by barcode: %s (%s)', async (_what, code, name) => {
  expect(await nameByBarcode(code)).toBe(name);
});

test('prefers the ingredient in the language of the request', async () => {
  expect(await nameByBarcode('4006381333931', german)).toBe('Haferflocken');
});

test('rejects an invalid barcode and names the argument', async () => {
  const long = await fitgraph.anonymous.query(FIND, { code: '1'.repeat(201) });
  expect(long.errors).toMatchObject([
    { extensions: { code: 'BAD_USER_INPUT', fields: { code: [expect.stringContaining('200')] } } },
  ]);
  const nul = await fitgraph.anonymous.query(FIND, { code: '1\0' });
  expect(nul.errors).toMatchObject([
    {
      extensions: {
        code: 'BAD_USER_INPUT',
        fields: { code: ['Null characters are not allowed.'] },
      },
    },
  ]);
});

test('needs two statements and has an index on the barcode', async () => {
  const { statements } = await fitgraph.anonymous.query(FIND, { code: '0049000006346' });
  expect(statements).toBe(2);
  const indexes = await fitgraph.sql(
    `SELECT "indexdef" FROM "pg_indexes" WHERE "indexname" = 'ingredient_code'`,
  );
  expect(indexes).toMatchObject([{ indexdef: expect.stringContaining('(code)') }]);
});
