/**
 * The ten screens of `test/setup/screens/common.ts`: their content, their numbers of requests and
 * statements, and their costs in the guide.
 */
import fs from 'node:fs';
import path from 'node:path';
import { getOperationAST, parse } from 'graphql';
import { estimateOperationCost } from '../../src/engine/execution/cost';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { GraphQLAnswer } from '../setup/person';
import {
  BENCH,
  COUNTS,
  CURRENT,
  daysAgo,
  OATS,
  richAccount,
  TODAY,
  TRAINED,
  type RichAccount,
} from '../setup/rich-account';
import { screens, variablesOf } from '../setup/screens';
import { ten } from '../setup/screens/common';

const GUIDE = path.join(__dirname, '../../docs/graphql.md');

const fitgraph = fitgraphForThisFile({ content: 'tables' });
const schema = buildGraphQLSchema();
let account: RichAccount;

beforeAll(async () => {
  account = await richAccount(fitgraph);
});

type Variables = Record<string, unknown>;

/** Measured rows of the table in the guide. */
const measured: string[][] = [];

const requestsOf = (name: string) => ten.find((screen) => screen.name === name)!.requests;

/** Sends one request of a screen; `others` are additional or replaced variables. */
async function sendScreen(name: string, place = 0, overrides: Variables = {}) {
  const request = requestsOf(name)[place]!;
  const variables = { ...variablesOf(request, account), ...overrides };
  const document = parse(request.query);
  const { total } = estimateOperationCost(schema, document, getOperationAST(document)!, variables);

  return { ...(await account.person.query(request.query, variables)), cost: Math.round(total) };
}

/**
 * Sends all requests of a screen in order and measures them. Variables may depend on the data of
 * earlier requests.
 */
async function showScreen(
  name: string,
  ...others: (((data: any[]) => Variables | Promise<Variables>) | undefined)[]
) {
  const answers: Awaited<ReturnType<typeof sendScreen>>[] = [];

  for (const place of requestsOf(name).keys()) {
    const answer = await sendScreen(
      name,
      place,
      await others[place]?.(answers.map(({ data }) => data)),
    );

    expect([answer.status, answer.errors]).toEqual([200, undefined]);
    answers.push(answer);
  }

  const sum = (of: (answer: (typeof answers)[number]) => number) =>
    answers.map((answer) => of(answer).toLocaleString('en')).join(' + ');

  measured.push([
    name,
    String(answers.length),
    sum(({ cost }) => cost),
    sum(({ statements }) => statements),
  ]);

  return answers;
}

const rowsIn = (value: unknown): number =>
  value === null || typeof value !== 'object'
    ? 0
    : Object.values(value).reduce(
        (sum: number, inner) => sum + rowsIn(inner),
        Array.isArray(value) ? value.length : 0,
      );

function expectAsManyStatements(few: GraphQLAnswer, many: GraphQLAnswer): void {
  expect([few.errors, many.errors]).toEqual([undefined, undefined]);
  expect(rowsIn(many.data)).toBeGreaterThan(rowsIn(few.data));
  expect(many.statements).toBe(few.statements);
}

test("the screen Today's workout shows planned sets, earlier logs and completed sessions", async () => {
  const [answer] = await showScreen("Today's workout");
  const [{ date, step, trainingDays, sessions }] = answer!.data.plannedTraining;

  expect([date, step]).toEqual([
    TODAY,
    { id: '20', position: 4, workout: { id: String(CURRENT.workout), name: 'Training block 20' } },
  ]);
  expect(trainingDays.map(({ name, setGroups }: any) => [name, setGroups.length])).toEqual([
    ['Day 1', 4],
  ]);
  const [squat] = trainingDays[0].setGroups[0].plannedSets;

  expect(squat).toMatchObject({
    reps: expect.any(Number),
    targetWeight: expect.any(String),
    exercise: { name: 'Back Squat' },
  });
  expect(squat.exercise.last.nodes).toHaveLength(5);
  expect(squat.exercise.last.nodes[0].date < TODAY).toBe(true);
  expect(sessions.map(({ id, logs }: any) => [id, logs.nodes.length])).toEqual([
    [String(CURRENT.session), COUNTS.logs / COUNTS.sessions],
  ]);

  const plannedSets = Array.from({ length: 20 }, () => ({
    exerciseId: squat.exercise.id,
    reps: 8,
  }));
  const input = { trainingDayId: trainingDays[0].id, plannedSets };

  await account.person.ask(
    'mutation ($input: SetGroupInput!) { createSetGroup(input: $input) { setGroup { id } } }',
    { input },
  );
  expectAsManyStatements(answer!, await sendScreen("Today's workout"));
});

