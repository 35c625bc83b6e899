/** Charts of lists: the newest values, all masses in one chart and a line per exercise. */
import { addDays } from '../../../seeders/dates';
import { TIME_ZONE } from '../../setup/databases';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { todayIn } from '../../../src/engine/declare/clock';
import type { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile();
const daysAgo = (days: number) => addDays(todayIn(TIME_ZONE), -days);

const chartsOf = async (person: Person, path: string): Promise<string[]> => {
  const { text } = await person.withHeaders({ Accept: 'text/html' }).get(path);

  return [...text.matchAll(/role="img" aria-label="([^"]*)"/g)].map(([, label]) => label!);
};

it('draws weights in the preferred unit, of the last 90 days unless `days` asks for more', async () => {
  const ann = await fitgraph.user('ann');

  for (const [date, weight] of [
    ['2024-01-01', '90'],
    [daysAgo(90), '85'],
    [daysAgo(89), '82'],
    [daysAgo(10), '81'],
    [daysAgo(2), '80'],
  ]) {
    await ann.post('/weightentry/', { date, weight });
  }

  expect(await chartsOf(ann, '/weightentry/?limit=1')).toEqual([
    `Weight in kg. 3 values from ${daysAgo(89)} to ${daysAgo(2)}, between 80 and 82 kg.`,
  ]);
  expect(await chartsOf(ann, '/weightentry/?days=365')).toEqual([
    `Weight in kg. 4 values from ${daysAgo(90)} to ${daysAgo(2)}, between 80 and 85 kg.`,
  ]);
  expect(await chartsOf(ann, '/weightentry/?days=0')).toEqual([
    `Weight in kg. 5 values from 2024-01-01 to ${daysAgo(2)}, between 80 and 90 kg.`,
  ]);
  expect(await chartsOf(ann, `/weightentry/?days=365&date=${daysAgo(2)}`)).toEqual([]);
  const [profile] = (await ann.get('/userprofile/')).body.results;

  expect((await ann.patch(`/userprofile/${profile.id}/`, { weight_unit: 'lb' })).status).toBe(200);
  expect(await chartsOf(ann, '/weightentry/?days=0')).toEqual([
    `Weight in lb. 5 values from 2024-01-01 to ${daysAgo(2)}, between 176.37 and 198.42 lb.`,
  ]);
  // Existing entries keep their unit; new entries get the new unit. The chart has both.
  await ann.post('/weightentry/', { date: daysAgo(1), weight: '178' });
  expect(await chartsOf(ann, '/weightentry/?days=0')).toEqual([
    `Weight in lb. 6 values from 2024-01-01 to ${daysAgo(1)}, between 176.37 and 198.42 lb.`,
  ]);
  await ann.patch(`/userprofile/${profile.id}/`, { weight_unit: 'kg' });
  expect(await chartsOf(ann, '/weightentry/?days=0')).toEqual([
    `Weight in kg. 6 values from 2024-01-01 to ${daysAgo(1)}, between 80 and 90 kg.`,
  ]);
});

/** Extracts the text of the section with charts, including the choice of the period. */
const chartSectionOf = async (person: Person, path: string): Promise<string | undefined> => {
  const { text } = await person.withHeaders({ Accept: 'text/html' }).get(path);
  const section = /<section aria-label="Charts">(.*?)<\/section>/s.exec(text)?.[1];

  return section?.replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, ' ').replaceAll(/\s+/g, ' ');
};

it('says that a period without rows has no chart, and offers the others', async () => {
  const person = await fitgraph.user('former');
  const log = (date: string) => person.post('/weightentry/', { date, weight: '80' });

  await log('2024-01-01');
  expect(await chartSectionOf(person, '/weightentry/?days=0')).toBeUndefined();
  await log('2024-01-02');

  for (const [query, sentence] of [
    ['', 'No rows in the last 90 days. 90 days 1 year All'],
    ['?days=365', 'No rows in the last year. 90 days 1 year All'],
  ]) {
    expect(await chartSectionOf(person, `/weightentry/${query}`)).toContain(sentence);
  }

  await log(daysAgo(0));
  expect(await chartSectionOf(person, '/weightentry/')).toContain(
    'Nothing to draw in the last 90 days.',
  );
  expect(await chartsOf(person, '/weightentry/?days=0')).toEqual([
    `Weight in kg. 3 values from 2024-01-01 to ${daysAgo(0)}, between 80 and 80 kg.`,
  ]);
});

