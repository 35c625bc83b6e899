/** Imports of foods: formats, rules, repetition, edits, and hostile files. */
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { zipSync } from 'fflate';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import {
  importFoods,
  type FoodImportReport,
  type Refusal,
} from '../../../src/transfer/catalogue/import-foods';
import { openSource } from '../../../src/transfer/catalogue/source';

const fitgraph = fitgraphForThisFile();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-foods-'));

afterAll(() => fs.rmSync(folder, { recursive: true }));

interface Options {
  languages?: string[];
  mapping?: string[];
  sourceName?: string;
  isComplete?: boolean;
  isDryRun?: boolean;
}

/** Imports a file and returns its report with the refusals. */
async function run(content: string | Uint8Array, options: Options = {}) {
  const file = path.join(folder, 'foods');

  fs.writeFileSync(file, content);
  return runBytes((await openSource(file)).bytes, options);
}

async function runBytes(bytes: AsyncIterable<Buffer>, options: Options = {}) {
  const refusals: Refusal[] = [];
  const report = await importFoods(bytes, fitgraph.database, {
    languages: ['en'],
    mapping: [],
    isComplete: false,
    isDryRun: false,
    reportProgress: () => undefined,
    reportRefusal: (refusal) => void refusals.push(refusal),
    ...options,
  });

  return { ...report, refusals };
}

const counts = ({ created, updated, unchanged, removed }: FoodImportReport) => ({
  created,
  updated,
  unchanged,
  removed,
});

const NUTRIMENTS = {
  'energy-kcal_100g': 539,
  proteins_100g: 6.3,
  carbohydrates_100g: 57.5,
  sugars_100g: 56.3,
  fat_100g: 30.9,
  'saturated-fat_100g': 10.6,
  salt_100g: 0.107,
};
const NUTELLA = {
  code: '3017620422003',
  lang: 'fr',
  product_name: 'Nutella pâte',
  product_name_en: 'Nutella',
  product_name_de: 'Nutella Creme',
  generic_name: 'Hazelnut spread',
  brands: 'Ferrero,Nutella',
  categories_tags: ['en:hazelnut-spreads'],
  nutriments: NUTRIMENTS,
  serving_size: '15 g',
  editors_tags: ['kiliweb'],
};
const lines = (...products: object[]) =>
  products.map((product) => JSON.stringify(product)).join('\n');

const byBarcode = async (code: string, language = 'en') =>
  (
    await fitgraph.anonymous.withHeaders({ 'Accept-Language': language }).ask(
      `query ($code: String!) { food: ingredientByBarcode(code: $code) { name energy protein carbohydrates sugar fat saturatedFat sodium brand commonName foodCategory
          sourceName licenseAuthor language { shortName } license { shortName } units { grams amount householdUnit { name } } } }`,
      { code },
    )
  ).food;

test('imports a product of Open Food Facts with its portion, author and licence', async () => {
  expect(counts(await run(lines(NUTELLA)))).toEqual({
    created: 1,
    updated: 0,
    unchanged: 0,
    removed: 0,
  });
  expect(await byBarcode('3017620422003')).toEqual({
    name: 'Nutella',
    energy: 539,
    protein: '6.300',
    carbohydrates: '57.500',
    sugar: '56.300',
    fat: '30.900',
    saturatedFat: '10.600',
    sodium: '0.043',
    brand: 'Ferrero',
    commonName: 'Hazelnut spread',
    foodCategory: 'hazelnut spreads',
    sourceName: 'Open Food Facts',
    licenseAuthor: 'kiliweb',
    language: { shortName: 'en' },
    license: { shortName: 'ODbL' },
    units: [{ grams: '15', amount: '1.00', householdUnit: { name: 'Portion' } }],
  });
});

test('reads HTML entities of names as characters', async () => {
  const juice = {
    ...NUTELLA,
    code: '4012345678901',
    product_name_en: '&quot;Jus d&#39;orange&quot; A&P &amp; Co',
  };

  await run(lines(juice));
  expect((await byBarcode(juice.code)).name).toBe('"Jus d\'orange" A&P & Co');
});

