import { addDays, weekday } from '../dates';
import { Random } from '../random';
import type { RowList } from '../row';
import type { Catalogue } from './catalogue';
import { WORKOUTS, type PlannedDay, type PlannedSetting, type PlannedWorkout } from './plan';

const REPETITIONS = 1;
const UNTIL_FAILURE = 2;
const SECONDS = 3;
const KILOGRAMS = 1;
const BODY_WEIGHT = 3;

const NOTES: [string, ...string[]] = [
  'Slept well, everything moved fast.',
  'Gym was crowded, rests longer than planned.',
  'Shoulder felt fine again.',
  'Last set was a grind, keep the weight next time.',
  'Short on time, quick session.',
  'New shoes, much better grip.',
  'Tired from work, but finished everything.',
  'Video check: depth is good now.',
];

function repetitionUnit({ seconds, untilFailure }: PlannedSetting): number {
  if (seconds) return SECONDS;

  return untilFailure ? UNTIL_FAILURE : REPETITIONS;
}

function addWorkout(
  list: RowList,
  catalogue: Catalogue,
  plan: PlannedWorkout,
  user: number,
  creationDate: string,
): number {
  const workout = list.add('manager.workout', {
    creation_date: creationDate,
    comment: plan.comment,
    user,
  });

  for (const day of plan.days) {
    const exerciseday = list.add('manager.day', {
      training: workout,
      description: day.description,
      day: day.weekdays,
    });

    day.sets.forEach(([sets, ...settings], index) => {
      const set = list.add('manager.set', { exerciseday, order: index + 1, sets });

      settings.forEach((setting, place) =>
        list.add('manager.setting', {
          set,
          exercise: catalogue.exercise(setting.exercise),
          repetition_unit: repetitionUnit(setting),
          reps: setting.reps,
          weight: setting.weight?.toFixed(2) ?? null,
          weight_unit: setting.weight === null ? BODY_WEIGHT : KILOGRAMS,
          rir: setting.rir ?? null,
          order: place + 1,
          comment: setting.comment ?? '',
        }),
      );
    });
  }

  return workout;
}

/**
 * Returns the weight of a week, in steps that gyms offer. Every fourth week repeats the previous
 * one, as is usual in training.
 */
function weightOf({ weight, perWeek = 0 }: PlannedSetting, week: number): number {
  if (weight === null) return 0;
  const step = weight < 30 ? 1 : 2.5;
  const progress = perWeek * (week - Math.floor(week / 4));

  return weight + Math.floor(progress / step) * step;
}

/**
 * Adds the logs of one day. Each setting of a pyramid is one set; any other setting is repeated.
 */
function addLogs(
  list: RowList,
  catalogue: Catalogue,
  random: Random,
  day: PlannedDay,
  week: number,
  fields: Record<string, unknown>,
): number {
  let done = 0;

  for (const [sets, ...settings] of day.sets) {
    const pyramid =
      settings.length > 1 && settings.every(({ exercise }) => exercise === settings[0]?.exercise);

    for (let round = 0; round < (pyramid ? 1 : sets); round++) {
      for (const setting of settings) {
        // Strength decreases from round to round; seconds vary in steps of five.
        const missed = random.chance(0.12 + round * 0.12) ? random.int(1, 2) : 0;
        const gained = setting.weight === null ? Math.floor(week / 3) : 0;

        list.add('manager.workoutlog', {
          ...fields,
          exercise: catalogue.exercise(setting.exercise),
          repetition_unit: repetitionUnit(setting),
          reps: setting.reps + (gained - missed) * (setting.seconds ? 5 : 1),
          weight: weightOf(setting, week).toFixed(2),
          weight_unit: setting.weight === null ? BODY_WEIGHT : KILOGRAMS,
          rir: missed > 0 && setting.rir !== undefined ? '0' : (setting.rir ?? null),
        });
        done++;
      }
    }
  }

  return done;
}

/** Formats a minute of the day as HH:MM:SS. */
function clock(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00`;
}

function impression(random: Random): string {
  const luck = random.next();

  if (luck < 0.12) return '1';

  return luck < 0.55 ? '2' : '3';
}

/**
 * Adds the workouts, a schedule that links them, and the training of its weeks, which end today.
 */
export function addTraining(
  list: RowList,
  catalogue: Catalogue,
  today: string,
  user: number,
): void {
  const random = new Random(16);
  const weeks = WORKOUTS.reduce((sum, plan) => sum + plan.weeks, 0);
  const start = addDays(today, 1 - 7 * weeks);
  const phases: { plan: PlannedWorkout; workout: number; from: number }[] = [];
  let from = 0;

  for (const plan of WORKOUTS) {
    phases.push({
      plan,
      workout: addWorkout(list, catalogue, plan, user, addDays(start, from)),
      from,
    });
    from += 7 * plan.weeks;
  }

  const schedule = list.add('manager.schedule', {
    user,
    name: 'Base and split',
    start_date: start,
    is_active: true,
    is_loop: true,
  });

  phases.forEach(({ plan, workout }, index) =>
    list.add('manager.schedulestep', { schedule, workout, duration: plan.weeks, order: index + 1 }),
  );

  for (const { plan, workout, from: first } of phases) {
    for (let offset = 0; offset < 7 * plan.weeks; offset++) {
      const date = addDays(start, first + offset);
      const day = plan.days.find(({ weekdays }) => weekdays.includes(weekday(date)));

      // In weeks with four sessions the one on Saturday is skipped now and then; three always take
      // place.
      if (day === undefined || (weekday(date) === 6 && random.chance(0.25))) continue;
      const done = addLogs(list, catalogue, random, day, Math.floor(offset / 7), {
        user,
        workout,
        date,
      });
      const isTimed = random.chance(0.9);
      const begin = (weekday(date) === 6 ? 10 * 60 : 17 * 60 + 30) + 5 * random.int(0, 12);

      list.add('manager.workoutsession', {
        user,
        workout,
        date,
        notes: random.chance(0.4) ? random.pick(NOTES) : null,
        impression: impression(random),
        time_start: isTimed ? clock(begin) : null,
        time_end: isTimed ? clock(begin + done * 3 + random.int(5, 20)) : null,
      });
    }
  }
}