test('the screen Log a set writes set and session atomically and returns new records', async () => {
  const [answer] = await showScreen('Log a set');
  const { createWorkoutSession, createWorkoutLog } = answer!.data;
  const { workoutSession: session, ...rest } = createWorkoutSession;

  expect(rest).toEqual({ errors: [] });
  const { workoutLog: log, errors } = createWorkoutLog;

  expect([log, errors]).toEqual([
    expect.objectContaining({ reps: 3, weight: '150.00', session: { id: session.id } }),
    [],
  ]);
  const records = log.exercise.personalRecords.filter(({ logId }: any) => logId === log.id);

  expect(records.map(({ kind, value }: any) => [kind, value])).toEqual([
    ['ONE_REP_MAX', '165.00'],
    ['WEIGHT', '150.00'],
  ]);
  expect(Number(records[1].previous)).toBeLessThan(150);

  const logs = async () =>
    (await account.person.ask('{ workoutLogs { totalCount } }')).workoutLogs.totalCount;
  const before = await logs();
  const repeated = await sendScreen('Log a set');

  expect(repeated.data).toEqual({
    createWorkoutSession: {
      workoutSession: null,
      errors: [
        expect.objectContaining({
          code: 'NOT_UNIQUE',
          conflict: {
            ...session,
            workout: { id: String(CURRENT.workout), name: 'Training block 20' },
          },
        }),
      ],
    },
    createWorkoutLog: null,
  });
  expect([repeated.code, await logs()]).toEqual(['ROLLED_BACK', before]);
  const next = await sendScreen('Log a set', 0, { isFirst: false });

  expect(next.errors).toBeUndefined();
  expect([next.data.createWorkoutLog.workoutLog.session, await logs()]).toEqual([
    { id: session.id },
    before + 1,
  ]);
});

test('the screen History and records shows consistent logs, maxima, volumes and records', async () => {
  const [answer] = await showScreen('History and records');
  const { name, logs, byDay, bestOneRepMaxes, trainingVolume, personalRecords } =
    answer!.data.exercise;

  expect(name).toBe('Bench Press');
  expect(logs.nodes).toHaveLength(logs.totalCount);
  const heaviest = Math.max(...logs.nodes.map(({ weightKg }: any) => Number(weightKg)));

  expect(Number(personalRecords.filter(({ kind }: any) => kind === 'WEIGHT').at(-1).value)).toBe(
    heaviest,
  );
  expect(bestOneRepMaxes).toHaveLength(byDay.length);
  expect(Math.max(...bestOneRepMaxes.map(({ oneRepMax }: any) => Number(oneRepMax)))).toBe(
    Number(personalRecords.filter(({ kind }: any) => kind === 'ONE_REP_MAX').at(-1).value),
  );
  expect(trainingVolume.reduce((sum: number, { sets }: any) => sum + (sets as number), 0)).toBe(
    logs.totalCount,
  );
  expectAsManyStatements(
    await sendScreen('History and records', 0, { since: daysAgo(21) }),
    answer!,
  );
});

test('the screen Weight with trend shows the newest weights first and the trend up to today', async () => {
  const [answer] = await showScreen('Weight with trend');
  const { weightEntries, bodyWeightTrend, viewer } = answer!.data;

  expect(weightEntries.nodes).toHaveLength(30);
  expect(weightEntries.nodes[0]).toMatchObject({ date: TODAY, unit: 'KG' });
  expect(bodyWeightTrend).toHaveLength(COUNTS.weights);
  const { date, weight, trend, ratePerWeek } = bodyWeightTrend.at(-1);

  expect([date, Number(weight)]).toEqual([TODAY, Number(weightEntries.nodes[0].weight)]);
  expect(Math.abs(trend - weight)).toBeLessThan(1);
  expect(Number(ratePerWeek)).toBeLessThan(0);
  expect(viewer.profile.unitSystem).toBe('METRIC');
  expectAsManyStatements(await sendScreen('Weight with trend', 0, { since: daysAgo(7) }), answer!);
});

test('the screen Nutrition day shows diary, plan and goal of a day', async () => {
  const [answer] = await showScreen('Nutrition day');
  const { nutritionIntake, nutritionPlans, diaryEntries } = answer!.data;
  const [{ planId, total, goal, goalEnergy }] = nutritionIntake;

  expect([planId, goalEnergy]).toEqual([nutritionPlans.nodes[0].id, '2400.00']);
  const eaten = diaryEntries.nodes.reduce(
    (sum: number, { nutritionalValues }: any) => sum + Number(nutritionalValues.energy),
    0,
  );

  expect(Number(total.energy)).toBeCloseTo(eaten, 0);
  const [plan] = nutritionPlans.nodes;

  expect(Number(goal.energy)).toBeCloseTo(Number(plan.nutritionalValues.total.energy), 0);
  expect(plan.meals.map(({ time, items }: any) => [time, items.length])).toEqual([
    ['07:30:00', 4],
    ['10:30:00', 2],
    ['12:45:00', 4],
    ['16:30:00', 3],
    ['19:30:00', 4],
  ]);
  expectAsManyStatements(
    answer!,
    await sendScreen('Nutrition day', 0, { from: `${daysAgo(10)}T00:00:00Z` }),
  );
});

