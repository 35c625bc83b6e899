/**
 * Compares random groupings of a year of training and nutrition with a model in JavaScript. The
 * variable GROUPINGS sets their number.
 */
import { toConstantCase } from '../../../src/shared/casing';
import { DateTime } from 'luxon';
import { seedDemo, seedReferenceData } from '../../../src/transfer/seed';
import { createOwnedRows } from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { Person } from '../../setup/person';
import { TIME_ZONE } from '../../setup/databases';
import { randomFor, SEED, seeded, type Random } from '../../setup/random';
import {
  dawn,
  daysBetween,
  firstDayOf,
  groupsOf,
  nextDay,
  readStatistics,
  computeStatistics,
  type Fields,
  type Group,
  type Key,
  type Row,
} from './grouping-model';
import { LONG_TIMEOUT_MS } from '../../setup/waits';

const COUNT = Number(process.env.GROUPINGS ?? 1000);

jest.setTimeout(LONG_TIMEOUT_MS + COUNT * 1_000);

const fitgraph = fitgraphForThisFile({ content: 'tables' });

/** Random generator of the current grouping. */
let random: Random;
let demo: Person;
let muscleIds: number[];
let bob: Person;

/** Rows of the demo account by list. */
const rows: Record<string, Row[]> = {};

/**
 * Includes a clock change of half an hour (Lord Howe), one at midnight (Havana) and an offset with
 * half an hour (Kolkata).
 */
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Havana',
  'Asia/Kolkata',
  'UTC',
] as const;
const UNITS = ['DAY', 'WEEKDAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'] as const;
const WEEKDAYS = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
] as const;

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
  muscleIds = (await fitgraph.sql('SELECT "id" FROM "muscle"')).map(({ id }) => id as number);
  demo = new Person(fitgraph.url, { id, token });
  bob = await fitgraph.user('bob');
  // Adds pounds, sets without repetitions in reserve and rows of another user.
  await fitgraph.sql(
    `UPDATE "workout_log" SET "weight_unit_id" = 2, "rir" = CASE WHEN "id" % 2 = 0 THEN '' END WHERE "id" % 7 = 0`,
  );
  await createOwnedRows(bob);
  // Moves entries close to the clock changes of each zone, also into hours that occur twice.
  const changes = [
    '2025-03-30 01:00Z',
    '2025-10-26 01:00Z',
    '2025-03-09 07:00Z',
    '2025-11-02 05:00Z',
    '2025-04-05 15:00Z',
    '2025-10-04 15:30Z',
  ];

  await fitgraph.sql(
    `UPDATE "diary_entry" SET "datetime" = ($1::timestamptz[])[1 + "id" % $2::int] + (("id" * 7919) % 172800 - 86400) * interval '1 second' WHERE "id" % 3 = 0`,
    [changes, changes.length],
  );
  const lists = (name: string) =>
    `{ rows: ${name}(first: 10000) { nodes { ${SELECTIONS[name]} } } }`;

  for (const name of Object.keys(SELECTIONS)) {
    const { nodes } = (await demo.ask(lists(name))).rows;

    rows[name] = nodes.map(FLAT[name]!);
  }

  expect(rows.workoutLogs!.length).toBeGreaterThan(500);
  expect(rows.diaryEntries!.length).toBeGreaterThan(300);
});

const SELECTIONS: Record<string, string> = {
  workoutLogs:
    'id reps weight weightKg date rir exerciseId workoutId sessionId translationId exercise { categoryId equipmentIds muscleIds musclesSecondaryIds } session { impression }',
  diaryEntries: 'id amount eatenAt planId ingredientId ingredientUnitId',
};
const FLAT: Record<string, (node: Row) => Row> = {
  workoutLogs: ({ exerciseId, exercise, translationId, workoutId, session, ...row }) => ({
    ...row,
    exercise_: exercise,
    exercise: exerciseId,
    translation: translationId,
    exerciseCategory: exercise.categoryId,
    workout: workoutId,
    sessionImpression: session?.impression ?? null,
  }),
  diaryEntries: ({ ingredientId, planId, ...row }) => ({
    ...row,
    ingredient: ingredientId,
    plan: planId,
  }),
};