it('says how many of the oldest rows are not drawn, and ignores rows of the future', async () => {
  const person = await fitgraph.user('busy');
  const { id: workout } = (await person.post('/workout/', { comment: 'Daily' })).body;
  const logSets = (first: string, days: number, setsPerDay: number) =>
    fitgraph.sql(
      `INSERT INTO "workout_log" ("user_id", "workout_id", "exercise_id", "reps", "weight", "date", "repetition_unit_id", "weight_unit_id")
       SELECT $1, $2, 1, 5, 50 + day, $3::date + day, 1, 1
       FROM generate_series(0, ${days - 1}) day, generate_series(1, ${setsPerDay})`,
      [person.id, workout, first],
    );

  await logSets(daysAgo(89), 90, 12);
  await logSets(daysAgo(-1), 30, 50);
  const complete = await chartSectionOf(person, '/workoutlog/');

  expect(complete).toContain('Rows dated after today, which are not drawn: 1500');
  expect(complete).not.toContain('oldest');
  await logSets(daysAgo(89), 90, 1);
  expect(await chartSectionOf(person, '/workoutlog/')).toContain(
    'The oldest 90 of 1,170 rows are not drawn. Filter the list, or download all rows as CSV .',
  );
  expect((await chartsOf(person, '/workoutlog/'))[0]).toContain(
    `from ${daysAgo(83)} to ${daysAgo(0)}`,
  );
});

it('shows the weight unit of the user in the form', async () => {
  const gil = await fitgraph.user('gil');
  const page = gil.withHeaders({ Accept: 'text/html' });

  expect((await page.get('/weightentry/')).text).toContain(
    'Between 30 and 600 kg, up to 2 decimal places.',
  );
  const [profile] = (await gil.get('/userprofile/')).body.results;

  await gil.patch(`/userprofile/${profile.id}/`, { weight_unit: 'lb' });
  expect((await page.get('/weightentry/')).text).toContain('Between 30 and 600 lb');
});

it('draws a chart of all masses and one per other unit, with a line per exercise', async () => {
  const bob = await fitgraph.user('bob');
  const { id: workout } = (await bob.post('/workout/', { comment: 'Push' })).body;
  const log = (exercise: number, date: string, weight: string, weight_unit = 1) =>
    bob.post('/workoutlog/', { workout, exercise, date, weight, weight_unit, reps: 5 });

  await log(1, '2025-01-01', '50');
  await log(1, '2025-01-01', '60');
  await log(1, '2025-01-08', '65');
  await log(1, '2025-01-08', '140', 2);
  await log(2, '2025-01-01', '40');
  await log(2, '2025-01-01', '6', 4);
  await log(2, '2025-01-08', '7', 4);
  expect((await chartsOf(bob, '/workoutlog/?days=0')).sort()).toEqual([
    'Weight in Plates. 2 values of Bench press from 2025-01-01 to 2025-01-08, between 6 and 7 Plates.',
    'Weight in kg. 3 values of Squat, Bench press from 2025-01-01 to 2025-01-08, between 40 and 65 kg.',
  ]);
  expect(await chartsOf(bob, '/workoutlog/?exercise=1&days=0')).toEqual([
    'Weight in kg. 2 values of Squat from 2025-01-01 to 2025-01-08, between 60 and 65 kg.',
  ]);
});

it('draws masses that are added to the body weight in the preferred unit, apart from others', async () => {
  const person = await fitgraph.user('dips');
  const { id: workout } = (await person.post('/workout/', { comment: 'Dips' })).body;
  const page = person.withHeaders({ Accept: 'text/html' });

  for (const [date, weight, weight_unit, massUnit] of [
    ['2025-01-01', '20', 3, 'kg'],
    ['2025-01-08', '45', 3, 'lb'],
    ['2025-01-01', '80', 1, null],
    ['2025-01-08', '85', 1, null],
  ]) {
    const log = { workout, exercise: 1, date, weight, weight_unit, reps: 5 };
    const { id } = (await person.post('/workoutlog/', log)).body;

    if (massUnit) {
      await fitgraph.sql(`UPDATE "workout_log" SET "mass_unit" = $1 WHERE "id" = $2`, [
        massUnit,
        id,
      ]);
    }
  }

  expect((await chartsOf(person, '/workoutlog/?days=0')).sort()).toEqual([
    'Weight in kg added to Body Weight. 2 values of Squat from 2025-01-01 to 2025-01-08, between 20 and 20.41 kg added to Body Weight.',
    'Weight in kg. 2 values of Squat from 2025-01-01 to 2025-01-08, between 80 and 85 kg.',
  ]);
  const { text } = await page.get('/workoutlog/?days=0');

  // A long unit fits into the chart if it ends at its edge.
  expect(text).toMatch(/<text [^>]*text-anchor="end"[^>]*>kg added to Body Weight<\/text>/);

  expect(text).toContain('<th scope="col">Unit of mass</th>');
  expect(text.match(/<td>lb<\/td>/g)).toHaveLength(1);
});