test('the screen Find a food, log it finds foods by name, barcode and frequency and logs one', async () => {
  const [found, logged] = await showScreen(
    'Find a food, log it',
    undefined,
    ([{ ingredients, nutritionPlans }]) => {
      const { id } = ingredients.nodes.find(({ name }: any) => name === 'Oats, rolled');
      const [plan] = nutritionPlans.nodes;

      return {
        entry: { planId: plan.id, mealId: plan.meals[0].id, ingredientId: id, amount: '80' },
      };
    },
  );
  const { ingredients, often, nutritionPlans } = found!.data;

  expect(ingredients.nodes).toContainEqual(
    expect.objectContaining({ id: String(OATS), name: 'Oats, rolled', energy: 370 }),
  );
  const counts = often.map(({ count }: any) => count as number);

  expect(counts).toEqual([...counts].sort((one, other) => other - one));
  const { diaryEntry, errors } = logged!.data.createDiaryEntry;

  expect(errors).toEqual([]);
  expect(diaryEntry).toMatchObject({
    mealId: nutritionPlans.nodes[0].meals[0].id,
    amount: '80.00',
    nutritionalValues: { energy: '296.00' },
  });
  expectAsManyStatements(
    await sendScreen('Find a food, log it', 0, { text: 'oats, rolled' }),
    found!,
  );

  await fitgraph.sql('UPDATE "ingredient" SET "code" = $1 WHERE "id" = $2', [
    '4006381333931',
    OATS,
  ]);
  const { data } = await sendScreen('Find a food, log it', 0, {
    text: '4006381333931',
    isBarcode: true,
  });

  expect(data).toMatchObject({ scanned: { id: String(OATS), name: 'Oats, rolled' } });
});

/**
 * Returns an edit that renames the plan, adds a meal, and replaces the last item of each meal by
 * `count` others.
 */
function editPlan(
  { nutritionPlan: { id: plan, version, meals } }: any,
  name: string,
  count: number,
): Variables {
  const item = { ingredientId: OATS, amount: '50.00' };
  const keptMeals = meals.map(({ id, position, time, items }: any) => ({
    id,
    position: position + 1,
    time,
    items: [
      ...items.slice(0, -1).map((one: any) => ({
        id: one.id,
        ingredientId: one.ingredient.id,
        amount: '70.00',
        position: one.position,
      })),
      ...Array.from({ length: count }, () => ({ ...item, position: 9 })),
    ],
  }));

  return {
    plan,
    version,
    input: {
      name,
      meals: [{ position: 1, time: '05:00:00', items: Array(count).fill(item) }, ...keptMeals],
    },
  };
}

test('the screen Edit a plan saves the whole plan, or returns the newer version as a conflict', async () => {
  const [read, saved] = await showScreen('Edit a plan', undefined, ([data]) =>
    editPlan(data, 'Bulk', 1),
  );
  const { nutritionPlan: plan, errors } = saved!.data.updateNutritionPlan;

  expect([errors, plan.name]).toEqual([[], 'Bulk']);
  const previousPlan = read!.data.nutritionPlan;

  expect(plan.version).not.toBe(previousPlan.version);
  expect(plan.meals.map(({ position, items }: any) => [position, items.length])).toEqual([
    [1, 1],
    ...previousPlan.meals.map(({ position, items }: any) => [position + 1, items.length]),
  ]);
  expect(plan.meals[1].items.at(-1)).toMatchObject({
    ingredientId: String(OATS),
    amount: '50.00',
    position: 9,
  });

  const late = await sendScreen('Edit a plan', 1, editPlan(read!.data, 'Cut', 1));

  expect(late.data.updateNutritionPlan).toEqual({
    nutritionPlan: null,
    errors: [expect.objectContaining({ code: 'CONFLICT', conflict: plan })],
  });
  const more = await sendScreen('Edit a plan');

  expectAsManyStatements(read!, more);
  expectAsManyStatements(
    saved!,
    await sendScreen('Edit a plan', 1, editPlan(more.data, 'Bulk', 7)),
  );
});