const TYPES: Record<string, string> = { workoutLogs: 'WorkoutLog', diaryEntries: 'DiaryEntry' };
const FIELDS: Record<string, Fields> = {
  workoutLogs: {
    numbers: ['reps', 'weight', 'weightKg'],
    extremes: ['reps', 'weight', 'weightKg', 'date'],
    distinct: ['exercise', 'exerciseCategory', 'sessionImpression', 'date', 'rir'],
  },
  diaryEntries: { numbers: ['amount'], extremes: ['amount'], distinct: ['ingredient', 'amount'] },
};

const bucket = ({ start, end, number }: Row = {}) => ({
  start: start && Date.parse(start),
  end: end && Date.parse(end),
  number,
});

/** Draws a key that groups by intervals of a date field. */
function days(field: string): Key {
  const by = random.pick(UNITS);
  const weekBegins = random.int(1, 7);
  const empty = random.chance(0.25);
  const value = (day: string) =>
    by === 'WEEKDAY' ? DateTime.fromISO(day).weekday : firstDayOf(by, day, weekBegins);

  return {
    input: { [field]: { by, firstDay: WEEKDAYS[weekBegins - 1], empty } },
    of: (row) => [{ value: row[field] === null ? null : value(row[field]) }],
    valueFrom: (keys) => {
      const found = keys[`${field}Bucket`];

      if (!found) return null;

      if (by !== 'WEEKDAY' && found.end !== nextDay(by, found.start)) {
        return `ends with ${found.end}`;
      }

      return found.unit === by ? (found.number ?? found.start) : `by ${found.unit}`;
    },
    place: (one) => (by === 'WEEKDAY' ? (one - weekBegins + 7) % 7 : one),
    ...(empty && {
      between: (low, high) => {
        if (low === undefined) return [];

        return by === 'WEEKDAY' ? [1, 2, 3, 4, 5, 6, 7] : daysBetween(by, low, high);
      },
    }),
  };
}

/** Draws a key that groups by intervals of a timestamp field. */
function moments(field: string): Key {
  const by = random.pick([...UNITS, 'HOUR', 'HOUR_OF_DAY'] as const);
  const timeZone = random.pick(ZONES);
  const weekBegins = random.int(1, 7);
  // No empty hours, because hours are not contiguous where clocks change by half an hour.
  const empty = random.chance(0.25) && by !== 'HOUR';

  const value = (moment: string) => {
    const local = DateTime.fromISO(moment, { zone: timeZone });

    if (by === 'HOUR') {
      return local.toMillis() - ((local.toMillis() + local.offset * 60_000) % 3_600_000);
    }

    if (by === 'HOUR_OF_DAY') return local.hour;

    return by === 'WEEKDAY' ? local.weekday : firstDayOf(by, local.toISODate()!, weekBegins);
  };

  return {
    input: { [field]: { by, timeZone, firstDay: WEEKDAYS[weekBegins - 1], empty } },
    of: (row) => [{ value: value(row[field]) }],
    valueFrom: (keys) => {
      const { start, end, number } = bucket(keys[`${field}Bucket`]);

      if (number !== null) return number;
      if (by === 'HOUR') return end - start === 3_600_000 ? start : `ends with ${end}`;
      const day = DateTime.fromMillis(start, { zone: timeZone }).toISODate()!;

      if (start !== dawn(day, timeZone)) return `starts with ${start}`;

      return end === dawn(nextDay(by, day), timeZone) ? day : `ends with ${end}`;
    },
    place: (one) => (by === 'WEEKDAY' ? (one - weekBegins + 7) % 7 : one),
    ...(empty && {
      between: (low, high) => {
        if (low === undefined) return [];
        if (by === 'WEEKDAY') return [1, 2, 3, 4, 5, 6, 7];
        if (by === 'HOUR_OF_DAY') return Array.from({ length: 24 }, (_, hour) => hour);

        return daysBetween(by, low, high);
      },
    }),
  };
}

