/** Planned and completed training, checked against values calculated by hand. */
import { DateTime } from 'luxon';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { TIME_ZONE } from '../../setup/databases';
import type { Person } from '../../setup/person';
import { WEEKDAYS } from '../model/training';
import { BENCH, PLANK, SQUAT } from '../training-data';

const fitgraph = fitgraphForThisFile();

/** Start of a schedule that is in its third week today. */
const start = DateTime.now().setZone(TIME_ZONE).minus({ days: 15 });
const day = (number: number) => start.plus({ days: number }).toISODate()!;
let ann: Person;

interface Planned {
  weekdays: number[];
  sets: [rounds: number, ...settings: [exercise: number, reps: number][]][];
}

async function createRow(person: Person, path: string, body: object): Promise<number> {
  const { status, body: row } = await person.post(path, body);

  if (status !== 201) throw new Error(JSON.stringify(row));

  return row.id as number;
}

async function plan(person: Person, comment: string, days: Planned[]): Promise<number> {
  const workout = await createRow(person, '/workout/', { comment });

  for (const { weekdays, sets } of days) {
    const exerciseday = await createRow(person, '/day/', {
      training: workout,
      description: 'd',
      day: weekdays,
    });

    for (const [rounds, ...settings] of sets) {
      const set = await createRow(person, '/set/', { exerciseday, sets: rounds });

      for (const [exercise, reps] of settings) {
        await createRow(person, '/setting/', { set, exercise, reps });
      }
    }
  }

  return workout;
}

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  // Planned per week: 2 × (4 + 3) sets of squats; 2 × 3 sets of bench presses, and 2 more in a
  // pyramid.
  const first = await plan(ann, 'first', [
    {
      weekdays: [1, 3],
      sets: [
        [4, [SQUAT, 5]],
        [3, [SQUAT, 10], [BENCH, 8]],
      ],
    },
    { weekdays: [5], sets: [[4, [BENCH, 8], [BENCH, 6]]] },
  ]);
  const second = await plan(ann, 'second', [{ weekdays: [1], sets: [[2, [PLANK, 1]]] }]);
  const schedule = await createRow(ann, '/schedule/', {
    name: 's',
    start_date: day(0),
    is_active: true,
    is_loop: true,
  });

  // REST cannot set the order of steps.
  for (const [workout, order] of [
    [second, 2],
    [first, 1],
  ]) {
    await ann.ask(
      `mutation { createScheduleStep(input: { scheduleId: ${schedule}, workoutId: ${workout}, duration: 1, position: ${order} }) { scheduleStep { id } } }`,
    );
  }

  const log = (date: string, workout: number, exercise: number, reps: number) =>
    createRow(ann, '/workoutlog/', { date, workout, exercise, reps, weight: '50.00' });

  await log(day(0), first, SQUAT, 5);
  await log(day(0), first, SQUAT, 6);
  await createRow(ann, '/workoutsession/', { date: day(6), workout: first, impression: '2' });
  await log(day(14), first, BENCH, 8);
  await log(day(-30), second, PLANK, 1);
});

test('compares planned and completed training for each week of a looping schedule', async () => {
  const { scheduleAdherence } = await ann.ask(
    '{ scheduleAdherence { start workout { name } plannedDays doneDays plannedSets doneSets adherence } }',
  );
  const first = { workout: { name: 'first' }, plannedDays: 3, plannedSets: 22 };
  const weeks = [
    { start: day(0), ...first, doneDays: 2, doneSets: 2, adherence: '66.7' },
    {
      start: day(7),
      workout: { name: 'second' },
      plannedDays: 1,
      doneDays: 0,
      plannedSets: 2,
      doneSets: 0,
      adherence: '0.0',
    },
    { start: day(14), ...first, doneDays: 1, doneSets: 1, adherence: '33.3' },
  ];

  expect(scheduleAdherence).toEqual(weeks);
  // A week that overlaps the range is included as a whole.
  const someExercises = await ann.ask(
    `{ one: scheduleAdherence(from: "${day(6)}", until: "${day(7)}") { doneSets } last: scheduleAdherence(last: 1) { start } }`,
  );

  expect(someExercises).toEqual({
    one: [{ doneSets: 2 }, { doneSets: 0 }],
    last: [{ start: day(14) }],
  });
});

