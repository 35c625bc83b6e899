/** Imports of exercises: from free-exercise-db, from a service, and again. */
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { readExercises } from '../../../src/transfer/catalogue/exercise-files';
import {
  importExercises,
  type ExerciseImportPlan,
} from '../../../src/transfer/catalogue/import-exercises';
import { fitgraphForThisFile } from '../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-exercises-'));

afterAll(() => fs.rmSync(folder, { recursive: true }));

async function importFrom(location: string, mapping: string[] = []) {
  let plan: ExerciseImportPlan | undefined;
  const report = await importExercises(
    await readExercises(location),
    fitgraph.database,
    mapping,
    (found) => {
      plan = found;

      return Promise.resolve(true);
    },
  );

  return { plan: plan!, report };
}

function importEntries(entries: object[], mapping?: string[]) {
  const file = path.join(folder, 'exercises.json');

  fs.writeFileSync(file, JSON.stringify(entries));
  return importFrom(file, mapping);
}

const ENTRY = {
  id: 'Romanian_Deadlift',
  name: 'Romanian Deadlift',
  force: 'pull',
  level: 'intermediate',
  mechanic: 'compound',
  equipment: 'barbell',
  primaryMuscles: ['hamstrings'],
  secondaryMuscles: ['lower back', 'neck'],
  instructions: ['Hold the bar < at the hips.', 'Lower it & rise.'],
  category: 'strength',
  images: [],
};

const exerciseNamed = async (name: string) =>
  (
    await fitgraph.anonymous.ask(
      `query ($name: String!) { exercises(where: { translations: { some: { name: { eq: $name } } } }) { nodes { id category { name } muscles { name } musclesSecondary { name }
        equipment { name } license { shortName } translations { name description aliases language { shortName } comments { comment } } } } }`,
      { name },
    )
  ).exercises.nodes;

test('imports exercises of free-exercise-db by the plain names of their muscles', async () => {
  const { plan, report } = await importEntries([ENTRY], ['neck=Trapezius']);

  expect(report).toMatchObject({ created: 1, updated: 0, unchanged: 0, kept: [] });
  expect(plan.terms.map(({ name, catalogueName }) => [name, catalogueName])).toEqual([
    ['hamstrings', 'Biceps femoris'],
    ['lower back', 'Erector spinae'],
    ['neck', 'Trapezius'],
    ['barbell', 'Barbell'],
    ['Legs', 'Legs'],
  ]);
  expect(await exerciseNamed('Romanian Deadlift')).toMatchObject([
    {
      category: { name: 'Legs' },
      muscles: [{ name: 'Biceps femoris' }],
      musclesSecondary: [{ name: 'Erector spinae' }, { name: 'Trapezius' }],
      equipment: [{ name: 'Barbell' }],
      license: { shortName: 'CC0' },
      translations: [
        {
          description:
            '<ol><li>Hold the bar &lt; at the hips.</li><li>Lower it &amp; rise.</li></ol>',
          aliases: '',
          language: { shortName: 'en' },
          comments: [
            { comment: 'Category: strength, Level: intermediate, Force: pull, Mechanic: compound' },
          ],
        },
      ],
    },
  ]);
});

test('writes nothing twice, and what has changed at the source', async () => {
  const again = await importEntries([ENTRY], ['neck=Trapezius']);

  expect(again.report).toMatchObject({ created: 0, updated: 0, unchanged: 1, kept: [] });
  const changed = { ...ENTRY, name: 'Romanian Dead Lift', primaryMuscles: ['glutes'] };
  const { report } = await importEntries([changed], ['neck=Trapezius']);

  expect(report).toMatchObject({ created: 0, updated: 1, unchanged: 0, kept: [] });
  expect(await exerciseNamed('Romanian Dead Lift')).toMatchObject([
    { muscles: [{ name: 'Gluteus maximus' }] },
  ]);
});

test('leaves exercises unchanged that a person has edited here', async () => {
  await fitgraph.sql(`UPDATE "exercise" SET "aliases" = 'RDL' WHERE "name" = 'Romanian Dead Lift'`);
  const { report } = await importEntries([ENTRY], ['neck=Trapezius']);

  expect(report).toMatchObject({ updated: 0, kept: ['Romanian Deadlift'] });
});