function bins(field: string): Key {
  const width = random.pick(['1', '2.5', '5', '7', '12.25']);
  const from = random.pick(['0', '-3', '0.5', '1000']);
  const empty = random.chance(0.25);
  // Calculates with integers: all values are multiples of 0.001.
  const scaled = (text: string) => Math.round(Number(text) * 1000);
  const start = (text: string) =>
    scaled(text) -
    ((((scaled(text) - scaled(from)) % scaled(width)) + scaled(width)) % scaled(width));

  return {
    input: { [field]: { width, from, empty } },
    of: (row) => [{ value: row[field] === null ? null : start(row[field]) / 1000 }],
    valueFrom: (keys) => {
      const bin = keys[`${field}Bin`];

      if (!bin) return null;

      return scaled(bin.to) - scaled(bin.from) === scaled(width)
        ? Number(bin.from)
        : `to ${bin.to}`;
    },
    place: (one) => one,
    ...(empty && {
      between: (low, high) =>
        Array.from(
          { length: low === undefined ? 0 : Math.round((high - low) / Number(width)) + 1 },
          (_, index) => Math.round((low + index * Number(width)) * 1000) / 1000,
        ),
    }),
  };
}

/** Creates a key that is a field. By default, rows and returned keys contain the same value. */
const plain = (
  fieldName: string,
  of: (row: Row) => any,
  { valueFrom = of, place }: { valueFrom?: (keys: Row) => unknown; place?: Key['place'] } = {},
): Key => ({
  input: { field: toConstantCase(fieldName) },
  of: (row) => [{ value: of(row) }],
  valueFrom,
  place,
});

const BY_NUMBER = { place: Number };

/** Creates a key that is a referenced row. */
const named = (fieldName: string): Key =>
  plain(fieldName, (row) => row[fieldName], {
    valueFrom: (keys) => keys[fieldName]?.id ?? null,
    ...BY_NUMBER,
  });

const equipment = (): Key => ({
  input: { field: 'EQUIPMENT' },
  of: ({ exercise_: { equipmentIds } }) =>
    equipmentIds.length ? equipmentIds.map((value: string) => ({ value })) : [{ value: null }],
  valueFrom: ({ equipmentId }) => equipmentId,
  ...BY_NUMBER,
});

function muscles(): Key {
  const [primary, secondary] = [random.pick([null, '1', '2']), random.pick(['0.5', '0', '0.25'])];
  const empty = random.chance(0.25);

  return {
    input: { muscle: { muscles: primary, musclesSecondary: secondary, empty } },
    of: ({ exercise_ }) => {
      const found = new Map<string, number>();

      const weigh = (ids: string[], weight: string | null) => {
        if (weight !== null) {
          for (const id of ids) found.set(id, Math.max(found.get(id) ?? 0, Number(weight)));
        }
      };

      weigh(exercise_.muscleIds, primary);
      weigh(exercise_.musclesSecondaryIds, secondary);
      return found.size
        ? [...found].map(([id, weight]) => ({ value: Number(id), weight: String(weight) }))
        : [{ value: null }];
    },
    valueFrom: ({ muscle }) => muscle && Number(muscle.id),
    place: (id) => id,
    ...(empty && { between: () => muscleIds }),
  };
}

const date = () => days('date');
const eatenAt = () => moments('eatenAt');

const kilograms = ({ weightKg }: Row) => weightKg && Number(weightKg);

/** Key generators by list. Repeated entries are chosen more often. */
const KEYS: Record<string, (() => Key)[]> = {
  workoutLogs: [
    () => plain('reps', (row) => row.reps, BY_NUMBER),
    () => plain('rir', (row) => row.rir),
    () => plain('weightKg', kilograms, BY_NUMBER),
    () => named('exercise'),
    () => named('translation'),
    () => named('exerciseCategory'),
    () => plain('session', (row) => row.sessionId, BY_NUMBER),
    () => plain('sessionImpression', (row) => row.sessionImpression),
    equipment,
    date,
    date,
    () => bins('reps'),
    () => bins('weight'),
    () => bins('weightKg'),
    muscles,
    muscles,
  ],
  diaryEntries: [
    () => plain('amount', (row) => Number(row.amount), BY_NUMBER),
    () => plain('ingredientUnit', (row) => row.ingredientUnitId, BY_NUMBER),
    () => named('ingredient'),
    () => named('plan'),
    eatenAt,
    eatenAt,
    eatenAt,
    () => bins('amount'),
  ],
};

const BUCKET = '{ unit start end number }';
const SELECTION_OF_KEY: Record<string, string> = {
  workoutLogs: `reps rir weightKg exercise { id } translation { id } exerciseCategory { id } sessionId sessionImpression equipmentId muscle { id name }
    dateBucket ${BUCKET} repsBin { from to } weightBin { from to } weightKgBin { from to }`,
  diaryEntries: `amount ingredientUnitId ingredient { id } plan { id } eatenAtBucket ${BUCKET} amountBin { from to }`,
};

