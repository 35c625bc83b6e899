/**
 * Compares analyses in SQL with a model in JavaScript over all rows of a user. The variable
 * ANALYSES sets the number of random queries.
 */
import type { Row } from '../system/engine/grouping-model';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Person } from '../setup/person';
import {
  NUTRIENTS,
  nutritionIntake,
  plannedExercises,
  scheduleAdherence,
  topFoods,
  type Eaten,
} from './model/food';
import { createAthlete, inserterFor, type World } from './model/random-athlete';
import { TRAINING } from './model/questions';
import { insertTranslation } from './training-data';
import {
  baseOf,
  dateRangeOf,
  dayAfter,
  inUnit,
  intensity,
  oneRepMax,
  SQUAT_IN_GERMAN,
  WEEKDAYS,
  type Athlete,
} from './model/training';
import { todayIn } from '../../src/engine/declare/clock';
import { TIME_ZONE } from '../setup/databases';
import { randomFor, seeded, type Random } from '../setup/random';
import { LONG_TIMEOUT_MS } from '../setup/waits';

const COUNT = Number(process.env.ANALYSES ?? 240);

jest.setTimeout(LONG_TIMEOUT_MS + COUNT * 500);
const PEOPLE = 8;

const fitgraph = fitgraphForThisFile();

/** Random generator of the current analysis. */
let random: Random;
const people: { person: Person; world: World }[] = [];
let muscleIds: number[];

beforeAll(async () => {
  await fitgraph.sql(
    `INSERT INTO "weight_unit" ("id", "name") VALUES (3, 'Body Weight'), (4, 'Plates') ON CONFLICT DO NOTHING`,
  );
  await insertTranslation(fitgraph, SQUAT_IN_GERMAN);
  // Results in an exercise with only a secondary muscle, one whose muscle is both primary and
  // secondary, and one without muscles.
  await fitgraph.sql(`DELETE FROM "exercise_base_muscle" WHERE "exercise_base_id" IN (3, 4)`);
  await fitgraph.sql(
    `INSERT INTO "exercise_base_muscle" ("exercise_base_id", "muscle_id", "is_secondary") VALUES (2, 1, TRUE), (3, 2, TRUE)`,
  );
  await fitgraph.sql(`UPDATE "ingredient" SET "fibres" = 1.234, "sodium" = 0.5 WHERE "id" = 1`);
  muscleIds = (await fitgraph.sql('SELECT "id" FROM "muscle"')).map(({ id }) => id);
  const muscles: Athlete['muscles'] = new Map();

  for (const { exercise, muscle, secondary } of await fitgraph.sql(
    `SELECT e."id" AS "exercise", "muscle_id" AS "muscle", "is_secondary" AS "secondary" FROM "exercise" e JOIN "exercise_base_muscle" USING ("exercise_base_id")`,
  )) {
    const known = muscles.get(exercise) ?? new Map<number, number>();

    muscles.set(exercise, known.set(muscle, Math.max(known.get(muscle) ?? 0, secondary ? 0.5 : 1)));
  }

  const foods: Eaten['foods'] = new Map();

  for (const {
    id,
    carbohydrates_sugar: sugar,
    fat_saturated: saturatedFat,
    ...values
  } of await fitgraph.sql('SELECT * FROM "ingredient"')) {
    foods.set(id, { ...values, sugar, saturatedFat });
  }

  const insert = inserterFor(fitgraph);

  for (let number = 0; number < PEOPLE; number += 1) {
    const person = await fitgraph.user(`user${number}`);

    people.push({
      person,
      world: await createAthlete(person, number, insert, foods, muscles, fitgraph),
    });
  }
});

