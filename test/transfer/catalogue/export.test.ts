/** An export contains the catalogue, and another Fitgraph imports it with nothing lost. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import sharp from 'sharp';
import { readExercises } from '../../../src/transfer/catalogue/exercise-files';
import { exportCatalogue } from '../../../src/transfer/catalogue/export';
import { importExercises } from '../../../src/transfer/catalogue/import-exercises';
import { importFoods } from '../../../src/transfer/catalogue/import-foods';
import { importExerciseImages } from '../../../src/transfer/catalogue/import-images';
import type { SourceExercise } from '../../../src/transfer/catalogue/exercise';
import { openSource } from '../../../src/transfer/catalogue/source';
import { FolderStore } from '../../../src/files/folder-store';
import { Media } from '../../../src/files/media';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-export-'));
const file = path.join(folder, 'catalogue.jsonl');
let other: Fitgraph;

beforeAll(async () => {
  other = await Fitgraph.start();
});
afterAll(async () => {
  await other.stop();
  fs.rmSync(folder, { recursive: true });
});

const mediaOf = ({ mediaFolder }: Fitgraph) => new Media(new FolderStore(mediaFolder));

interface Line {
  food?: { sourceName: string; sourceId: string; name: string };
  exercise?: { uuid: string; variation?: string; images: string[] };
}

async function exportOf(server: Fitgraph): Promise<Line[]> {
  const lines: Line[] = [];

  await exportCatalogue(server.database, {
    async readImage(name) {
      const bytes = await mediaOf(server).files.read(name);

      return bytes && `data:image/png;base64,${bytes.toString('base64')}`;
    },
    output: new Writable({
      write(line, _encoding, done) {
        lines.push(JSON.parse(line));
        done();
      },
    }),
  });

  return lines;
}

async function importInto(server: Fitgraph, content: string) {
  fs.writeFileSync(file, content);
  const refused: string[] = [];
  const foods = await importFoods((await openSource(file)).bytes, server.database, {
    languages: ['en'],
    mapping: [],
    isComplete: false,
    isDryRun: false,
    reportProgress: () => undefined,
    reportRefusal: ({ number, reason }) => void refused.push(`${number} ${reason}`),
  });

  return { foods, refused };
}

const importImages = (server: Fitgraph, imported: Parameters<typeof importExerciseImages>[0]) =>
  importExerciseImages(
    imported,
    { session: server.database.createSession(), media: mediaOf(server) },
    () => undefined,
  );

async function importExercisesInto(server: Fitgraph, content: string) {
  fs.writeFileSync(file, content);
  const exercises = await readExercises(file);
  const report = (await importExercises(exercises, server.database, [], () =>
    Promise.resolve(true),
  ))!;

  return { report, images: await importImages(server, report.imported) };
}

const textOf = (lines: readonly Line[]) => lines.map((line) => JSON.stringify(line)).join('\n');

/** Sorted, and without the ids of groups of variations. */
const comparable = (lines: readonly Line[]) =>
  lines
    .map(({ food, exercise }) =>
      JSON.stringify(food ?? { ...exercise, variation: exercise!.variation && 'some' }),
    )
    .sort();

const PRODUCT = {
  code: '4006381333931',
  lang: 'de',
  product_name_de: 'Müsli "Krokant"',
  nutriments: {
    'energy-kcal_100g': 380,
    proteins_100g: 10,
    carbohydrates_100g: 60,
    fat_100g: 10,
  },
  serving_size: '40 g',
};

