/** The example questions of the playground, over the data of the demo account. */
import { todayIn } from '../../../src/engine/declare/clock';
import { seedDemo, seedReferenceData } from '../../../src/transfer/seed';
import { chartDataOf, isChartCompatible } from '../../../src/web/playground/answer/chart';
import {
  resultListsOf,
  defaultResultList,
  tableOf,
} from '../../../src/web/playground/answer/table';
import { EXAMPLE_QUESTIONS, QUESTIONS_BY_GROUP } from '../../../src/web/playground/questions/all';
import { variablesOf } from '../../../src/web/playground/questions/question';
import { TIME_ZONE } from '../../setup/databases';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { Person } from '../../setup/person';

const fitgraph = fitgraphForThisFile({ content: 'tables' });
let demo: Person;

beforeAll(async () => {
  const seeding = {
    database: fitgraph.database,
    tokenVault: fitgraph.tokenVault,
    timeZone: TIME_ZONE,
    reportProgress: () => undefined,
  };

  await seedReferenceData(seeding, fitgraph.services.media);
  const { token, username } = (await seedDemo(seeding))!;
  const [{ id }] = (await fitgraph.sql('SELECT "id" FROM "user_account" WHERE "username" = $1', [
    username,
  ])) as [{ id: number }];

  await fitgraph.reference.reload();
  demo = new Person(fitgraph.url, { id, token });
  // The demo account has no measurements, so that a dump of version 2.0 can replace it.
  await demo.ask(`mutation {
    createMeasurementCategory(input: {
      name: "Waist", valueUnit: "cm", measurements: [{ value: "90" }, { value: "89.5" }]
    }) { errors { path } }
  }`);
});

test('has at least 30 questions with unique names, and at least five in each group', () => {
  expect(EXAMPLE_QUESTIONS.length).toBeGreaterThanOrEqual(30);

  for (const questions of Object.values(QUESTIONS_BY_GROUP)) {
    expect(questions.length).toBeGreaterThan(4);
  }

  for (const keyOf of [
    ({ slug }: (typeof EXAMPLE_QUESTIONS)[number]) => slug,
    ({ title }: (typeof EXAMPLE_QUESTIONS)[number]) => title,
  ]) {
    expect(new Set(EXAMPLE_QUESTIONS.map(keyOf)).size).toBe(EXAMPLE_QUESTIONS.length);
  }

  for (const { slug, query } of EXAMPLE_QUESTIONS) {
    expect(slug).toMatch(/^[a-z]+(-[a-z]+)*$/);
    // The name of the operation becomes the title of the tab in the playground.
    expect(query).toMatch(/^query [A-Z]\w+/);
  }
});

test.each(EXAMPLE_QUESTIONS.map((question) => [question.slug, question] as const))(
  'returns rows that fit the chart of the question: %s',
  async (_slug, question) => {
    const person = QUESTIONS_BY_GROUP.Catalogue!.includes(question) ? fitgraph.anonymous : demo;
    const data = await person.ask(question.query, variablesOf(question, todayIn(TIME_ZONE)));
    const table = tableOf(data, defaultResultList(resultListsOf(data)));

    expect(table.rows.length).toBeGreaterThan(0);
    const columns = table.columns.map(({ name }) => name);

    expect(columns).toEqual(expect.arrayContaining([question.chart.x, ...question.chart.y]));
    expect(isChartCompatible(table, question.chart)).toBe(true);
    const drawing = chartDataOf(table, question.chart);

    expect(drawing.series.flatMap(({ points }) => points).length).toBeGreaterThan(0);
    expect(drawing.omittedRowCount).toBe(0);
  },
);