test('writes nothing twice, and only what has changed at the source', async () => {
  const before = await fitgraph.sql(
    `SELECT xmin, * FROM "ingredient" WHERE "code" = '3017620422003'`,
  );

  expect(counts(await run(lines(NUTELLA)))).toEqual({
    created: 0,
    updated: 0,
    unchanged: 1,
    removed: 0,
  });
  expect(
    await fitgraph.sql(`SELECT xmin, * FROM "ingredient" WHERE "code" = '3017620422003'`),
  ).toEqual(before);
  const changed = {
    ...NUTELLA,
    nutriments: { ...NUTRIMENTS, proteins_100g: 6.5 },
    serving_size: '20 g',
  };

  expect(counts(await run(lines(changed)))).toEqual({
    created: 0,
    updated: 1,
    unchanged: 0,
    removed: 0,
  });
  expect(await byBarcode('3017620422003')).toMatchObject({
    protein: '6.500',
    units: [{ grams: '20' }],
  });
});

test('gives a food another version if only its portion has changed at the source', async () => {
  const beans = { ...NUTELLA, code: '4000521006532', product_name_en: 'Beans' };
  const versionOf = async () =>
    (
      await fitgraph.anonymous.ask(
        `{ food: ingredientByBarcode(code: "${beans.code}") { version } }`,
      )
    ).food.version;

  await run(lines(beans));
  const version = await versionOf();

  await run(lines({ ...beans, serving_size: '20 g' }));
  expect(await versionOf()).not.toBe(version);
});

test('leaves foods unchanged that a person has edited here, and reports them', async () => {
  await fitgraph.sql(
    `UPDATE "ingredient" SET "name" = 'Nutella (jar)' WHERE "code" = '3017620422003'`,
  );
  const { kept, updated } = await run(lines(NUTELLA));

  expect([kept, updated]).toEqual([['3017620422003'], 0]);
  expect((await byBarcode('3017620422003')).name).toBe('Nutella (jar)');
});

test('prefers the languages in the order of preference', async () => {
  const milk = { ...NUTELLA, code: '4001234567891', product_name_en: undefined };

  expect((await run(lines(milk), { languages: ['en'] })).refusals).toMatchObject([
    { reason: 'nameless' },
  ]);
  await run(lines(milk), { languages: ['en', 'de'] });
  expect(await byBarcode('4001234567891')).toMatchObject({
    name: 'Nutella Creme',
    language: { shortName: 'de' },
  });
});

test.each([
  ['a wrong check digit', { code: '3017620422004' }, 'barcode'],
  ['a negative value', { nutriments: { ...NUTRIMENTS, fat_100g: -1 } }, 'negative'],
  ['more than 100 g in 100 g', { nutriments: { ...NUTRIMENTS, proteins_100g: 60 } }, 'excessive'],
  [
    'more saturated fat than fat',
    { nutriments: { ...NUTRIMENTS, 'saturated-fat_100g': 40 } },
    'part',
  ],
  ['more than 900 kcal', { nutriments: { ...NUTRIMENTS, 'energy-kcal_100g': 2255 } }, 'energy'],
  [
    'energy far from its nutrients',
    { nutriments: { ...NUTRIMENTS, 'energy-kcal_100g': 120 } },
    'energy',
  ],
  ['no fat', { nutriments: { ...NUTRIMENTS, fat_100g: undefined } }, 'incomplete'],
  ['no name', { product_name_en: ' ' }, 'nameless'],
])('refuses a food with %s', async (_what, change, reason) => {
  const { refusals, created } = await run(lines({ ...NUTELLA, code: '8076809513722', ...change }));

  expect([created, refusals]).toMatchObject([0, [{ number: 1, reason }]]);
});

test('converts kJ, accepts alcohol as a source of energy, and tolerates polyols', async () => {
  const wine = {
    ...NUTELLA,
    code: '4006381333931',
    product_name_en: 'Red wine',
    nutriments: {
      'energy-kj_100g': 355,
      proteins_100g: 0.1,
      carbohydrates_100g: 2.6,
      fat_100g: 0,
      alcohol_100g: 13,
    },
  };

  expect((await run(lines(wine))).created).toBe(1);
  expect((await byBarcode('4006381333931')).energy).toBe(85);
});

test('has one food for a barcode in any of its forms', async () => {
  const upc = { ...NUTELLA, code: '036000291452', product_name_en: 'Cereal' };
  const ean = { ...upc, code: '0036000291452', product_name_en: 'Cereal again' };

  expect(await run(lines(upc, ean, upc))).toMatchObject({
    created: 1,
    refusals: [
      { number: 2, reason: 'duplicate' },
      { number: 3, reason: 'duplicate' },
    ],
  });
  expect(await run(lines(upc, ean))).toMatchObject({ created: 0, unchanged: 1 });
});