const exercises = async (args: string, person = ann) =>
  (
    await person.ask(
      `{ planned: plannedExercises${args} { exercise { name } plannedSets doneSets share plannedReps doneReps lastDoneOn } }`,
    )
  ).planned;

test('compares planned and completed sets per exercise, neglected exercises first', async () => {
  const plank = {
    exercise: { name: 'Plank' },
    plannedSets: 2,
    doneSets: 0,
    share: '0.0',
    plannedReps: '1.0',
    doneReps: null,
    lastDoneOn: day(-30),
  };

  expect(await exercises('')).toEqual([
    plank,
    {
      exercise: { name: 'Bench press' },
      plannedSets: 16,
      doneSets: 1,
      share: '6.3',
      plannedReps: '7.8',
      doneReps: '8.0',
      lastDoneOn: day(14),
    },
    {
      exercise: { name: 'Squat' },
      plannedSets: 28,
      doneSets: 2,
      share: '7.1',
      plannedReps: '7.1',
      doneReps: '5.5',
      lastDoneOn: day(0),
    },
  ]);
  expect(await exercises('(neglected: true)')).toEqual([plank]);
  const week = await exercises('(last: 1)');

  expect(
    week.map(({ exercise, plannedSets, doneSets }: any) => [exercise.name, plannedSets, doneSets]),
  ).toEqual([
    ['Squat', 14, 0],
    ['Bench press', 8, 1],
  ]);
});

test('covers the weeks that overlap the range of dates, and logs up to its end', async () => {
  const names = async (args: string) =>
    (await exercises(args)).map(({ exercise, lastDoneOn }: any) => [exercise.name, lastDoneOn]);

  expect(await names(`(from: "${day(8)}", until: "${day(9)}")`)).toEqual([['Plank', day(-30)]]);
  expect(await names(`(until: "${day(6)}")`)).toEqual([
    ['Bench press', null],
    ['Squat', day(0)],
  ]);
  expect(await names(`(until: "${day(13)}", last: 1)`)).toEqual([['Plank', day(-30)]]);
  expect(await names('(last: 0)')).toEqual([]);
});

test('exports the exercises of all weeks, or of the last ones', async () => {
  const exported = async (args: string) =>
    (
      await ann.send(
        'GET',
        `/graphql/export.csv?query=${encodeURIComponent(`{ plannedExercises${args} { exercise { name } plannedSets } }`)}`,
      )
    ).text
      .split('\r\n')
      .slice(1, -1);

  expect(await exported('')).toEqual(['Plank,2', 'Bench press,16', 'Squat,28']);
  expect(await exported('(last: 1)')).toEqual(['Squat,14', 'Bench press,8']);
});

test('compares the last 26 weeks of a schedule, whatever the weekday of its start', async () => {
  for (const weekday of [0, 1, 2, 3, 4, 5, 6]) {
    const person = await fitgraph.user(`starter${weekday}`);
    const workoutId = await plan(person, 'w', [{ weekdays: [1], sets: [[1, [SQUAT, 5]]] }]);
    const schedule = await createRow(person, '/schedule/', {
      name: 's',
      start_date: day(-300 - weekday),
      is_active: true,
      is_loop: true,
    });

    await createRow(person, '/schedulestep/', { schedule, workout: workoutId, duration: 1 });
    expect(await exercises('', person)).toMatchObject([{ plannedSets: 26 }]);
  }
});

test('plans as many sets per week as `sequence` returns for its training days', async () => {
  const { workouts } = await ann.ask(
    '{ workouts { nodes { name days { weekdays setGroups { sequence { id } } } } } }',
  );
  const setsOf = ({ days }: any) =>
    days.flatMap(({ weekdays, setGroups }: any) =>
      setGroups.map((set: any) => weekdays.length * set.sequence.length),
    );
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  const { scheduleAdherence } = await ann.ask(
    `{ scheduleAdherence(until: "${day(7)}") { workout { name } plannedSets } }`,
  );

  for (const { workout, plannedSets } of scheduleAdherence) {
    expect([workout, plannedSets]).toEqual([
      workout,
      sum(setsOf(workouts.nodes.find(({ name }: any) => name === workout.name))),
    ]);
  }
});

