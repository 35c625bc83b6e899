/**
 * The account of a user who has recorded training and nutrition for months, in a database with the
 * seeded catalogue. Ids are fixed and dates count back from `TODAY`, so that the screens in
 * `screens.ts` can name rows. Rows of each type are numbered from 1, oldest first.
 */
import { todayIn } from '../../src/engine/declare/clock';
import { nodeIdOf } from '../../src/engine/declare/node';
import { validateDump } from '../../src/transfer/dump';
import { seedReferenceData } from '../../src/transfer/seed';
import { importDumpRows } from '../../src/transfer/importer';
import { addDays, weekday } from '../../seeders/dates';
import { Catalogue } from '../../seeders/demo/catalogue';
import { addNutrition } from '../../seeders/demo/nutrition';
import { exercises } from '../../seeders/exercises';
import { ingredients } from '../../seeders/ingredients';
import { RowList } from '../../seeders/row';
import { TIME_ZONE } from './databases';
import type { Fitgraph } from './fitgraph';
import type { Person } from './person';
import { randomFor, type Random } from './random';

/** The server's date when the tests start. Screens have content on the next day, too. */
export const TODAY = todayIn(TIME_ZONE);
export const daysAgo = (days: number): string => addDays(TODAY, -days);

export const COUNTS = {
  workouts: 20,
  schedules: 5,
  sessions: 80,
  logs: 400,
  weights: 365,
  plans: 3,
  meals: 15,
  diaryDays: 60,
} as const;

const catalogue = new Catalogue(TODAY);

export const [SQUAT, BENCH, DEADLIFT, PRESS, ROW] = [
  catalogue.exercise('Back Squat'),
  catalogue.exercise('Bench Press'),
  catalogue.exercise('Deadlift'),
  catalogue.exercise('Overhead Press'),
  catalogue.exercise('Bent-Over Barbell Row'),
];
const LIFTS = [SQUAT, BENCH, DEADLIFT, PRESS, ROW] as const;

export const OATS = catalogue.ingredient('Oats, rolled');

/** The workout, schedule, plan and session of `TODAY`. */
export const CURRENT = {
  workout: COUNTS.workouts,
  schedule: COUNTS.schedules,
  plan: 1,
  session: COUNTS.sessions,
} as const;
export const nodeIdOfWorkout = (id: number): string => nodeIdOf('Workout', id);

/** Days on which the user trains each week, counted back from `TODAY`. */
export const TRAINED = [0, 1, 3, 5] as const;
const WEEKS_PER_STEP = 5;
const STEPS = 4;
const SCHEDULE_DAYS = 7 * WEEKS_PER_STEP * STEPS;
const LOGS_PER_SESSION = COUNTS.logs / COUNTS.sessions;
const SETS_PER_DAY = 4;
const NOTES = ['Slept well, everything moved fast.', 'Knee felt fine again.', null, null] as const;

const ENGLISH = exercises(TODAY).filter(
  ({ model, fields }) => model === 'exercises.exercise' && fields.language === 2,
);
const EXERCISE_IDS = ENGLISH.map(({ pk }) => Number(pk));
const INGREDIENT_IDS = ingredients().flatMap(({ model, pk }) =>
  model === 'nutrition.ingredient' ? Number(pk) : [],
);

/** Returns the two main lifts of a training day, whose sets are also logged. */
const liftsOf = (day: number): [number, number] => [
  LIFTS[day % LIFTS.length]!,
  LIFTS[(day + 1) % LIFTS.length]!,
];
const daysOf = (workout: number): number => 2 + (workout % 3);

/** Adds two images for each exercise base. Their files do not exist. */
function addImages(list: RowList): void {
  for (const { fields } of ENGLISH) {
    for (const view of ['front', 'side']) {
      const image = `exercise-images/${Number(fields.exercise_base)}/${view}.png`;
      const row = {
        exercise: fields.exercise_base,
        image,
        is_main: view === 'front',
        status: '2',
        license: 2,
        license_author: 'Ann',
      };
      const number = list.add('exercises.exerciseimage', row);

      Object.assign(list.rows.at(-1)!.fields, {
        uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      });
    }
  }
}

function addWorkouts(list: RowList, user: number, random: Random): void {
  for (let number = 1; number <= COUNTS.workouts; number += 1) {
    const age = (COUNTS.workouts - number + 1) * 7 * WEEKS_PER_STEP;
    const training = list.add('manager.workout', {
      user,
      creation_date: daysAgo(age),
      comment: `Training block ${number}`,
    });

    for (let day = 0; day < daysOf(number); day += 1) {
      const weekdays = TRAINED.filter((_, index) => index % daysOf(number) === day).map((offset) =>
        weekday(daysAgo(offset)),
      );
      const exerciseday = list.add('manager.day', {
        training,
        description: `Day ${day + 1}`,
        day: weekdays,
      });

      for (let order = 1; order <= SETS_PER_DAY; order += 1) {
        // The sizes alternate instead of being random, so that the average length of lists is the
        // same for all seeds.
        const set = list.add('manager.set', { exerciseday, order, sets: 2 + ((day + order) % 4) });
        const chosen =
          order === 1
            ? liftsOf(day)
            : random.shuffled(EXERCISE_IDS).slice(0, 2 + ((number + order) % 3));

        chosen.forEach((exercise, place) => {
          const values = {
            reps: random.int(5, 12),
            weight: `${random.int(8, 40) * 2.5}`,
            rir: random.pick([null, '1', '2']),
          };
          const units = { repetition_unit: 1, weight_unit: 1 };

          list.add('manager.setting', {
            set,
            exercise,
            ...values,
            ...units,
            order: place + 1,
            comment: '',
          });
        });
      }
    }
  }
}