test('names an edited exercise only if it differs from the source', async () => {
  const entry = { ...ENTRY, id: 'edited', name: 'Zercher carry' };

  await importEntries([entry], ['neck=Trapezius']);
  await fitgraph.sql(
    `UPDATE "exercise" SET "aliases" = 'Carry' WHERE "name" = 'Zercher carry'; UPDATE "exercise" SET "aliases" = '' WHERE "name" = 'Zercher carry'`,
  );
  expect((await importEntries([entry], ['neck=Trapezius'])).report).toMatchObject({
    unchanged: 1,
    kept: [],
  });
});

test('a pending exercise of a user is not the imported one', async () => {
  const ann = await fitgraph.user('ann');

  await ann.ask(
    `mutation { createExercise(input: { categoryId: 1, translations: [{ languageId: 2, name: "Sled drag backwards", description: "Lean back, and pull the sled step by step." }] }) { exercise { id } } }`,
  );
  const entry = { ...ENTRY, id: 'sled', name: 'Sled drag backwards' };
  const { report } = await importEntries([entry], ['neck=Trapezius']);

  expect(report).toMatchObject({ created: 1, updated: 0 });
  expect(await exerciseNamed('Sled drag backwards')).toHaveLength(1);
});

test('finds an exercise by an alias', async () => {
  for (const list of ['exercises', 'exerciseTranslations']) {
    const { found } = await fitgraph.anonymous.ask(
      `{ found: ${list}(where: { name: { search: "rdl" } }) { nodes { name } } }`,
    );

    expect(found.nodes).toEqual([{ name: 'Romanian Dead Lift' }]);
  }
});

test('completes an exercise of the catalogue with a similar name instead of doubling it', async () => {
  const entries = [
    { ...ENTRY, id: 'a', name: 'Bench-Press' },
    { ...ENTRY, id: 'b', name: 'bench press' },
  ];

  const { plan, report } = await importEntries(entries, ['neck=Trapezius']);

  expect(plan.exercises).toMatchObject([{ foundBy: 'likeness' }, {}]);
  expect(report).toMatchObject({ created: 1, updated: 1 });
  expect((await importEntries(entries, ['neck=Trapezius'])).report).toMatchObject({ unchanged: 2 });

  expect((await exerciseNamed('Bench press'))[0].translations[0]).toMatchObject({
    name: 'Bench press',
    aliases: 'Bench-Press',
  });
});

test('keeps exercises of one source apart whose names are similar', async () => {
  const first = { ...ENTRY, id: 'close', name: 'Close grip pulldown' };
  const second = { ...ENTRY, id: 'close-2', name: 'Close-grip pulldown' };

  await importEntries([first], ['neck=Trapezius']);
  expect((await importEntries([first, second], ['neck=Trapezius'])).report).toMatchObject({
    created: 1,
    unchanged: 1,
  });
  expect((await importEntries([first, second], ['neck=Trapezius'])).report).toMatchObject({
    unchanged: 2,
  });
});

test('creates a muscle of any name, and leaves out exercises without a name', async () => {
  const entry = { ...ENTRY, id: 'odd', name: 'Odd lift', primaryMuscles: ['constructor'] };
  const { report } = await importEntries([entry, { ...ENTRY, id: 'nameless', name: ' ' }]);

  expect(report).toMatchObject({ created: 1 });
  expect(await exerciseNamed('Odd lift')).toMatchObject([{ muscles: [{ name: 'Constructor' }] }]);
});

test('takes the last one of exercises with the same id', async () => {
  const { report } = await importEntries([
    { ...ENTRY, id: 'twice', name: 'Carry of a log' },
    { ...ENTRY, id: 'twice', name: 'Carry of two logs' },
  ]);

  expect(report).toMatchObject({ created: 1 });
  expect(await exerciseNamed('Carry of two logs')).toHaveLength(1);
});

test('creates nothing that is not confirmed', async () => {
  const file = path.join(folder, 'other.json');

  fs.writeFileSync(file, JSON.stringify([{ ...ENTRY, id: 'new', name: 'Something else' }]));
  const exercises = await readExercises(file);

  expect(
    await importExercises(exercises, fitgraph.database, [], () => Promise.resolve(false)),
  ).toBeUndefined();
  expect(await exerciseNamed('Something else')).toEqual([]);
});