test('an export has all accepted foods and exercises, which another Fitgraph imports', async () => {
  fs.writeFileSync(file, JSON.stringify(PRODUCT));
  await importFoods((await openSource(file)).bytes, fitgraph.database, {
    languages: ['de'],
    mapping: [],
    isComplete: false,
    isDryRun: false,
    reportProgress: () => undefined,
    reportRefusal: () => undefined,
  });
  const picture = path.join(folder, 'picture.png');

  await sharp({ create: { width: 20, height: 10, channels: 3, background: 'red' } }).toFile(
    picture,
  );
  const image = `data:image/png;base64,${fs.readFileSync(picture).toString('base64')}`;
  const entry = {
    id: 'Sled_Row',
    name: 'Sled Row',
    equipment: 'sled',
    primaryMuscles: ['lats'],
    secondaryMuscles: ['biceps'],
    instructions: ['Row.'],
    images: [],
  };
  const { report } = await importExercisesInto(fitgraph, JSON.stringify([entry]));

  const [{ exercise, id }] = report.imported as [(typeof report.imported)[number]];

  await importImages(fitgraph, [{ exercise: { ...exercise, images: [image] }, id }]);
  const lines = await exportOf(fitgraph);
  const content = textOf(lines);
  const [{ foods: foodCount, exercises: exerciseCount }] = (await fitgraph.sql(
    `SELECT (SELECT count(*)::int FROM "ingredient" WHERE "status" = '2') AS "foods",
      (SELECT count(DISTINCT "exercise_base_id")::int FROM "exercise" WHERE "status" = '2') AS "exercises"`,
  )) as [{ foods: number; exercises: number }];

  expect(lines.filter(({ food }) => food)).toHaveLength(foodCount);
  expect(lines.filter(({ exercise }) => exercise)).toHaveLength(exerciseCount);
  expect(lines.find(({ exercise }) => exercise?.images.length)?.exercise).toMatchObject({
    source: 'free-exercise-db',
    images: [expect.stringMatching(/^data:image\/png;base64,/)],
  });

  // Both have the same foods and exercises from the beginning, which are not doubled.
  const exercises = await importExercisesInto(other, content);

  expect(exercises).toMatchObject({
    report: { created: 1, updated: 0, unchanged: exerciseCount - 1 },
    images: { stored: 1, problems: [] },
  });
  const { foods, refused } = await importInto(other, content);

  expect([refused, foods.created, foods.updated]).toEqual([[], 1, 0]);
  expect(comparable(await exportOf(other))).toEqual(comparable(lines));

  for (const server of [fitgraph, other]) {
    expect((await importInto(server, content)).foods).toMatchObject({
      created: 0,
      updated: 0,
      unchanged: foodCount,
    });
    expect(await importExercisesInto(server, content)).toMatchObject({
      report: { created: 0, updated: 0, unchanged: exerciseCount },
      images: { stored: 0 },
    });
  }
});

test('lines that no export contains are refused, or named', async () => {
  const [good] = (await exportOf(fitgraph)).flatMap(({ food }) => food ?? []);
  const bad = [
    { ...good, sourceId: 7 },
    { ...good, nutrients: { energy: 1e9, protein: 1, carbohydrates: 1, fat: 1 } },
    { ...good, portions: 'none' },
    { ...good, license: null },
    { ...good, language: 'zz' },
  ];
  const { refused } = await importInto(other, textOf(bad.map((food) => ({ food }) as Line)));

  expect(refused).toEqual([...[1, 2, 3, 4].map((number) => `${number} unreadable`), '5 nameless']);
  await expect(
    importExercisesInto(other, JSON.stringify({ exercise: { source: 'here' } })),
  ).rejects.toThrow('Record 1 is not an exercise of an export.');
  await expect(importExercisesInto(other, '[{"id": "x"}]')).rejects.toThrow(
    'Record 1 is not an exercise of free-exercise-db.',
  );
});

test('fields that no export has are ignored', async () => {
  const [good] = (await exportOf(fitgraph)).flatMap(({ food }) => food ?? []);
  const others = { number: 'x', outcome: 'created', licenseName: 'nope', energy: 1e10 };
  const food = { ...others, ...good!, sourceId: 'others', name: 'Other fields', code: undefined };

  expect(await importInto(other, textOf([{ food }]))).toMatchObject({
    foods: { created: 1 },
    refused: [],
  });
});

test('the longest names, portions and images of the catalogue are imported', async () => {
  const lines = await exportOf(fitgraph);
  const [food] = lines.flatMap((line) => line.food ?? []);
  const [exercise] = lines.flatMap((line) => line.exercise ?? []);
  const long = {
    ...food!,
    sourceId: 'long',
    code: undefined,
    name: '🍎'.repeat(200),
    portions: [{ unit: 'Cup', language: 'en', amount: 999.99, grams: 1 }],
  };
  const images = [`data:image/png;base64,${'A'.repeat(9 * 1024 ** 2)}`];
  const content = textOf([{ exercise: { ...exercise!, images } }, { food: long }]);

  expect(await importInto(other, content)).toMatchObject({ foods: { created: 1 }, refused: [] });
  expect(await importExercisesInto(other, content)).toMatchObject({ report: { created: 0 } });
  expect((await exportOf(other)).flatMap((line) => line.food ?? [])).toContainEqual(
    JSON.parse(JSON.stringify(long)),
  );
});