describe('over three years of data', () => {
  const today = todayIn(TIME_ZONE);
  const DAYS = 3 * 365;

  /** Longest unit of time by which questions group. */
  const LONGEST_PERIOD_DAYS = 31;

  beforeAll(async () => {
    const everyDay = `FROM generate_series(0, ${DAYS}) AS day`;

    // The demo account has rows of its own on some days.
    await fitgraph.sql(
      `INSERT INTO "workout_log" ("user_id", "workout_id", "exercise_id", "repetition_unit_id", "weight_unit_id", "reps", "weight", "date", "rir")
        SELECT l."user_id", l."workout_id", l."exercise_id", 1, 1, 5, 50, $2::date - day, '2' ${everyDay}
        CROSS JOIN (SELECT DISTINCT ON ("exercise_id") * FROM "workout_log" WHERE "user_id" = $1) l`,
      [demo.id, today],
    );
    await fitgraph.sql(
      `INSERT INTO "workout_session" ("user_id", "workout_id", "date", "impression")
        SELECT w."user_id", w."id", $2::date - day, '2' ${everyDay}
        CROSS JOIN (SELECT * FROM "workout" WHERE "user_id" = $1 LIMIT 1) w
        WHERE NOT EXISTS (SELECT FROM "workout_session" s WHERE s."user_id" = $1 AND s."date" = $2::date - day)`,
      [demo.id, today],
    );
    await fitgraph.sql(
      `INSERT INTO "weight_entry" ("user_id", "weight", "date")
        SELECT $1, 80, $2::date - day ${everyDay}
        WHERE NOT EXISTS (SELECT FROM "weight_entry" w WHERE w."user_id" = $1 AND w."date" = $2::date - day)`,
      [demo.id, today],
    );
    await fitgraph.sql(
      `INSERT INTO "diary_entry" ("user_id", "plan_id", "ingredient_id", "amount", "datetime")
        SELECT p."user_id", p."id", 1, 100, $2::date - day + time '12:00' ${everyDay}
        CROSS JOIN (SELECT * FROM "nutrition_plan" WHERE "user_id" = $1 LIMIT 1) p`,
      [demo.id, today],
    );
  });

  test.each(
    EXAMPLE_QUESTIONS.filter(({ chart }) => /(?:start|date)$/.test(chart.x)).map(
      (question) => [question.slug, question] as const,
    ),
  )('shows the newest period: %s', async (_slug, question) => {
    const data = await demo.ask(question.query, variablesOf(question, today));
    const table = tableOf(data, defaultResultList(resultListsOf(data)));
    const index = table.columns.findIndex(({ name }) => name === question.chart.x);
    const newest = table.rows
      .map((row) => String(row[index]).slice(0, 10))
      .sort()
      .at(-1)!;

    expect(Date.parse(today) - Date.parse(newest)).toBeLessThan(LONGEST_PERIOD_DAYS * 86_400_000);
  });
});

/** The first day of the period of each question with a period, when it is asked on 2026-07-05. */
const FIRST_DAYS: Readonly<Record<string, string>> = {
  'exercises-most-done': '2026-01-04',
  'hard-sets-per-muscle': '2026-04-12',
  'mean-weight-by-week': '2026-01-04',
  'neglected-muscles': '2026-06-07',
  'repetition-ranges': '2026-01-04',
  'repetitions-in-reserve': '2026-01-04',
  'sessions-per-week': '2026-01-04',
  'sets-per-muscle-by-week': '2026-04-12',
  'sets-per-week': '2026-01-04',
  'tonnage-by-week': '2026-01-04',
  'weight-by-day': '2025-07-05',
  'weight-by-weekday': '2026-04-05',
  'weight-trend': '2026-01-04',
};

test('sets `$since` to the first day of the period, only for questions with a period', () => {
  const periods = EXAMPLE_QUESTIONS.filter(({ sinceDaysAgo }) => sinceDaysAgo !== undefined);

  expect(EXAMPLE_QUESTIONS.filter(({ query }) => query.includes('$since'))).toEqual(periods);
  const since = periods.map((question) => [
    question.slug,
    variablesOf(question, '2026-07-05').since,
  ]);

  expect(Object.fromEntries(since)).toEqual(FIRST_DAYS);
});

test('rejects questions about owned rows for anonymous clients', async () => {
  const own = EXAMPLE_QUESTIONS.filter(
    (question) => !QUESTIONS_BY_GROUP.Catalogue!.includes(question),
  );

  for (const question of own) {
    const { code, data } = await fitgraph.anonymous.query(
      question.query,
      variablesOf(question, todayIn(TIME_ZONE)),
    );
    const nonNullData = Object.values(data ?? {}).filter((value) => value !== null);

    expect([question.slug, code, nonNullData]).toEqual([question.slug, 'UNAUTHENTICATED', []]);
  }
});