const BUCKET = 'bucket { unit start end number }';
const VALUES = `{ ${NUTRIENTS.join(' ')} energyKilojoule }`;
const unit = () => random.pick(['KG', 'LB']);
const formula = () => random.pick(['EPLEY', 'BRZYCKI', 'WATHAN', 'LOMBARDI', 'MAYHEW']);
const page = () => ({
  first: random.chance(0.2) ? random.int(1, 20) : 500,
  offset: random.pick([null, 0, 1, 3]),
});
const days = () => ({
  by: random.pick(['DAY', 'WEEKDAY', 'WEEK', 'WEEK', 'MONTH', 'QUARTER', 'YEAR']),
  firstDay: random.pick(WEEKDAYS),
});

/** Draws a range of days that overlaps the days of the rows, or the default range. */
const span = () => {
  const from = random.chance(0.6) ? dayAfter('2025-03-01', random.int(0, 60)) : null;
  const until = random.chance(0.6) ? dayAfter(from ?? '2025-05-01', random.int(0, 60)) : null;

  return { from, until, last: random.chance(0.4) ? random.int(0, 100) : null };
};

const untilOnly = () => ({ until: span().until });

interface Question {
  selection: string;

  /** The rows to which `where` applies. */
  of?: 'logs' | 'entries';

  /** Defaults of arguments that are not passed. */
  usual?: Row;

  /** Whether the model applies `last`, which does not count rows. */
  appliesLast?: boolean;
  args(): Row;
  model(args: Row, rows: any[], world: World): Row[];
}

const training = (name: string, fields: string, args: () => Row): Question => ({
  ...{ selection: fields, of: 'logs', model: TRAINING[name]! },
  args: () => ({ ...(name === 'strength' ? untilOnly() : span()), ...args() }),
});

const QUESTIONS: Record<string, Question> = {
  bestOneRepMaxes: training('bestOneRepMaxes', `${BUCKET} exerciseId oneRepMax date logId`, () => ({
    ...days(),
    unit: unit(),
    formula: formula(),
  })),
  muscleVolume: training('muscleVolume', `${BUCKET} muscleId hardSets sets tonnage`, () => ({
    ...days(),
    ...{ unit: unit(), empty: random.chance(0.5) },
  })),
  trainingVolume: training(
    'trainingVolume',
    `${BUCKET} exerciseId days sets hardSets reps tonnage`,
    () => ({
      ...days(),
      unit: unit(),
      ...{ perExercise: random.chance(0.5), empty: random.chance(0.5) },
    }),
  ),
  personalRecords: training(
    'personalRecords',
    'kind date exerciseId value previous weight reps logId',
    () => ({
      ...{ unit: unit(), formula: formula(), standing: random.chance(0.3) },
      kinds: random.pick([
        null,
        null,
        ['WEIGHT'],
        ['ONE_REP_MAX', 'REPETITIONS'],
        ['VOLUME', 'REPETITIONS'],
        [],
      ]),
    }),
  ),
  trainingLoad: training('trainingLoad', 'date load acute chronic ratio', () => ({
    unit: unit(),
    measure: random.pick(['TONNAGE', 'HARD_SETS']),
  })),
  strength: training('strength', 'total date bodyWeight dots', () => ({
    ...{ unit: unit(), formula: formula(), estimated: random.chance(0.5) },
    gender: random.pick([null, 'MALE', 'FEMALE']),
  })),
  trainingWeeks: {
    selection: `${BUCKET} sessions streak`,
    usual: { by: 'WEEK' },
    args: () => ({ ...span(), firstDay: random.pick(WEEKDAYS), goal: random.int(1, 3) }),
    model: (args, _rows, world) => TRAINING.trainingWeeks!(args, world.logs, world),
  },
  bodyWeightTrend: {
    selection: 'date weight trend ratePerWeek',
    args: () => ({ ...span(), days: random.pick([2, 7, 28, 3660]), unit: unit() }),
    model: (args, _rows, world) => TRAINING.bodyWeightTrend!(args, [], world),
  },
  nutritionIntake: {
    selection: `${BUCKET} planId mealId days total ${VALUES} mean ${VALUES} goal ${VALUES} goalEnergy daysOver daysUnder bodyWeight proteinPerKg carbohydratesPerKg fatPerKg`,
    of: 'entries',
    args: () => ({
      ...{ ...span(), ...days(), unit: unit() },
      timeZone: random.pick([
        null,
        'Europe/Berlin',
        'America/New_York',
        'Australia/Lord_Howe',
        'America/Havana',
        'Asia/Kolkata',
        'UTC',
      ]),
      perMeal: random.chance(0.4),
      tolerance: random.pick([0, 5, 50, 100]),
    }),
    model: nutritionIntake,
  },
  topFoods: {
    selection: `ingredientId count grams total ${VALUES} energyShare`,
    of: 'entries',
    args: () => ({
      ...{ ...page(), ...untilOnly() },
      by: random.pick(['COUNT', 'GRAMS', 'ENERGY', 'PROTEIN', 'CARBOHYDRATES', 'FAT', 'FIBRES']),
    }),
    model: topFoods,
  },
  scheduleAdherence: {
    selection: 'start workoutId plannedDays doneDays plannedSets doneSets adherence',
    usual: { by: 'WEEK' },
    args: span,
    model: (args, _rows, world) => scheduleAdherence(args, world, todayIn(TIME_ZONE)),
  },
  plannedExercises: {
    selection: 'exerciseId plannedSets doneSets share plannedReps doneReps lastDoneOn',
    usual: { by: 'WEEK' },
    appliesLast: true,
    args: () => ({ ...span(), neglected: random.chance(0.3) }),
    model: (args, _rows, world) => plannedExercises(args, world, todayIn(TIME_ZONE)),
  },
};