test('a recipe stays one, unless its parts are missing or no plain foods', async () => {
  const curator = await fitgraph.user('cook', { isCurator: true });
  const create = async (name: string, energy: number) =>
    (
      await curator.ask(
        `mutation { made: createIngredient(input: { name: "${name}", languageId: 2, energy: ${energy}, protein: "7", carbohydrates: "77", fat: "1" }) { ingredient { id } } }`,
      )
    ).made.ingredient.id as string;
  const [rice, oil] = [await create('Rice of the export', 350), await create('Oil of it', 880)];

  await curator.ask(
    `mutation { createRecipe(input: { name: "Fried rice", languageId: 2, portions: 4, parts: [{ ingredientId: ${rice}, grams: "300" }, { ingredientId: ${oil}, grams: "100.5" }] }) { errors { message } } }`,
  );
  const recipeIn = async (server: Fitgraph) =>
    (
      await server.anonymous.ask(
        `{ ingredients(where: { name: { eq: "Fried rice" } }) { nodes { energy parts { grams ingredient { name energy } } units { portions grams } } } }`,
      )
    ).ingredients.nodes;
  const before = await recipeIn(fitgraph);

  expect(before).toMatchObject([
    { energy: 483, parts: [{ grams: '300.00' }, {}], units: [{ portions: 4, grams: '100' }] },
  ]);
  const lines = await exportOf(fitgraph);
  const fried = lines.find(({ food }) => food?.name === 'Fried rice')!.food!;
  const parts = (key: string, ...sourceIds: string[]) => ({
    food: {
      ...fried,
      sourceId: key,
      name: `Fried ${key}`,
      parts: sourceIds.map((sourceId) => ({ sourceName: 'Fitgraph', sourceId, grams: 1 })),
    },
  });

  expect((await importInto(other, textOf(lines))).foods).toMatchObject({ created: 3 });
  expect(await recipeIn(other)).toEqual(before);
  expect((await importInto(other, textOf(lines))).foods).toMatchObject({ created: 0, updated: 0 });
  expect((await importInto(fitgraph, textOf(lines))).foods).toMatchObject({ updated: 0 });

  await importInto(other, textOf([parts('one', 'two'), parts('two', 'one'), parts('three', 'no')]));
  const plain = await other.sql(
    `SELECT count(*)::int AS "foods", count(p)::int AS "recipes" FROM "ingredient" i
      LEFT JOIN "recipe_part" p ON p."recipe_id" = i."id" WHERE i."source_id" IN ('one', 'two', 'three')`,
  );

  expect(plain).toEqual([{ foods: 3, recipes: 0 }]);
  await other.sql(`UPDATE "ingredient" SET "energy" = 450 WHERE "name" = 'Rice of the export'`);
  expect((await recipeIn(other))[0].energy).toBe(558);
});

test('images that cannot be fetched or are none are named, and the others are stored', async () => {
  const [exercise] = (await exportOf(fitgraph)).flatMap((line) => line.exercise ?? []);
  const [{ id }] = (await fitgraph.sql(
    'SELECT max("id") AS "id" FROM "exercise_base" b WHERE NOT EXISTS (SELECT FROM "exercise_image" WHERE "exercise_base_id" = b."id")',
  )) as [{ id: number }];

  const images = ['data:image/png;base64,aGVsbG8=', 'http://localhost:1025/a.png', 'nonsense'];
  const withImages = { ...(exercise as unknown as SourceExercise), images };

  expect(await importImages(fitgraph, [{ exercise: withImages, id }])).toEqual({
    stored: 0,
    problems: [
      expect.stringMatching(/^an image of the export: Upload a valid image/),
      expect.stringMatching(/^http:\/\/localhost:1025\/a\.png: .*ECONNREFUSED/),
      expect.stringMatching(/^nonsense: /),
    ],
  });
});