test('makes a food of a dump with the same barcode one of the source', async () => {
  await fitgraph.sql(
    `INSERT INTO "ingredient" ("name", "code", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "license_id", "language_id", "status")
     VALUES ('Oats', '4000417025005', '2021-01-01', '2021-01-01', 1, 1, 1, 1, 1, 2, '2')`,
  );
  const oats = { ...NUTELLA, code: '4000417025005', product_name_en: 'Rolled oats' };

  expect(counts(await run(lines(oats)))).toMatchObject({ created: 0, updated: 1 });
  expect((await byBarcode('4000417025005')).name).toBe('Rolled oats');
});

test('imports foods of FoodData Central', async () => {
  const nutrient = (id: number, amount: number) => ({ nutrient: { id }, amount });
  const foods = {
    BrandedFoods: [
      {
        fdcId: 534358,
        description: 'NUT & BERRY MIX',
        gtinUpc: '077034085228',
        brandOwner: 'JBSS',
        brandedFoodCategory: 'Popcorn, Peanuts, Seeds',
        foodNutrients: [
          nutrient(1008, 500),
          nutrient(1003, 17.86),
          nutrient(1005, 35.71),
          nutrient(1004, 32.14),
          nutrient(1093, 42),
        ],
        servingSize: 28,
        servingSizeUnit: 'g',
        householdServingFullText: '0.25 cup',
      },
    ],
    more: 1,
  };

  expect((await run(JSON.stringify(foods))).created).toBe(1);
  expect(await byBarcode('077034085228')).toMatchObject({
    name: 'NUT & BERRY MIX',
    energy: 500,
    sodium: '0.042',
    sourceName: 'FoodData Central',
    license: { shortName: 'CC0' },
    units: [{ grams: '112', amount: '1.00', householdUnit: { name: 'Cup' } }],
  });
});

test('takes the first of several portions of FoodData Central with the same unit', async () => {
  const portions = [
    { amount: 1, modifier: 'cup, chopped', gramWeight: 91 },
    { amount: 1, modifier: 'cup, sliced', gramWeight: 70 },
  ];
  const foods = Array.from({ length: 40 }, (_, index) => ({
    fdcId: 900_000 + index,
    description: `Vegetable ${index}`,
    foodNutrients: [
      ...[1008, 1003, 1005, 1004].map((id) => ({ nutrient: { id }, amount: id === 1008 ? 17 : 1 })),
    ],
    foodPortions: index % 2 ? portions : portions.toReversed(),
  }));
  const gramsOf = () =>
    fitgraph.sql(
      `SELECT i."name", u."gram" FROM "ingredient" i JOIN "ingredient_unit" u ON u."ingredient_id" = i."id" WHERE i."name" LIKE 'Vegetable %' ORDER BY i."source_id"`,
    );

  await run(JSON.stringify({ SRLegacyFoods: foods }));
  const grams = await gramsOf();

  expect(grams).toEqual(
    foods.map(({ description }, index) => ({ name: description, gram: index % 2 ? 91 : 70 })),
  );
});

describe('a table of one’s own', () => {
  const table =
    'Barcode;Lebensmittel;kcal;Eiweiß;Kohlenhydrate;Fett;Hinweis\n;"Quark; mager";67;12,0;4,0;0,2;x\n';

  test('needs the name of a source', async () => {
    await expect(run(table)).rejects.toThrow('--source');
  });

  test('is mapped by the names of its columns', async () => {
    expect(await run(table, { sourceName: 'Kantine', languages: ['de'] })).toMatchObject({
      created: 1,
      sourceName: 'Kantine',
    });
    const [row] = await fitgraph.sql(`SELECT * FROM "ingredient" WHERE "source_name" = 'Kantine'`);

    expect(row).toMatchObject({ name: 'Quark; mager', energy: 67, protein: '12.000', code: null });
  });

  test('is mapped by --map, which must name a field and a column', async () => {
    const other = 'Bezeichnung,kcal,Protein,Carbs,Fat\nSkyr,63,11,4,0.2\n';

    await expect(run(other, { sourceName: 'A' })).rejects.toThrow('no column for the name');
    await expect(run(other, { sourceName: 'A', mapping: ['nam=kcal'] })).rejects.toThrow(
      'the fields are',
    );
    await expect(run(other, { sourceName: 'A', mapping: ['name=Name'] })).rejects.toThrow(
      'no column "Name"',
    );
    expect(await run(other, { sourceName: 'A', mapping: ['name=Bezeichnung'] })).toMatchObject({
      created: 1,
    });
  });
});