function documentOf(list: string): string {
  const type = TYPES[list]!;
  const { numbers, extremes, distinct } = FIELDS[list]!;
  const values = [
    'sum',
    'avg',
    'stddev',
    'median',
    'p0: percentile(p: $p0)',
    'p1: percentile(p: $p1)',
  ];

  return `query ($where: ${type}Where, $groupBy: [${type}GroupBy!], $having: [${type}Having!], $orderBy: [${type}GroupOrder!], $first: Int!, $offset: Int!, $p0: Decimal!, $p1: Decimal!) {
    groups: ${list}Grouped(where: $where, groupBy: $groupBy, having: $having, orderBy: $orderBy, first: $first, offset: $offset) {
      keys { ${SELECTION_OF_KEY[list]} } count weightedCount ${values.map((value) => `${value} { ${numbers.join(' ')} }`).join(' ')}
        min { ${extremes.join(' ')} } max { ${extremes.join(' ')} } ${distinct.map((field) => `${field}_distinct: countDistinct(of: ${toConstantCase(field)})`).join(' ')} } }`;
}

/** Draws a condition, and returns it with the equivalent predicate. */
function randomRowCondition(list: string): { where?: object; matches: (row: Row) => boolean } {
  if (random.chance(0.02)) return { matches: () => true };
  const all = rows[list]!;

  if (list === 'diaryEntries') {
    const low = random.int(1, 9) * 20;
    const high = low + random.int(0, 40);

    return {
      where: { amount: { gte: String(low), lt: String(high) } },
      matches: ({ amount }) => Number(amount) >= low && Number(amount) < high,
    };
  }

  const { date } = all[random.int(0, all.length - 1)]!;
  const to = DateTime.fromISO(date)
    .plus({ days: random.int(0, 40) })
    .toISODate()!;
  const least = random.int(0, 8);

  return {
    where: { date: { gte: date, lte: to }, reps: { gte: least } },
    matches: (row) => row.date >= date && row.date <= to && row.reps >= least,
  };
}

interface GroupCondition {
  having?: object;
  matches: (group: Row) => boolean;
}

function randomGroupCondition({ numbers }: Fields): GroupCondition {
  const count = random.int(1, 6);
  const [number] = numbers as [string];
  const limit = random.int(1, 300);

  switch (random.int(0, 5)) {
    case 0:
      return {
        having: [{ statistic: 'COUNT', is: { gte: count } }],
        matches: (group) => group.count >= count,
      };
    case 1:
      return {
        having: [{ statistic: 'SUM', of: toConstantCase(number), is: { lt: String(limit) } }],
        matches: ({ sum }) => sum[number] !== null && Number(sum[number]) < limit,
      };
    case 2:
      return {
        having: [
          { statistic: 'MEDIAN', of: toConstantCase(number), is: { gt: '3' } },
          { statistic: 'MAX', of: toConstantCase(number), is: { ne: '10' } },
        ],
        matches: ({ median, max }) =>
          median[number] !== null && Number(median[number]) > 3 && Number(max[number]) !== 10,
      };
    default:
      return { matches: () => true };
  }
}

interface Term {
  input: object;
  of: (group: { values: Group['values']; statistics: Row }) => number | string | null;
  descending: boolean;
}

function randomOrder(keys: readonly Key[], { numbers }: Fields): Term[] {
  const descending = random.chance(0.5);
  const direction = descending ? 'DESC_NULLS_LAST' : 'ASC';
  const number = random.pick(numbers as [string]);
  const number_ = (value: string | null) => (value === null ? null : Number(value));
  const work = random.pick(['sum', 'avg', 'max', 'stddev', 'median'] as const);
  const [index] = [random.int(0, Math.max(0, keys.length - 1))];
  const terms: Term[] = [
    {
      input: { statistic: { name: 'COUNT', direction } },
      of: ({ statistics: { count } }) => count,
      descending,
    },
    {
      input: { statistic: { name: 'WEIGHTED_COUNT', direction } },
      of: ({ statistics: { weightedCount } }) => Number(weightedCount),
      descending,
    },
    {
      input: { statistic: { name: work.toUpperCase(), of: toConstantCase(number), direction } },
      of: (group) => number_(group.statistics[work][number]),
      descending,
    },
  ];
  const { place } = keys[index] ?? {};

  if (place) {
    terms.push({
      input: { key: { number: index + 1, direction } },
      of: ({ values }) => (values[index] === null ? null : place(values[index])),
      descending,
    });
  }

  return random.chance(0.3) ? [] : [random.pick(terms as [Term])];
}