/** Draws a condition, and returns it with the equivalent predicate. */
function randomCondition(of: 'logs' | 'entries'): {
  where?: object;
  matches: (row: any) => boolean;
} {
  if (random.chance(0.5)) return { matches: () => true };

  if (of === 'entries') {
    return { where: { amount: { gte: '50' } }, matches: ({ amount }) => Number(amount) >= 50 };
  }

  if (random.chance(0.5)) {
    const from = dayAfter('2025-03-01', random.int(0, 40));
    const to = dayAfter(from, random.int(0, 20));

    return {
      where: { date: { gte: from, lte: to } },
      matches: ({ date }) => date >= from && date <= to,
    };
  }

  return {
    where: { exercise: { name: { in: ['Squat', 'Plank'] } } },
    matches: ({ exercise }) => [1, 3].includes(baseOf(exercise)),
  };
}

/** GraphQL types of the arguments, which are passed as variables. */
const TYPES: Record<string, string> = {
  ...{
    by: 'DayUnit!',
    firstDay: 'Weekday!',
    unit: 'MassUnit!',
    formula: 'OneRepMaxFormula!',
    measure: 'LoadMeasure!',
    gender: 'Gender',
  },
  ...{
    perExercise: 'Boolean!',
    empty: 'Boolean!',
    standing: 'Boolean!',
    estimated: 'Boolean!',
    perMeal: 'Boolean!',
    neglected: 'Boolean!',
  },
  ...{
    from: 'Date',
    until: 'Date',
    first: 'Int!',
    offset: 'Int',
    last: 'Int',
    days: 'Int!',
    goal: 'Int!',
    tolerance: 'Int!',
    timeZone: 'String',
    kinds: '[RecordKind!]',
  },
};
const whereType = { logs: 'WorkoutLogWhere', entries: 'DiaryEntryWhere' } as const;

async function runQuery(
  name: string,
  { selection, of }: Question,
  args: Row,
  where: object | undefined,
  person: Person,
): Promise<Row[]> {
  const type = (argument: string) =>
    name === 'topFoods' && argument === 'by' ? 'FoodOrder!' : TYPES[argument];
  const declared = [
    ...Object.keys(args).map((argument) => `$${argument}: ${type(argument)}`),
    ...(of ? [`$where: ${whereType[of]}`] : []),
  ];
  const passedArguments = declared
    .map((one) => one.slice(1).split(':')[0]!)
    .map((argument) => `${argument}: $${argument}`);
  const { q } = await person.ask(
    `query (${declared.join(', ')}) { q: ${name}(${passedArguments.join(', ')}) { ${selection} } }`,
    {
      ...args,
      where,
    },
  );

  return q === null ? [] : [q].flat();
}

