/** Foods by their barcodes. */
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
  german = fitgraph.anyone.sending({ 'Accept-Language': 'de' });
});

const FIND = 'query ($code: String!) { ingredientByBarcode(code: $code) { name code languageId } }';
const found = async (code: string, person = fitgraph.anyone) => (await person.ask(FIND, { code })).ingredientByBarcode?.name;

test.each([
  ['as it is stored', '0049000006346', 'Cola'],
  ['between blanks', ' 0049000006346 ', 'Cola'],
  ['a UPC-A that is stored as EAN-13', '049000006346', 'Cola'],
  ['an EAN-13 that is stored as UPC-A', '0041220576463', 'Crackers'],
  ['of several languages, the first one stored', '4006381333931', 'Oats'],
  ['part of one', '400638133393', undefined],
  ['one that has not passed the review', '5449000000996', undefined],
  ['none', '', undefined],
])('%s: %s', async (_what, code, name) => {
  expect(await found(code)).toBe(name);
});

test('of several the one in the language that is preferred', async () => {
  expect(await found('4006381333931', german)).toBe('Haferflocken');
});

test('a text that is no barcode is an error that names the argument', async () => {
  const long = await fitgraph.anyone.query(FIND, { code: '1'.repeat(201) });
  expect(long.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', fields: { code: [expect.stringContaining('200')] } } }]);
  const nul = await fitgraph.anyone.query(FIND, { code: '1\0' });
  expect(nul.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', fields: { code: ['Null characters are not allowed.'] } } }]);
});

test('it takes two statements, and there is an index', async () => {
  const { statements } = await fitgraph.anyone.query(FIND, { code: '0049000006346' });
  expect(statements).toBe(2);
  const indexes = await fitgraph.sql(`SELECT "indexdef" FROM "pg_indexes" WHERE "indexname" = 'ingredient_code'`);
  expect(indexes).toMatchObject([{ indexdef: expect.stringContaining('(code)') }]);
});