/** Extracts the rows of the table of values below the chart of a page. */
const rowsBelow = (text: string) => {
  const [table = ''] = /<table class="values">.*?<\/table>/s.exec(text) ?? [];

  return [...table.matchAll(/<tr><th scope="row">(.*?)<\/tr>/g)].map(([, row]) =>
    row!
      .split(/<\/t[hd]>/)
      .slice(0, -1)
      .map((cell) => cell.replace(/<[^>]*>/, '')),
  );
};

it('shows the values of each day below the chart, and the exercises in a legend', async () => {
  const dora = await fitgraph.user('dora');
  const { id: workout } = (await dora.post('/workout/', { comment: 'Pull' })).body;

  for (const [exercise, date, weight] of [
    [1, '2025-01-01', '50'],
    [1, '2025-01-08', '65.5'],
    [2, '2025-01-08', '40'],
  ]) {
    await dora.post('/workoutlog/', { workout, exercise, date, weight, weight_unit: 1, reps: 5 });
  }

  const { text } = await dora.withHeaders({ Accept: 'text/html' }).get('/workoutlog/?days=0');

  expect(rowsBelow(text)).toEqual([
    ['2025-01-08', '65.5', '40'],
    ['2025-01-01', '50', ''],
  ]);
  expect(text).toMatch(
    /<ul class="legend"[^>]*><li style="--ink:var\(--accent\)">Squat<\/li><li style="--ink:var\(--link\)">Bench press</,
  );
});

it('draws a line for each of two exercises with the same name', async () => {
  const eve = await fitgraph.user('eve');

  // The catalogue contains the same exercise in several languages, sometimes under the same name.
  await fitgraph.sql(
    `INSERT INTO "exercise" ("id", "uuid", "name", "status", "description", "language_id", "exercise_base_id")
     SELECT 900, gen_random_uuid(), "name", "status", "description", "language_id", "exercise_base_id" FROM "exercise" WHERE "name" = 'Squat'`,
  );
  const { id: workout } = (await eve.post('/workout/', { comment: 'Legs' })).body;

  for (const [exercise, date, weight] of [
    [1, '2025-01-01', '50'],
    [1, '2025-01-08', '65.5'],
    [900, '2025-01-08', '80'],
  ]) {
    expect(
      (await eve.post('/workoutlog/', { workout, exercise, date, weight, weight_unit: 1, reps: 5 }))
        .status,
    ).toBe(201);
  }

  const { text } = await eve.withHeaders({ Accept: 'text/html' }).get('/workoutlog/?days=0');

  await fitgraph.sql('DELETE FROM "exercise" WHERE "id" = 900');
  expect(rowsBelow(text)).toEqual([
    ['2025-01-08', '65.5', '80'],
    ['2025-01-01', '50', ''],
  ]);
  expect(text).toMatch(/<ul class="legend"[^>]*><li[^>]*>Squat \(1\)<\/li><li[^>]*>Squat \(900\)</);
});

/** Extracts the day labels of the charts of a page. */
const daysBelow = (text: string) =>
  [...text.matchAll(/<text[^>]*>([^<]*)<\/text>/g)]
    .map(([, label]) => label!.trim())
    .filter((label) => /[A-Z][a-z]{2}|^\d{4}$/.test(label));

it('labels the days of a chart in one format, with the year where it changes', async () => {
  const finn = await fitgraph.user('finn');
  const createEntry = (date: string, weight: string) =>
    finn.post('/weightentry/', { date, weight });
  const days = async (query: string) =>
    daysBelow(
      (await finn.withHeaders({ Accept: 'text/html' }).get(`/weightentry/?limit=1${query}`)).text,
    );

  for (const [date, weight] of [
    ['2024-11-20', '82'],
    ['2024-12-20', '81'],
    ['2025-01-08', '80'],
  ]) {
    await createEntry(date!, weight!);
  }

  expect(await days('&days=0')).toEqual([
    '20 Nov 2024',
    '27 Nov',
    '4 Dec',
    '11 Dec',
    '18 Dec',
    '25 Dec',
    '1 Jan 2025',
    '8 Jan',
  ]);
  await createEntry('2025-09-30', '79');
  expect(await days('&days=0')).toEqual(['Jan 2025', 'Mar', 'May', 'Jul', 'Sep']);
  await createEntry('2020-05-01', '95');
  expect(await days('&days=0')).toEqual(['2021', '2022', '2023', '2024', '2025']);
});

