/**
 * Dump files: rows are found regardless of the text around them and of the places where chunks end.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DumpFile } from '../../src/transfer/dump-file';
import { JsonArraySplitter } from '../../src/transfer/json-array';
import { importDumpRows } from '../../src/transfer/importer';
import { fitgraphForThisFile } from '../setup/fitgraph';

const fitgraph = fitgraphForThisFile();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fitgraph-dumps-'));
const file = path.join(folder, 'dump.json');

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

const LIST = '[ {"a": "]},{[\\"\\\\"}, [1, [2]] ,3,"Möhre, \\u005d 🥕" , null\n]\n';

test.each([1, 2, 3, 7, 1000])(
  'splits a JSON array into its elements when chunks have %d bytes',
  (size) => {
    const bytes = Buffer.from(LIST);
    const elements = new JsonArraySplitter();
    const found = [];

    for (let at = 0; at < bytes.length; at += size) {
      found.push(...elements.push(bytes.subarray(at, at + size)));
    }

    expect(elements.isComplete).toBe(true);
    expect(found.map(({ text }) => JSON.parse(text))).toEqual(JSON.parse(LIST));
    for (const { start, end, text } of found) expect(bytes.toString('utf8', start, end)).toBe(text);
  },
);

test.each([
  ['', /dump\.json is not valid JSON: the file is truncated/],
  ['[', /dump\.json is not valid JSON: the file is truncated/],
  ['{}', /must contain a JSON array/],
  ['[{}', /is not valid JSON/],
  ['[1,]', /Row 1 is not of the form/],
  ['[,]', /is not valid JSON/],
  ['[}]', /is not valid JSON/],
  ['[] []', /is not valid JSON: unexpected data after/],
  ['["]', /is not valid JSON/],
])('rejects a file with the content %j', async (content, message) => {
  fs.writeFileSync(file, content);
  await expect(DumpFile.open(file)).rejects.toThrow(message);
});

test('skips a byte order mark', async () => {
  const row = { model: 'weight.weightentry', pk: 1, fields: {} };

  fs.writeFileSync(file, `\uFEFF${JSON.stringify([row])}`);
  const found = [];

  for await (const foundRow of (await DumpFile.open(file)).rowsOf(row.model)) found.push(foundRow);

  expect(found).toEqual([row]);
  const splitter = new JsonArraySplitter();

  for (const byte of fs.readFileSync(file)) Array.from(splitter.push(Buffer.from([byte])));

  expect(splitter.isComplete).toBe(true);
});

test('names all unknown models in one error', async () => {
  const rows = ['gym.gym', 'core.language', 'gym.gym', 'mailer.log'].map((model, index) => ({
    model,
    pk: index + 1,
    fields: {},
  }));

  fs.writeFileSync(file, JSON.stringify(rows));
  await expect(DumpFile.open(file)).rejects.toThrow(
    'The dump contains the unknown models "gym.gym" (row 1), "mailer.log" (row 4). Export only the models that docs/migrating.md lists, from wger 2.0.',
  );

  fs.writeFileSync(
    file,
    JSON.stringify(Array.from({ length: 60 }, (_, n) => ({ model: `a.b${n}`, fields: {} }))),
  );
  await expect(DumpFile.open(file)).rejects.toThrow(/"a\.b49" \(row 50\), and 10 more\. /);
});

test('finds no rows in an empty list', async () => {
  fs.writeFileSync(file, ' [ ] ');
  expect((await DumpFile.open(file)).rowCountByModel.size).toBe(0);
});

test('finds rows whose model name contains JSON escapes', async () => {
  const row = (model: string, pk: number) =>
    `{"model": "${model}", "pk": ${pk}, "fields": {"note": "weight.weightentry"}}`;

  fs.writeFileSync(
    file,
    `[${row('manager.workout', 1)}, ${row('weight\\u002eweightentr\\u0079', 2)}, ${row('weight.weightentry', 3)}]`,
  );
  const found = [];

  for await (const { pk } of (await DumpFile.open(file)).rowsOf('weight.weightentry')) {
    found.push(pk);
  }

  expect(found).toEqual([2, 3]);
});

test('imports thousands of interleaved rows of several models unchanged', async () => {
  const ann = await fitgraph.user('ann');
  const rows: { model: string; pk: number; fields: Record<string, unknown> }[] = [];
  const comment = (number: number) => `tab\t line\n \\N \\. "${number}" Möhre`;
  const day = (number: number) => new Date(Date.UTC(2000, 0, number)).toISOString().slice(0, 10);

  for (let number = 1; number <= 3_000; number += 1) {
    rows.push({
      model: 'weight.weightentry',
      pk: number,
      fields: { user: ann.id, date: day(number), weight: '80.50' },
    });

    // Training days precede the workouts to which they belong.
    if (number % 3 === 0) {
      rows.push({
        model: 'manager.day',
        pk: number,
        fields: { training: number, description: comment(number), day: [1, 2] },
      });
      rows.push({
        model: 'manager.workout',
        pk: number,
        fields: { creation_date: day(number), comment: comment(number), user: ann.id },
      });
    }
  }

  fs.writeFileSync(file, JSON.stringify(rows));
  const counts = await importDumpRows(await DumpFile.open(file), fitgraph.database, {
    tokenVault: fitgraph.tokenVault,
  });

  expect(Object.fromEntries(counts)).toEqual({
    'weight.weightentry': 3_000,
    'manager.day': 1_000,
    'manager.workout': 1_000,
  });
  const days = await fitgraph.sql(
    'SELECT "id", "workout_id", "user_id", "description" FROM "training_day" ORDER BY "id"',
  );

  expect(days).toEqual(
    rows
      .filter(({ model }) => model === 'manager.day')
      .map(({ pk, fields }) => ({
        id: pk,
        workout_id: pk,
        user_id: ann.id,
        description: fields.description,
      })),
  );
  expect(
    await fitgraph.sql(
      'SELECT count(*)::int AS n, count(DISTINCT "user_id")::int AS o FROM "training_day_weekday"',
    ),
  ).toEqual([{ n: 2_000, o: 1 }]);
  expect((await ann.get('/weightentry/?limit=1')).body.count).toBe(3_000);
});