const plannedTraining = async (from: string, until: string, person = ann) =>
  (
    await person.ask(
      `query ($from: Date!, $until: Date!) { days: plannedTraining(from: $from, until: $until) {
        date step { workout { name } } trainingDays { weekdays workoutId } sessions { date } } }`,
      { from, until },
    )
  ).days;
const weekdayOf = (date: string) => WEEKDAYS[DateTime.fromISO(date).weekday - 1]!;

test('lists every day of a range in which clocks are changed at midnight', async () => {
  const inChile = await Fitgraph.start({ environment: { TIME_ZONE: 'America/Santiago' } });

  try {
    const days = await plannedTraining('2026-09-01', '2026-09-10', await inChile.user('ann'));

    expect(days.map(({ date }: any) => date)).toEqual(
      Array.from({ length: 10 }, (_, index) => `2026-09-${String(index + 1).padStart(2, '0')}`),
    );
  } finally {
    await inChile.stop();
  }
});

test('lists the training of each day, and none before the schedule starts', async () => {
  const days = await plannedTraining(day(-3), day(30));

  expect(days.map(({ date }: any) => date)).toEqual(
    Array.from({ length: 34 }, (_, index) => day(index - 3)),
  );

  for (const [index, { date, step, trainingDays, sessions }] of days.entries()) {
    const week = Math.floor((index - 3) / 7);
    const workout = week < 0 ? undefined : ['first', 'second'][week % 2]!;

    expect([date, step?.workout.name]).toEqual([date, workout]);
    for (const { weekdays } of trainingDays) expect(weekdays).toContain(weekdayOf(date));
    const expectedWeekdays =
      { first: ['MONDAY', 'WEDNESDAY', 'FRIDAY'], second: ['MONDAY'] }[workout ?? ''] ?? [];

    expect([date, trainingDays.length]).toEqual([
      date,
      expectedWeekdays.includes(weekdayOf(date)) ? 1 : 0,
    ]);
    expect(sessions).toEqual(index - 3 === 6 ? [{ date }] : []);
  }
});

test('plans as many days per week as scheduleAdherence returns', async () => {
  const { scheduleAdherence } = await ann.ask('{ scheduleAdherence { start plannedDays } }');

  expect(scheduleAdherence).toHaveLength(3);

  for (const { start: first, plannedDays } of scheduleAdherence) {
    const days = await plannedTraining(
      first,
      DateTime.fromISO(first).plus({ days: 6 }).toISODate()!,
    );

    expect([first, days.filter(({ trainingDays }: any) => trainingDays.length).length]).toEqual([
      first,
      plannedDays,
    ]);
  }
});

test('accepts up to 366 days and rejects a reversed range', async () => {
  expect(await plannedTraining(day(0), day(0))).toHaveLength(1);
  expect(await plannedTraining('2024-01-01', '2024-12-31')).toHaveLength(366);
  const errorExtensions = async (from: string, until: string) =>
    (
      await ann.query(
        'query ($from: Date!, $until: Date!) { plannedTraining(from: $from, until: $until) { date } }',
        { from, until },
      )
    ).errors![0]!.extensions;
  const fields = (message: string) => ({
    code: 'BAD_USER_INPUT',
    inputErrors: [{ path: ['until'], message }],
  });

  expect(await errorExtensions(day(1), day(0))).toEqual(
    fields('Ensure that `from` is not greater than `until`.'),
  );
  expect(await errorExtensions('2024-01-01', '2025-01-01')).toEqual(
    fields('Ensure that there are no more than 366 days.'),
  );
});

test('shows no training of other users, and needs as many statements for 301 days as for 7', async () => {
  const bob = await fitgraph.user('bob');

  expect(await plannedTraining(day(0), day(0), bob)).toEqual([
    { date: day(0), step: null, trainingDays: [], sessions: [] },
  ]);
  const statements = async (until: string) =>
    (
      await ann.query(`{ plannedTraining(from: "${day(0)}", until: "${until}") { step { workout { name } }
        trainingDays { setGroups { plannedSets { exercise { name } } } } sessions { notes } } }`)
    ).statements;

  expect(await statements(day(300))).toBe(await statements(day(6)));
});