/**
 * Returns a function that compares groups by the expected order. Its result is undefined if texts
 * decide, whose order is not checked.
 */
function comparison(keys: readonly Key[], order: readonly Term[]) {
  const all: Term[] = [
    ...order,
    ...keys.map(({ place }, index): Term => ({
      input: {},
      of: ({ values }) => {
        if (values[index] === null) return null;

        return place ? place(values[index]) : NaN;
      },
      descending: false,
    })),
  ];

  return (a: any, b: any): number | undefined => {
    for (const { of, descending } of all) {
      const [one, two] = [of(a), of(b)];

      if (one === two) continue;
      if (one === null || two === null) return one === null ? 1 : -1;
      if (Number.isNaN(one)) return undefined;

      return (one < two ? -1 : 1) * (descending ? -1 : 1);
    }

    return 0;
  };
}

/** Returns a text that identifies the source field of a key. */
const sourceOf = ({ input }: Key) =>
  Object.entries(input)
    .flatMap(([member, how]) => (member === 'field' ? [member, how] : member))
    .join();

async function checkRandomGrouping(list: string): Promise<void> {
  const fields = FIELDS[list]!;
  const keys: Key[] = [];

  for (let remaining = random.pick([0, 1, 1, 2, 2, 3]); remaining > 0; remaining -= 1) {
    const key = random.pick(KEYS[list] as [() => Key])();

    // Keys must be distinct, and only one may request empty groups.
    if (
      !keys.some((other) => sourceOf(other) === sourceOf(key)) &&
      !(key.between && keys.some(({ between }) => between))
    ) {
      keys.push(key);
    }
  }

  const { where, matches } = randomRowCondition(list);
  const groupCondition = randomGroupCondition(fields);
  const order = randomOrder(keys, fields);
  const ps = [random.pick(['0', '0.1', '0.25']), random.pick(['0.9', '0.333333', '1'])];
  const variables = {
    where,
    groupBy: keys.map(({ input }) => input),
    having: groupCondition.having,
    orderBy: order.map(({ input }) => input),
    first: random.chance(0.15) ? random.int(1, 40) : 1_000,
    p0: ps[0],
    p1: ps[1],
  };
  const nodes: Row[] = [];

  for (let offset = 0, more = true; more; offset += variables.first) {
    const { groups } = await demo.ask(documentOf(list), { ...variables, offset });

    nodes.push(...groups);
    more = groups.length === variables.first;
  }

  const found = nodes.map((node) => ({
    values: keys.map((key) => key.valueFrom(node.keys)),
    statistics: readStatistics(node, fields, ps),
  }));
  const expectedGroups = [...groupsOf(rows[list]!.filter(matches), keys).values()]
    .map((group) => ({ values: group.values, statistics: computeStatistics(group, fields, ps) }))
    .filter((group) => groupCondition.matches(group.statistics));
  const sorted = (groups: { values: unknown[] }[]) =>
    groups
      .map((group) => [JSON.stringify(group.values), group] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const context = JSON.stringify({ seed: SEED, list, ...variables });
  const [foundSorted, expectedSorted] = [sorted(found), sorted(expectedGroups)];

  // Compares JSON texts, which is much faster than `expect`; `expect` only prints the difference.
  if (JSON.stringify(foundSorted) !== JSON.stringify(expectedSorted)) {
    expect([context, foundSorted]).toEqual([context, expectedSorted]);
  }

  const compare = comparison(keys, order);

  for (let index = 1; index < found.length; index += 1) {
    const sign = compare(found[index - 1], found[index]);

    if (sign !== undefined && sign >= 0) {
      throw new Error(`${context}: ${JSON.stringify(found[index])} comes too late`);
    }
  }
}

test(seeded(`matches the model for ${COUNT} random groupings`), async () => {
  for (let number = 0; number < COUNT; number += 1) {
    random = randomFor(`grouping ${number}`);
    await checkRandomGrouping(number % 5 < 3 ? 'workoutLogs' : 'diaryEntries');
  }
});