test('deletes foods that are gone at the source, unless somebody uses or has edited them', async () => {
  const sourceName = 'Menu';
  const header = 'name,kcal,protein,carbs,fat\n';
  const row = (name: string) => `${name},100,10,10,2\n`;
  const all = header + ['Soup', 'Salad', 'Stew', 'Cake'].map(row).join('');

  await run(all, { sourceName });
  const ann = await fitgraph.user('ann');
  const [{ id }] = (await fitgraph.sql(`SELECT "id" FROM "ingredient" WHERE "name" = 'Salad'`)) as [
    { id: number },
  ];
  const plan = await ann.post('/nutritionplan/', { description: 'A plan' });

  await ann.post('/nutritiondiary/', { plan: plan.body.id, ingredient: id, amount: '100' });
  await fitgraph.sql(`UPDATE "ingredient" SET "energy" = 101 WHERE "name" = 'Stew'`);
  const left = header + row('Cake');

  expect(await run(left, { sourceName })).toMatchObject({ removed: 0 });
  expect(await run(left, { sourceName, isComplete: true })).toMatchObject({ removed: 1 });
  const names = await fitgraph.sql(
    `SELECT "name" FROM "ingredient" WHERE "source_name" = 'Menu' ORDER BY "name"`,
  );

  expect(names.map(({ name }) => name)).toEqual(['Cake', 'Salad', 'Stew']);
});

test('writes nothing in a dry run', async () => {
  const product = { ...NUTELLA, code: '5449000000996', product_name_en: 'Dry' };

  expect(await run(lines(product), { isDryRun: true })).toMatchObject({ created: 1 });
  expect(await byBarcode('5449000000996')).toBeNull();
});

test.each([
  ['gzip', zlib.gzipSync(lines({ ...NUTELLA, code: '96385074', product_name_en: 'Small' }))],
  [
    'zip',
    zipSync({
      'readme.md': Buffer.from('#'),
      'foods.jsonl': Buffer.from(
        lines({ ...NUTELLA, code: '73513537', product_name_en: 'Zipped' }),
      ),
    }),
  ],
])('reads %s', async (_name, content) => {
  expect(await run(content)).toMatchObject({ created: 1 });
});

test('reads zstd where Node.js has it', async () => {
  const content = Buffer.from(lines({ ...NUTELLA, code: '40170725', product_name_en: 'Zstd' }));
  // A frame with one block that is stored without compression (RFC 8878).
  const header = Buffer.alloc(10);

  header.writeUInt32LE(0xfd2fb528);
  header[4] = 0b0110_0000;
  header.writeUInt16LE(content.length - 256, 5);
  header.writeUIntLE((content.length << 3) | 1, 7, 3);
  const result = run(Buffer.concat([header, content]));

  if ('createZstdDecompress' in zlib) expect(await result).toMatchObject({ created: 1 });
  else await expect(result).rejects.toThrow('zstd needs Node.js 22.15 or newer');
});