/** Fields that are computed in floating point, whose last digit may differ. */
const FLOATING = new Set(['trend', 'ratePerWeek', 'acute', 'chronic', 'ratio']);

function isEqual(found: unknown, reference: unknown, name = ''): boolean {
  if (
    found === null ||
    reference === null ||
    typeof found !== 'object' ||
    typeof reference !== 'object'
  ) {
    if (!FLOATING.has(name) || typeof found !== 'string' || typeof reference !== 'string') {
      return found === reference;
    }

    const [one, two] = [found, reference].map((text) => Number(text.replace('.', ''))) as [
      number,
      number,
    ];

    return (
      found.split('.')[1]?.length === reference.split('.')[1]?.length && Math.abs(one - two) <= 1
    );
  }

  const names = Object.keys(found);

  return (
    names.length === Object.keys(reference).length &&
    names.every((key) => isEqual((found as Row)[key], (reference as Row)[key], key))
  );
}

async function checkRandomQuery(name: string, number: number): Promise<void> {
  const question = QUESTIONS[name]!;
  const args = question.args();
  const { person, world } = people[number]!;
  const { where, matches } = question.of
    ? randomCondition(question.of)
    : { where: undefined, matches: () => true };
  const rows = question.of ? world[question.of].filter(matches) : [];
  const found = await runQuery(name, question, args, where, person);
  const today = todayIn((args.timeZone as string | undefined) ?? TIME_ZONE);
  const dateRange = 'last' in args && dateRangeOf({ ...question.usual, ...args }, today);
  const all = question.model(
    {
      ...args,
      ...dateRange,
      ...{ today, muscleIds },
      gender: args.gender && { MALE: '1', FEMALE: '2' }[args.gender as 'MALE'],
    },
    rows as any[],
    world,
  );
  const { first = Infinity, offset } = args;
  const last = question.appliesLast ? undefined : args.last;
  const expected = all
    .slice(offset ?? Math.max(0, all.length - (last ?? Infinity)))
    .slice(0, first);
  // Compared as well, so that Jest prints it with a difference.
  const context = JSON.stringify({ name, person: number, ...args, where });

  if (!isEqual(found, expected)) expect([context, found]).toEqual([context, expected]);
}

const NAMES = Object.keys(QUESTIONS);
const QUERIES_PER_ANALYSIS = Math.ceil(COUNT / NAMES.length);

test.each(NAMES)(
  seeded(`matches the model of %s for ${QUERIES_PER_ANALYSIS} random queries`),
  async (name) => {
    random = randomFor(`questions of ${name}`);

    for (let number = 0; number < QUERIES_PER_ANALYSIS; number += 1) {
      await checkRandomQuery(name, number % PEOPLE);
    }
  },
);

test(seeded('matches the model for the estimates and intensities of all logs'), async () => {
  random = randomFor('estimates and intensities');

  for (const { person, world } of people) {
    const [by, scale] = [formula(), unit()];
    const { workoutLogs } = await person.ask(
      `{ workoutLogs(first: 500, orderBy: [{ id: ASC }]) { nodes { id oneRepMax(formula: ${by}, unit: ${scale}) intensity(formula: ${by}) } } }`,
    );
    const expected = world.logs.map((log) => {
      const estimate = oneRepMax(log, by as 'EPLEY', world);

      return {
        id: String(log.id),
        oneRepMax: inUnit(scale, estimate),
        intensity: intensity(log, by as 'EPLEY', world),
      };
    });

    expect([by, scale, workoutLogs.nodes]).toEqual([by, scale, expected]);
  }
});