it('shows only the newest 60 days below the chart', async () => {
  const eve = await fitgraph.user('eve');

  for (let day = 0; day < 130; day++) {
    await eve.post('/weightentry/', {
      date: new Date(Date.UTC(2025, 0, 1 + day)).toISOString().slice(0, 10),
      weight: String(80 + (day % 7)),
    });
  }

  const { text } = await eve
    .withHeaders({ Accept: 'text/html' })
    .get('/weightentry/?days=0&limit=1');
  const days = rowsBelow(text).map(([day]) => day);

  expect([days.length, days[0]]).toEqual([60, '2025-05-10']);
  expect(text).toContain('The latest 60 of 130 days.');
});

it('draws no chart of diary amounts, whose units are unknown', async () => {
  const carl = await fitgraph.user('carl');
  const { id: plan } = (await carl.post('/nutritionplan/', { language: 2 })).body;

  for (const day of [1, 2, 3]) {
    await carl.post('/nutritiondiary/', {
      plan,
      ingredient: 1,
      amount: String(day * 100),
      datetime: `2025-01-0${day}T10:00:00Z`,
    });
  }

  expect((await carl.get('/nutritiondiary/')).body.count).toBe(3);
  expect(await chartsOf(carl, '/nutritiondiary/?days=0')).toEqual([]);
});

it('draws at most five lines and says how many more there are', async () => {
  const hal = await fitgraph.user('hal');
  const bases = (await fitgraph.sql(
    `INSERT INTO "exercise_base" ("uuid", "status", "category_id")
     SELECT gen_random_uuid(), "status", "category_id" FROM "exercise_base", generate_series(1, 6) WHERE "id" = 1 RETURNING "id"`,
  )) as { id: number }[];

  await fitgraph.sql(
    `INSERT INTO "exercise" ("uuid", "name", "name_original", "description", "status", "language_id", "license_id", "exercise_base_id")
     SELECT gen_random_uuid(), 'Exercise ' || b, '', "description", "status", "language_id", "license_id", b FROM "exercise", unnest($1::int[]) b WHERE "id" = 1`,
    [bases.map(({ id }) => id)],
  );
  await fitgraph.reference.reload();
  const { id: workout } = (await hal.post('/workout/', { comment: 'Circuit' })).body;

  const log = async (exercise: number) => {
    for (const date of ['2025-01-01', '2025-01-08']) {
      expect(
        (
          await hal.post('/workoutlog/', {
            workout,
            exercise,
            date,
            weight: '50',
            weight_unit: 1,
            reps: 5,
          })
        ).status,
      ).toBe(201);
    }
  };

  const hidden = async () => {
    const { text } = await hal.withHeaders({ Accept: 'text/html' }).get('/workoutlog/?days=0');

    return [text.match(/<li style="--ink/g)?.length, /\d+ more hidden/.exec(text)?.[0]];
  };

  for (const { id } of bases.slice(0, 5)) await log(id);
  expect(await hidden()).toEqual([5, undefined]);
  await log(bases[5]!.id);
  expect(await hidden()).toEqual([5, '1 more hidden']);
});

it.each([
  ['0001-01-01', '9999-12-31', ['2000', '4000', '6000', '8000']],
  ['0100-01-01', '9999-12-31', ['2000', '4000', '6000', '8000']],
  ['1202-03-04', '2026-03-04', ['1300', '1400', '1500', '1600', '1700', '1800', '1900', '2000']],
])('draws values from %s to %s', async (first, last, labels) => {
  const person = await fitgraph.user(`since-${first}`);

  for (const [date, weight] of [
    [first, '80'],
    [last, '81'],
  ]) {
    expect((await person.post('/weightentry/', { date, weight })).status).toBe(201);
  }

  const { text } = await person.withHeaders({ Accept: 'text/html' }).get('/weightentry/?days=0');

  expect(text).toContain(
    `aria-label="Weight in kg. 2 values from ${first} to ${last}, between 80 and 81 kg."`,
  );
  expect(daysBelow(text)).toEqual(labels);
});