describe('hostile files', () => {
  test.each<[what: string, content: () => string | Uint8Array, message: string]>([
    ['a line of 9 MB', () => `{"code":"${'1'.repeat(9 * 1024 ** 2)}"}`, 'longer than 8 MB'],
    ['a bomb in gzip', () => zlib.gzipSync(Buffer.alloc(64 * 1024 ** 2, '1')), 'longer than 8 MB'],
    [
      'a bomb in a zip',
      () => zipSync({ 'a.csv': new Uint8Array(64 * 1024 ** 2).fill(49) }),
      'longer than 8 MB',
    ],
    [
      'empty lines without end',
      () => zlib.gzipSync(Buffer.alloc(2 * 1024 ** 2, '\n')),
      'empty lines',
    ],
    ['a truncated gzip', () => zlib.gzipSync(lines(NUTELLA)).subarray(0, 100), 'cannot be read'],
    ['a truncated array', () => '{"BrandedFoods": [{"fdcId": 1', 'truncated'],
    ['ten million columns', () => `name${',x'.repeat(1e7)}\n`, 'longer than 8 MB'],
    ['a million columns', () => `name${',x'.repeat(1e6)}\n`, 'columns'],
    ['no content', () => '', 'empty'],
    [
      'bytes of a program',
      () => fs.readFileSync(process.execPath).subarray(0, 10_000),
      'neither JSON nor a table',
    ],
    ['an archive without data', () => zipSync({ 'a.md': Buffer.from('#') }), 'no JSON, CSV or TSV'],
  ])('%s gets one line and leaves nothing', async (_what, content, message) => {
    const counts = () =>
      fitgraph.sql(
        `SELECT (SELECT count(*) FROM "ingredient") AS "foods", (SELECT count(*) FROM "refused_food") AS "refused",
            (SELECT count(*) FROM pg_class) AS "tables"`,
      );
    const before = await counts();

    await expect(run(content())).rejects.toThrow(message);
    expect(await counts()).toEqual(before);
  });

  test('a line of 1 GB is read up to its limit', async () => {
    const megabyte = Buffer.alloc(1024 ** 2, '1');
    let megabytes = 0;

    function* endless() {
      yield Buffer.from('{"code": "');
      for (; megabytes < 1024; megabytes += 1) yield megabyte;
    }

    await expect(runBytes(Readable.from(endless()))).rejects.toThrow('longer than 8 MB');
    expect(megabytes).toBeLessThan(32);
  });

  test('with wrong bytes, broken JSON and nested arrays only these records are refused', async () => {
    const good = JSON.stringify({ ...NUTELLA, code: '4088600000008', product_name_en: 'Good' });
    const content = Buffer.concat([
      Buffer.from(`${good}\n{"code": \n${'['.repeat(1e6)}\n[]\n"text"\n{"code":"`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}\n'),
    ]);

    expect(await run(content)).toMatchObject({
      read: 6,
      refused: new Map([['unreadable', 5]]),
    });
  });
});

test('reads the files that an index lists, the newest first', async () => {
  const product = (name: string) =>
    zlib.gzipSync(lines({ ...NUTELLA, code: '4000417025005', product_name_en: name }));
  const files: Record<string, string | Buffer> = {
    '/delta/index.txt': 'products_1.json.gz\nproducts_2.json.gz\n',
    '/delta/products_1.json.gz': product('Of yesterday'),
    '/delta/products_2.json.gz': product('Of today'),
  };
  const server = http.createServer(({ url }, response) => response.end(files[url!]));

  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;

  try {
    const { bytes } = await openSource(`http://localhost:${port}/delta/index.txt`);
    const { refusals } = await runBytes(bytes);

    expect(refusals.map(({ reason, food }) => [reason, food!.name])).toEqual([
      ['duplicate', 'Of yesterday'],
    ]);
    expect(await byBarcode('4000417025005')).toMatchObject({ name: 'Of today' });
  } finally {
    server.close();
  }
});