test('the screen Calendar shows planned days and completed sessions', async () => {
  const [answer] = await showScreen('Calendar');
  const { plannedTraining, logsByDay } = answer!.data;
  const daysWith = (list: string) =>
    plannedTraining.filter((day: any) => day[list].length).map(({ date }: any) => date as string);
  const days = Array.from({ length: 31 }, (_, index) => 30 - index);

  expect(plannedTraining.map(({ date }: any) => date)).toEqual(days.map(daysAgo));
  expect(daysWith('trainingDays')).toEqual(
    days.filter((back) => TRAINED.some((one) => one === back % 7)).map(daysAgo),
  );
  expect(daysWith('sessions')).toEqual(logsByDay.map(({ keys }: any) => keys.dateBucket.start));
  expect(daysWith('sessions')).toEqual(expect.arrayContaining(daysWith('trainingDays')));
  expectAsManyStatements(await sendScreen('Calendar', 0, { from: daysAgo(7) }), answer!);
});

test('the screen Profile and units saves name and units and leaves stored weights unchanged', async () => {
  const readNewestWeight = () =>
    account.person.ask(
      '{ weightEntries(first: 1, orderBy: [{ date: DESC }]) { nodes { weight unit weightKg } } }',
    );
  const before = await readNewestWeight();
  const [answer] = await showScreen('Profile and units');
  const { updateUser, updateProfile } = answer!.data;

  expect([updateUser.errors, updateProfile.errors]).toEqual([[], []]);
  expect(updateUser.user).toMatchObject({ username: 'ann', firstName: 'Ann', lastName: 'Example' });
  expect(updateProfile.userProfile).toMatchObject({
    unitSystem: 'IMPERIAL',
    height: 180,
    birthdate: '1990-05-20',
  });
  expect(await readNewestWeight()).toEqual(before);
  const settings = await account.person.ask(
    screens.find(({ name }) => name === 'settings and profile')!.query,
  );

  expect(settings.viewer).toMatchObject({ firstName: 'Ann', profile: { unitSystem: 'IMPERIAL' } });
});

const WRITES_OF_OTHER_DEVICE = `mutation ($today: Date!, $workout: ID!, $exercise: ID!, $plan: ID!, $food: ID!, $session: ID!) @atomic {
  createWorkoutLog(input: { date: $today, workoutId: $workout, exerciseId: $exercise, reps: 5, weight: "60" }) { errors { message } }
  createDiaryEntry(input: { planId: $plan, ingredientId: $food, amount: "40" }) { errors { message } }
  updateWorkoutSession(id: $session, input: { notes: "Elsewhere" }) { errors { message } }
  deleteWeightEntry(id: 1) { errors { message } }
}`;

test('the screen Offline reads a cursor, all rows of the user, and later changes', async () => {
  const [first, copy, delta] = await showScreen(
    'Offline',
    undefined,
    undefined,
    async ([{ changes }]) => {
      const rows = {
        workout: CURRENT.workout,
        exercise: BENCH,
        plan: CURRENT.plan,
        food: OATS,
        session: CURRENT.session,
      };

      await account.person.ask(WRITES_OF_OTHER_DEVICE, { today: TODAY, ...rows });
      return { since: changes.cursor };
    },
  );

  expect(Object.values(copy!.data)).toHaveLength(13);

  for (const list of Object.values(copy!.data)) {
    expect(list).toMatchObject({ pageInfo: { hasNextPage: false } });
  }

  expect(copy!.data.weightEntries.nodes).toHaveLength(COUNTS.weights);
  const { changes, cursor, hasMore } = delta!.data.changes;

  expect(changes.map(({ operation, node }: any) => [operation, node?.__typename])).toEqual([
    ['CREATED', 'WorkoutLog'],
    ['CREATED', 'DiaryEntry'],
    ['UPDATED', 'WorkoutSession'],
    ['DELETED', undefined],
  ]);
  expect([hasMore, cursor === first!.data.changes.cursor]).toEqual([false, false]);
  expectAsManyStatements(await sendScreen('Offline', 1, { first: 1 }), copy!);
  const inputs = Array(30).fill({
    date: TODAY,
    workoutId: CURRENT.workout,
    exerciseId: BENCH,
    reps: 5,
    weight: '60',
  });

  await account.person.ask(
    'mutation ($inputs: [WorkoutLogInput!]!) { createWorkoutLogs(inputs: $inputs) { errors { message } } }',
    {
      inputs,
    },
  );
  expectAsManyStatements(
    delta!,
    await sendScreen('Offline', 2, { since: first!.data.changes.cursor }),
  );
});

test('the guide shows the measured costs of the ten screens', () => {
  const [, section] = /^## Cost of typical screens\n(.*?)^## /ms.exec(
    fs.readFileSync(GUIDE, 'utf8'),
  )!;
  const rows = [...section!.matchAll(/^\| (.*) \|$/gm)].map(([, cells]) =>
    cells!.split('|').map((cell) => cell.trim()),
  );

  expect(rows.slice(2)).toEqual(measured);
  expect(measured.map(([name]) => name)).toEqual(ten.map(({ name }) => name));
});