/**
 * Adds schedules of four workouts with five weeks each; the last schedule is active and ends
 * `TODAY`.
 */
function addSchedules(list: RowList, user: number): void {
  for (let number = 1; number <= COUNTS.schedules; number += 1) {
    const start = daysAgo(SCHEDULE_DAYS * (COUNTS.schedules - number + 1) - 1);
    const flags = { is_active: number === CURRENT.schedule, is_loop: true };
    const schedule = list.add('manager.schedule', {
      user,
      name: `Plan ${number}`,
      start_date: start,
      ...flags,
    });

    for (let order = 1; order <= STEPS; order += 1) {
      list.add('manager.schedulestep', {
        schedule,
        workout: STEPS * (number - 1) + order,
        duration: WEEKS_PER_STEP,
        order,
      });
    }
  }
}

/** Adds sessions with their logs, as the active schedule plans them. */
function addSessions(list: RowList, user: number, random: Random): void {
  for (let back = COUNTS.sessions - 1; back >= 0; back -= 1) {
    const week = Math.floor(back / TRAINED.length);
    const place = back % TRAINED.length;
    const date = daysAgo(7 * week + TRAINED[place]!);
    const workout = CURRENT.workout - Math.floor(week / WEEKS_PER_STEP);
    const clock = { time_start: '18:00:00', time_end: `19:${random.int(10, 50)}:00` };
    const impression = random.pick(['1', '2', '2', '3', '3']);

    list.add('manager.workoutsession', {
      user,
      workout,
      date,
      notes: random.pick(NOTES),
      impression,
      ...clock,
    });
    const lifts = liftsOf(place % daysOf(workout));

    for (let log = 0; log < LOGS_PER_SESSION; log += 1) {
      const weight = 100 - 2.5 * Math.floor(week / 2) + 2.5 * random.int(0, 2);
      const values = {
        reps: random.int(4, 10),
        weight: weight.toFixed(2),
        rir: random.pick([null, '0', '1', '2']),
      };
      const units = { repetition_unit: 1, weight_unit: 1 };

      list.add('manager.workoutlog', {
        user,
        workout,
        date,
        exercise: lifts[log % 2]!,
        ...values,
        ...units,
      });
    }
  }
}

function addWeights(list: RowList, user: number, random: Random): void {
  for (let back = COUNTS.weights - 1; back >= 0; back -= 1) {
    list.add('weight.weightentry', {
      user,
      date: daysAgo(back),
      weight: (80 + back / 50 + random.int(0, 10) / 10).toFixed(2),
    });
  }
}

/** Adds the seeded plan with its diary of 60 days, and older plans without a diary. */
function addPlans(list: RowList, user: number, random: Random): void {
  addNutrition(list, catalogue, TODAY, user);

  for (let number = 2; number <= COUNTS.plans; number += 1) {
    const about = {
      creation_date: daysAgo(100 * number),
      description: `Plan ${number}`,
      is_active: false,
      has_goal_calories: false,
    };
    const plan = list.add('nutrition.nutritionplan', { user, language: 2, ...about });

    ['07:00:00', '10:00:00', '12:30:00', '16:00:00', '19:00:00'].forEach((time, index) => {
      const meal = list.add('nutrition.meal', { plan, order: index + 1, time });

      for (let order = 1; order <= 3; order += 1) {
        const amount = random.int(30, 300).toFixed(2);

        list.add('nutrition.mealitem', {
          meal,
          ingredient: random.pick(INGREDIENT_IDS),
          weight_unit: null,
          order,
          amount,
        });
      }
    });
  }
}

const PROFILE = `mutation ($input: UserProfilePatch!) {
  updateProfile(input: $input) { errors { path message } }
}`;
const TOKEN = `mutation ($name: String!, $scopes: [TokenScope!]!) {
  createAccessToken(name: $name, scopes: $scopes) { errors { path message } }
}`;

export interface RichAccount {
  person: Person;

  /** A cursor of `Query.changes` from before the rows were written. */
  cursor: string;
}

/**
 * Creates the account. The app must have been started with the content `tables`, because ids are
 * fixed.
 */
export async function richAccount(fitgraph: Fitgraph, name = 'ann'): Promise<RichAccount> {
  const { database, tokenVault, services } = fitgraph;

  await seedReferenceData({ database, tokenVault, timeZone: TIME_ZONE }, services.media);
  await fitgraph.reference.reload();
  const person = await fitgraph.user(name);
  const before = await person.ask('{ changes { cursor } }');
  const input = { birthdate: '1990-05-20', height: 180, gender: 'FEMALE', calories: 2400 };

  await person.ask(PROFILE, { input });

  for (const device of ['Watch', 'Spreadsheet', 'Phone']) {
    await person.ask(TOKEN, { name: device, scopes: ['READ', 'WRITE_TRAINING'] });
  }

  const list = new RowList();
  const random = randomFor('rows of the rich account');

  // The two images of each exercise replace those of the catalogue.
  await fitgraph.sql('DELETE FROM "exercise_image"');
  addImages(list);
  addWorkouts(list, person.id, random);
  addSchedules(list, person.id);
  addSessions(list, person.id, random);
  addWeights(list, person.id, random);
  addPlans(list, person.id, random);
  await importDumpRows(validateDump(list.rows), database, { tokenVault });
  // Without statistics the planner may choose plans that a server in production never would.
  await fitgraph.sql('ANALYZE');
  return { person, cursor: before.changes.cursor };
}