test('a barcode that was refused is found with the reason, until an import accepts it', async () => {
  const refusedFood = async (code: string) =>
    (
      await fitgraph.anonymous.ask(
        'query ($code: String!) { refusedFood(code: $code) { name sourceName reason refusedAt } }',
        { code },
      )
    ).refusedFood;
  const product = { ...NUTELLA, code: '5901234123457', product_name_en: 'Impossible' };
  const impossible = { ...product, nutriments: { ...NUTRIMENTS, fat_100g: 130 } };

  await run(lines(impossible));
  expect(await refusedFood('590-1234-123457')).toEqual({
    name: 'Impossible',
    sourceName: 'Open Food Facts',
    reason: 'EXCESSIVE',
    refusedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  expect(await refusedFood('4006381333931')).toBeNull();
  expect(await run(lines(product))).toMatchObject({ created: 1 });
  expect(await refusedFood('5901234123457')).toBeNull();

  const { errors } = await fitgraph.anonymous.query(
    `{ refusedFood(code: "${'1'.repeat(201)}") { name } }`,
  );

  expect(errors![0]!.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
});

describe('contributions and corrections', () => {
  const code = '5000159407236';
  const bar = lines({ ...NUTELLA, code, product_name_en: 'Chocolate bar' });
  const columnsOf = (columns: string, condition: string) =>
    fitgraph.sql(`SELECT ${columns} FROM "ingredient" WHERE ${condition} ORDER BY "id"`);

  test.each([
    ['pending', '"status" = \'1\''],
    ['declined', '"status" = \'3\''],
    ['retired', '"is_retired" = true'],
  ])('a %s food with the barcode is not the imported one', async (_state, update) => {
    const [own] = (await fitgraph.sql(
      `INSERT INTO "ingredient" ("name", "code", "creation_date", "update_date", "energy", "protein", "carbohydrates", "fat", "language_id", "status")
        VALUES ('Own bar', '${code}', current_date, current_date, 1, 1, 1, 1, 2, '2') RETURNING "id"`,
    )) as [{ id: number }];

    await fitgraph.sql(`UPDATE "ingredient" SET ${update} WHERE "id" = ${own.id}`);
    expect(await run(bar)).toMatchObject({ created: 1, updated: 0 });
    expect(await columnsOf('"name", "source_id"', `"id" = ${own.id}`)).toEqual([
      { name: 'Own bar', source_id: null },
    ]);
    expect(await byBarcode(code)).toMatchObject({ name: 'Chocolate bar' });
    await fitgraph.sql(`DELETE FROM "ingredient" WHERE "code" = '${code}'`);
  });

  test('a portion that was deleted from an edited food stays deleted', async () => {
    await run(bar);
    await fitgraph.sql(`UPDATE "ingredient" SET "energy" = 540 WHERE "code" = '${code}';
      DELETE FROM "ingredient_unit" WHERE "ingredient_id" = (SELECT "id" FROM "ingredient" WHERE "code" = '${code}')`);
    expect(await run(bar)).toMatchObject({ kept: [code] });
    expect(await byBarcode(code)).toMatchObject({ energy: 540, units: [] });
  });
});

test('a dry run of a complete file counts what is gone', async () => {
  const table = (...names: string[]) =>
    ['name,kcal,protein,carbs,fat', ...names.map((name) => `${name},100,10,10,2`)].join('\n');
  const options = { sourceName: 'Dry menu', isComplete: true, isDryRun: true };

  await run(table('Bread', 'Butter', 'Jam'), { sourceName: 'Dry menu' });
  expect(await run(table('Bread', 'Butter', 'Bread'), options)).toMatchObject({
    unchanged: 2,
    removed: 1,
    refused: new Map([['duplicate', 1]]),
  });
  expect(await run(table('Bread', 'Butter', 'Jam'), options)).toMatchObject({ removed: 0 });
});

test('keeps a gone food that somebody begins to use meanwhile', async () => {
  const sourceName = 'Busy menu';
  const header = 'name,kcal,protein,carbs,fat\n';
  const names = Array.from({ length: 40 }, (_, index) => `Busy food ${index}`);

  await run(header + names.map((name) => `${name},100,10,10,2\n`).join(''), { sourceName });
  const foods = (await fitgraph.sql(
    `SELECT "id" FROM "ingredient" WHERE "source_name" = '${sourceName}' ORDER BY "id"`,
  )) as { id: number }[];
  const ben = await fitgraph.user('ben');
  const plan = await ben.post('/nutritionplan/', { description: 'A plan' });
  const used: number[] = [];

  const use = async () => {
    for (const { id } of foods) {
      const { status } = await ben.post('/nutritiondiary/', {
        plan: plan.body.id,
        ingredient: id,
        amount: '100',
      });

      if (status === 201) used.push(id);
    }
  };

  const remove = run(`${header}Another food,100,10,10,2\n`, { sourceName, isComplete: true });
  const [, { removed }] = await Promise.all([use(), remove]);
  const { body } = await ben.get('/nutritiondiary/?limit=100');

  expect(body.results.map(({ ingredient }: { ingredient: number }) => ingredient).sort()).toEqual(
    used.sort(),
  );
  expect(removed + used.length).toBe(foods.length);
});

test('broken records of FoodData Central are refused one by one', async () => {
  const broken = [
    { fdcId: 1, description: 'Bread', foodNutrients: 7 },
    { fdcId: 1, description: 'Bread', foodNutrients: [null] },
    { fdcId: 1, description: 'Bread', foodPortions: 'x' },
    { fdcId: { toString: 1 }, description: 'Bread' },
    { fdcId: '1'.repeat(300), description: 'Bread' },
    { fdcId: 2, description: 'Br\0ead' },
  ];
  const { read, refused } = await run(JSON.stringify({ FoundationFoods: broken }));

  expect(read).toBe(6);
  expect(refused).toEqual(
    new Map([
      ['unreadable', 5],
      ['incomplete', 1],
    ]),
  );
});

test('a long code without a check digit and a NUL in a table are refused', async () => {
  // A NUL among the first bytes would mean that the file is no table.
  const header = 'name,ean,kcal,protein,carbs,fat'.padEnd(300_000, '\n');
  const table = `${header}Tea,${'1'.repeat(300)},1,1,1,1\nWine,,1,1,1,1\0\nMilk,,60,3,5,3\n`;

  expect(await run(table, { sourceName: 'Odd' })).toMatchObject({
    created: 1,
    refused: new Map([['unreadable', 2]]),
  });
});

test('half a surrogate pair is refused, and a whole one is stored', async () => {
  const product = (code: string, name: string) =>
    JSON.stringify({ ...NUTELLA, code, product_name_en: 'NAME' }).replace('NAME', name);
  const names = ['Half \\ud83d', 'Half \\udf4e', 'Whole \\ud83c\\udf4e'];
  const codes = ['5449000000439', '5449000054227', '5449000131805'];

  expect(
    await run(names.map((name, index) => product(codes[index]!, name)).join('\n')),
  ).toMatchObject({ created: 1, refused: new Map([['unreadable', 2]]) });
  expect((await byBarcode('5449000131805')).name).toBe('Whole 🍎');
});

test('a zip that is cut off is rejected', async () => {
  const rows = Array.from(
    { length: 20_000 },
    (_, index) => `Food ${index},100,10,10,${index % 9}\n`,
  );
  const content = zipSync({
    'foods.csv': Buffer.from(`name,kcal,protein,carbs,fat\n${rows.join('')}`),
  });

  await expect(run(content.subarray(0, content.length / 2), { sourceName: 'Cut' })).rejects.toThrow(
    'cannot be read',
  );
});

test.each(['gzip', 'plain'])('a connection that breaks while %s arrives is named', async (kind) => {
  const content = Buffer.from(lines(NUTELLA).padEnd(100_000, '\n'));
  const body = kind === 'gzip' ? zlib.gzipSync(content, { level: 0 }) : content;
  const server = http.createServer((_request, response) => {
    response.writeHead(200, { 'Content-Length': body.length });
    response.write(body.subarray(0, body.length / 2), () =>
      setTimeout(() => response.destroy(), 100),
    );
  });

  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;

  try {
    const { bytes } = await openSource(`http://localhost:${port}/foods.jsonl`);

    await expect(runBytes(bytes)).rejects.toThrow(
      /foods\.jsonl cannot be read: .*(?:closed|reset)/i,
    );
  } finally {
    server.close();
  }
});

test('imports change the recipes of their foods, and keep these foods', async () => {
  const curator = await fitgraph.user('cook', { isCurator: true });
  const sourceName = 'Kitchen';
  const table = (...rows: string[]) => ['name,kcal,protein,carbs,fat', ...rows].join('\n');
  const rice = (energy: number) => `Rice,${energy},7,77,1`;

  await run(table(rice(350), 'Water,0,0,0,0', 'Salt,0,0,0,0'), { sourceName });
  const idOf = async (name: string) =>
    (
      await fitgraph.sql('SELECT "id" FROM "ingredient" WHERE "name" = $1 AND "source_name" = $2', [
        name,
        sourceName,
      ])
    )[0]!.id;
  const parts = [
    { ingredientId: await idOf('Rice'), grams: '100' },
    { ingredientId: await idOf('Water'), grams: '150' },
  ];
  const { made } = await curator.ask(
    `mutation ($parts: [RecipePartOfRecipeInput!]!) {
      made: createRecipe(input: { name: "Boiled rice", languageId: 2, parts: $parts }) { ingredient { id energy } } }`,
    { parts },
  );

  expect(made.ingredient.energy).toBe(140);
  await run(table(rice(360), 'Water,0,0,0,0'), { sourceName });
  const { ingredient } = await curator.ask(`{ ingredient(id: ${made.ingredient.id}) { energy } }`);

  expect(ingredient.energy).toBe(144);
  expect(await run(table('Pepper,250,10,60,3'), { sourceName, isComplete: true })).toMatchObject({
    created: 1,
    removed: 1,
  });
});