test.each([
  ['[{"name": 1}]', 'is not an exercise'],
  ['[{"name": 1', 'truncated'],
  ['{}', 'Record 1 is not an exercise of an export'],
])('rejects the file %s', async (content, message) => {
  const file = path.join(folder, 'bad.json');

  fs.writeFileSync(file, content);
  await expect(readExercises(file)).rejects.toThrow(message);
});

/** Four of them fit beside a short one. */
const LONG_ALIASES = Array.from({ length: 9 }, (_, index) => `${index}`.padEnd(200, 'x'));

describe('a running service', () => {
  let service: http.Server;
  let address: string;
  let broken: string;
  const category = { id: 1, name: 'Legs' };
  const shared = {
    category,
    muscles: [{ id: 1, name: 'Biceps femoris' }],
    muscles_secondary: [],
    equipment: [],
    license: { full_name: 'CC', short_name: 'CC-BY-SA 4', url: null },
    license_author: 'someone',
    images: [],
  };
  const pages: Record<string, (base: string) => object> = {
    '/api/v2/language/?limit=100': () => ({ next: null, results: [{ id: 7, short_name: 'de' }] }),
    '/api/v2/exerciseinfo/?limit=100': (base) => ({
      next: `${base}/api/v2/exerciseinfo/?limit=100&offset=100`,
      results: [
        {
          ...shared,
          id: 1,
          uuid: '0f1b1e4e-6a51-4b54-9a35-8a3b7d9e0001',
          name: 'Leg curl of old',
          description: '<p>Curl.</p>',
          language: { id: 2, short_name: 'en' },
          comments: [{ comment: 'Slowly.' }],
        },
      ],
    }),
    '/api/v2/exerciseinfo/?limit=100&offset=100': () => ({
      next: null,
      results: [
        {
          ...shared,
          id: 2,
          uuid: '0f1b1e4e-6a51-4b54-9a35-8a3b7d9e0002',
          translations: [
            {
              uuid: '0f1b1e4e-6a51-4b54-9a35-8a3b7d9e0003',
              name: 'Beinbeuger von heute',
              description: '<p>Beugen.</p>',
              language: 7,
              aliases: [{ alias: 'Legcurl' }, ...LONG_ALIASES.map((alias) => ({ alias }))],
              notes: [{ comment: 'Langsam.' }],
            },
          ],
        },
      ],
    }),
  };

  beforeAll(async () => {
    service = http.createServer(({ url }, response) => {
      const page = pages[url!];

      if (url!.startsWith('/broken/')) return void response.end(broken);
      if (!page) return void response.writeHead(404).end();
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify(page('http://inner.example')));
    });
    await new Promise<void>((resolve) => service.listen(0, resolve));
    address = `http://localhost:${(service.address() as AddressInfo).port}/`;
  });
  afterAll(() => service.close());

  test('is read page by page, in the forms of version 2.0 and of newer ones', async () => {
    const { report } = await importFrom(address);

    expect(report).toMatchObject({ created: 2 });
    expect(await exerciseNamed('Leg curl of old')).toMatchObject([
      { translations: [{ comments: [{ comment: 'Slowly.' }] }] },
    ]);
    expect(await exerciseNamed('Beinbeuger von heute')).toMatchObject([
      {
        translations: [
          {
            language: { shortName: 'de' },
            aliases: ['Legcurl', ...LONG_ALIASES.slice(0, 4)].join('\n'),
          },
        ],
      },
    ]);
    expect((await importFrom(address)).report).toMatchObject({
      created: 0,
      updated: 0,
      unchanged: 2,
      kept: [],
    });
  });

  test('writes nothing twice of long comments, unknown languages and two translations in one', async () => {
    const uuid = (digit: number) => `0f1b1e4e-6a51-4b54-9a35-8a3b7d9e10${digit}0`;
    const translation = (digit: number, name: string, language = 7) => ({
      uuid: uuid(digit),
      name,
      description: '',
      language,
      notes: [{ comment: 'x'.repeat(300) }, { comment: '' }],
    });
    const row = (id: number, variations: number | null, ...translations: object[]) => ({
      ...shared,
      id: 10 + id,
      uuid: uuid(id),
      // The page of languages is the same one.
      short_name: 'de',
      variations,
      translations,
    });
    const language = { ...row(7, null, translation(7, 'Siebte')), id: 7 };

    const answer = (...rows: object[]) => {
      broken = JSON.stringify({ next: null, results: [language, ...rows] });
    };

    const first = row(
      1,
      5,
      translation(1, 'Erste'),
      translation(2, 'Auch erste'),
      translation(3, 'Primera', 99),
    );

    answer(first, row(4, null, translation(4, 'Desconocida', 99)));
    expect((await importFrom(`${address}broken/`)).report).toMatchObject({ created: 2 });
    expect((await importFrom(`${address}broken/`)).report).toMatchObject({
      created: 0,
      updated: 0,
      unchanged: 2,
    });

    answer(
      { ...first, license_author: 'another one' },
      row(5, 5, translation(5, 'Zweite der Gruppe')),
    );
    expect((await importFrom(`${address}broken/`)).report).toMatchObject({
      created: 1,
      updated: 1,
    });
    const rows = await fitgraph.sql(
      `SELECT count(*)::int AS "exercises", count(DISTINCT "variation_id")::int AS "groups", min("license_author") AS "author"
        FROM "exercise_base" WHERE "source_name" = '${new URL(address).host}' AND "variation_id" IS NOT NULL`,
    );

    expect(rows).toEqual([{ exercises: 2, groups: 1, author: 'another one' }]);
  });

  test('completes one translation by two of its language, and writes nothing twice', async () => {
    const uuid = (digit: number) => `0f1b1e4e-6a51-4b54-9a35-8a3b7d9e20${digit}0`;
    const translation = (digit: number, name: string) => ({
      uuid: uuid(digit),
      name,
      description: '',
      language: 7,
    });
    const results = [
      { id: 7, short_name: 'de', ...shared, uuid: uuid(7), translations: [] },
      {
        ...shared,
        id: 30,
        short_name: 'de',
        uuid: uuid(1),
        translations: [translation(1, 'Waldlauf bergauf'), translation(2, 'Berglauf')],
      },
    ];

    await fitgraph.sql(
      `WITH b AS (INSERT INTO "exercise_base" ("uuid", "category_id", "status") VALUES (gen_random_uuid(), 1, '2') RETURNING "id")
        INSERT INTO "exercise" ("uuid", "name", "description", "language_id", "exercise_base_id", "status")
          SELECT gen_random_uuid(), 'Waldlauf bergauf', '', l."id", b."id", '2' FROM b, "language" l WHERE l."short_name" = 'de'`,
    );
    broken = JSON.stringify({ next: null, results });
    expect((await importFrom(`${address}broken/`)).report).toMatchObject({ updated: 1 });
    expect(await exerciseNamed('Waldlauf bergauf')).toMatchObject([
      { translations: [{ aliases: 'Berglauf' }] },
    ]);
    expect((await importFrom(`${address}broken/`)).report).toMatchObject({ unchanged: 1 });
  });

  test.each([
    ['<html>', 'is not valid JSON'],
    ['[]', 'is not a page of a service'],
    ['{"next": null, "results": [{"id": "7", "short_name": "de"}]}', 'is not a page of a service'],
    ['{"next": 7, "results": []}', 'is not a page of a service'],
    [' '.repeat(17 * 1024 ** 2), 'larger than 16 MB'],
  ])('is rejected if it answers without a page (%#)', async (body, message) => {
    broken = body;
    await expect(readExercises(`${address}broken/`)).rejects.toThrow(message);
  });

  test.each([
    { category: null },
    { muscles: [null] },
    { license: { full_name: 'CC', short_name: 'CC', url: 1 } },
    { translations: [{ uuid: 'x', name: 'n', description: '', language: 7 }] },
    { uuid: '0f1b1e4e-6a51-4b54-9a35-8a3b7d9e0001', name: 'without a language' },
  ])('is rejected if an exercise has %j', async (fields) => {
    broken = JSON.stringify({
      next: null,
      // The page of languages is the same one.
      results: [{ id: 7, short_name: 'de', ...shared, ...fields }],
    });
    await expect(readExercises(`${address}broken/`)).rejects.toThrow(
      /exerciseinfo\/\?limit=100 is not a page of a service of version 2.0 or newer/,
    );
  });

  test('that does not answer is named with its status', async () => {
    await expect(readExercises(`${address}elsewhere/`)).rejects.toThrow('status 404');
    await expect(readExercises('http://localhost:1025/')).rejects.toThrow('ECONNREFUSED');
  });
});
