/** Reference model of nutrition and plan analyses in plain JavaScript, over all rows of a user. */
import type { Decimal } from 'decimal.js';
import { DateTime } from 'luxon';
import type { Row } from '../../system/engine/grouping-model';
import {
  baseOf,
  bodyOn,
  bucketOf,
  dayAfter,
  exact,
  groups,
  inUnit,
  ordered,
  placeOf,
  formatDecimal,
  repsOf,
  sum,
  type Athlete,
} from './training';

export const NUTRIENTS = [
  'energy',
  'protein',
  'carbohydrates',
  'sugar',
  'fat',
  'saturatedFat',
  'fibres',
  'sodium',
] as const;
type Values = Record<(typeof NUTRIENTS)[number], Decimal>;

export interface Portion {
  ingredient: number;
  amount: string;

  /** Weight of one unit in grams; null if the amount is in grams. */
  unit: string | null;
}
export interface Entry extends Portion {
  plan: number;
  datetime: string;

  /** Id of the meal to which the entry is explicitly assigned, or null. */
  meal: number | null;
}
export interface Meal {
  id: number;
  plan: number;
  time: string | null;
  items: Portion[];
}
export interface Eaten extends Pick<Athlete, 'prefersPounds' | 'weights'> {
  calories: number | null;
  plans: { id: number; hasGoalCalories: boolean }[];
  meals: Meal[];
  entries: Entry[];

  /** Nutrients per 100 g, by ingredient. */
  foods: Map<number, Record<string, string | null>>;
}

const gramsOf = ({ amount, unit }: Portion) => exact(amount).times(unit ?? 1);
const of = (value: (name: keyof Values) => Decimal) =>
  Object.fromEntries(NUTRIENTS.map((name) => [name, value(name)])) as Values;

function nutrientsOf(portions: readonly Portion[], { foods }: Eaten): Values {
  return of((name) =>
    sum(
      portions.map((one) =>
        exact(foods.get(one.ingredient)![name] ?? 0)
          .times(gramsOf(one))
          .dividedBy(100),
      ),
    ),
  );
}

function formatted(values: Values | null): Row | null {
  if (!values) return null;

  return {
    ...Object.fromEntries(NUTRIENTS.map((name) => [name, formatDecimal(values[name])])),
    energyKilojoule: formatDecimal(values.energy.times('4.184')),
  };
}

const secondsOf = (time: string) => {
  const [hours, minutes, seconds] = time.split(':').map(Number) as [number, number, number];

  return (hours * 60 + minutes) * 60 + seconds;
};

export function nutritionIntake(
  { by, firstDay, timeZone, perMeal, tolerance, unit, counts }: Row,
  entries: Entry[],
  person: Eaten,
): Row[] {
  const eaten = entries.map((entry) => {
    const local = DateTime.fromISO(entry.datetime, { zone: timeZone ?? 'Europe/Berlin' });
    const distance = ({ time }: Meal) =>
      Math.abs(secondsOf(time!) - secondsOf(local.toFormat('HH:mm:ss')));
    const mealsWithTime = person.meals.filter(
      ({ plan, time }) => plan === entry.plan && time !== null,
    );
    const [nearest] = mealsWithTime.sort((a, b) => distance(a) - distance(b) || a.id - b.id);

    return {
      ...entry,
      day: local.toISODate()!,
      meal: perMeal ? (entry.meal ?? nearest?.id ?? null) : null,
    };
  });
  const rows = groups(
    eaten.filter(({ day }) => counts(day)),
    ({ plan, meal, day }) => [placeOf(by, firstDay, day), plan, meal],
  ).map((group) => {
    const [{ plan, meal, day }] = group as [(typeof eaten)[number]];
    const days = groups(group, (entry) => entry.day).map((one) => ({
      ...nutrientsOf(one, person),
      body: bodyOn(one[0]!.day, person),
    }));
    const mean = (values: readonly Decimal[]) =>
      values.length ? sum(values).dividedBy(values.length) : null;
    const perKg = (name: 'protein' | 'carbohydrates' | 'fat') =>
      formatDecimal(mean(days.flatMap((one) => (one.body ? [one[name].dividedBy(one.body)] : []))));
    const planned = person.meals
      .filter((one) => one.plan === plan && (!perMeal || one.id === meal))
      .flatMap(({ items }) => items);
    const goal = planned.length ? nutrientsOf(planned, person) : null;
    const calories =
      !perMeal && person.plans.find(({ id }) => id === plan)!.hasGoalCalories
        ? person.calories
        : null;
    const goalEnergy = calories === null ? (goal?.energy ?? null) : exact(calories);
    const limit = (sign: 1 | -1) =>
      goalEnergy && goalEnergy.times(100 + sign * tolerance).dividedBy(100);

    return {
      place: placeOf(by, firstDay, day),
      plan,
      meal,
      shown: {
        days: days.length,
        total: formatted(nutrientsOf(group, person)),
        mean: formatted(of((name) => mean(days.map((one) => one[name]))!)),
        goal: formatted(goal),
        goalEnergy: formatDecimal(goalEnergy),
        daysOver: goalEnergy
          ? days.filter(({ energy }) => energy.greaterThan(limit(1)!)).length
          : 0,
        daysUnder: goalEnergy ? days.filter(({ energy }) => energy.lessThan(limit(-1)!)).length : 0,
        bodyWeight: inUnit(unit, mean(days.flatMap(({ body }) => body ?? []))),
        proteinPerKg: perKg('protein'),
        carbohydratesPerKg: perKg('carbohydrates'),
        fatPerKg: perKg('fat'),
      },
    };
  });

  return ordered(
    rows,
    (row) => row.place,
    (row) => row.plan,
    (row) => row.meal,
  ).map((row) => ({
    bucket: bucketOf(by, row.place),
    planId: String(row.plan),
    mealId: row.meal === null ? null : String(row.meal),
    ...row.shown,
  }));
}

export function topFoods({ by, until, today }: Row, all: Entry[], person: Eaten): Row[] {
  const entries = all.filter(({ datetime }) => {
    const day = DateTime.fromISO(datetime, { zone: 'Europe/Berlin' }).toISODate()!;

    return day <= (until ?? today);
  });
  const { energy } = nutrientsOf(entries, person);
  const rows = groups(entries, ({ ingredient }) => ingredient).map((group) => {
    const [values, grams] = [nutrientsOf(group, person), sum(group.map(gramsOf))];
    const measure =
      { COUNT: exact(group.length), GRAMS: grams }[by as string] ??
      values[by.toLowerCase() as 'energy'];

    return {
      measure,
      ingredient: group[0]!.ingredient,
      shown: {
        count: group.length,
        grams: formatDecimal(grams),
        total: formatted(values),
        energyShare: energy.isZero()
          ? null
          : formatDecimal(values.energy.times(100).dividedBy(energy)),
      },
    };
  });

  return rows
    .sort((a, b) => b.measure.comparedTo(a.measure) || a.ingredient - b.ingredient)
    .map((row) => ({ ingredientId: String(row.ingredient), ...row.shown }));
}

export interface Planned extends Pick<Athlete, 'logs' | 'sessions'> {
  schedules: {
    start: string;
    isActive: boolean;
    isLoop: boolean;
    steps: { id: number; workout: number; duration: number; order: number }[];
  }[];
  days: {
    workout: number;
    weekdays: number[];
    sets: {
      rounds: number;
      settings: { exercise: number; reps: number; repetitionUnit: number }[];
    }[];
  }[];
}

/** Returns the weeks of the active schedule up to the current week, each with its workout. */
function weeksOf({ schedules }: Planned, today: string): { start: string; workout: number }[] {
  const active = schedules.find(({ isActive }) => isActive);

  if (!active) return [];
  const steps = ordered(
    [...active.steps],
    ({ order }) => order,
    ({ id }) => id,
  );
  const turn = steps.flatMap(({ workout, duration }) =>
    Array.from({ length: duration }, () => workout),
  );
  const weeks = [];

  for (
    let number = 0, { start } = active;
    start <= today;
    number += 1, start = dayAfter(start, 7)
  ) {
    const workout = turn[active.isLoop ? number % turn.length : number];

    if (workout !== undefined) weeks.push({ start, workout });
  }

  return weeks;
}

interface PlannedWeek {
  exercise: number;
  sets: number;

  /** Number of sets whose repetitions are counted. */
  countedSets: number;
  reps: Decimal;
}

/** Sums the planned sets and repetitions per exercise in one week of a workout. */
function setsOf(workout: number, { days }: Planned): PlannedWeek[] {
  const planned = days
    .filter((day) => day.workout === workout)
    .flatMap(({ weekdays, sets }) => weekdays.flatMap(() => sets))
    .flatMap(({ rounds, settings }) => {
      const each = groups(settings, ({ exercise }) => baseOf(exercise));
      const done = Math.min(...each.map((group) => (group.length === 1 ? rounds : group.length)));

      return each.map((group) => {
        const counted = group.flatMap((one) => repsOf(one) ?? []);
        const mean = counted.length
          ? exact(counted.reduce((total, reps) => total + reps, 0)).dividedBy(counted.length)
          : exact(0);

        return {
          exercise: baseOf(group[0]!.exercise),
          sets: done,
          countedSets: counted.length ? done : 0,
          reps: mean.times(done),
        };
      });
    });

  return groups(planned, ({ exercise }) => exercise).map((group) => ({
    exercise: group[0]!.exercise,
    sets: group.reduce((total, { sets }) => total + sets, 0),
    countedSets: group.reduce((total, { countedSets }) => total + countedSets, 0),
    reps: sum(group.map(({ reps }) => reps)),
  }));
}

const isInWeek = (date: string, start: string) => date >= start && date <= dayAfter(start, 6);

export function scheduleAdherence({ counts }: Row, person: Planned, today: string): Row[] {
  const weeks = weeksOf(person, today).filter(({ start }) => counts(start, dayAfter(start, 6)));

  return weeks.map(({ start, workout }) => {
    const logs = person.logs.filter((log) => log.workout === workout && isInWeek(log.date, start));
    const sessions = person.sessions.filter(
      (session) => session.workout === workout && isInWeek(session.date, start),
    );
    const plannedDays = new Set(
      person.days.filter((day) => day.workout === workout).flatMap(({ weekdays }) => weekdays),
    ).size;
    const doneDays = new Set([...logs, ...sessions].map(({ date }) => date)).size;

    return {
      ...{ start, workoutId: String(workout), plannedDays, doneDays },
      plannedSets: setsOf(workout, person).reduce((total, { sets }) => total + sets, 0),
      doneSets: logs.length,
      adherence: plannedDays
        ? formatDecimal(exact(100 * Math.min(doneDays, plannedDays)).dividedBy(plannedDays), 1)
        : null,
    };
  });
}

export function plannedExercises(
  { counts, last: weekCount, neglected }: Row,
  person: Planned,
  today: string,
): Row[] {
  const weeks = weeksOf(person, today).filter(({ start }) => counts(start, dayAfter(start, 6)));
  const last = weeks.slice(Math.max(0, weeks.length - (weekCount ?? Infinity)));
  const planned = last.flatMap(({ workout }) => setsOf(workout, person));
  const mean = (total: Decimal, count: number) =>
    count ? formatDecimal(total.dividedBy(count), 1) : null;
  const rows = groups(planned, ({ exercise }) => exercise).map((group) => {
    const { exercise } = group[0]!;
    const done = person.logs.filter((log) => baseOf(log.exercise) === exercise);
    const recent = done.filter(
      ({ date }) => date >= last[0]!.start && date <= dayAfter(last.at(-1)!.start, 6),
    );
    const plannedSets = group.reduce((total, { sets }) => total + sets, 0);
    const countedSets = group.reduce((total, one) => total + one.countedSets, 0);
    const doneReps = recent.flatMap((log) => repsOf(log) ?? []);

    return {
      exercise,
      row: {
        plannedSets,
        doneSets: recent.length,
        share: mean(exact(100 * recent.length), plannedSets),
        plannedReps: mean(sum(group.map(({ reps }) => reps)), countedSets),
        doneReps: mean(exact(doneReps.reduce((total, reps) => total + reps, 0)), doneReps.length),
        lastDoneOn:
          done
            .map(({ date }) => date)
            .filter((date) => date <= dayAfter(last.at(-1)!.start, 6))
            .sort()
            .at(-1) ?? null,
      },
    };
  });

  return ordered(
    rows.filter(({ row }) => !neglected || row.doneSets === 0),
    ({ row }) => (row.share === null ? null : Number(row.share)),
    ({ exercise }) => exercise,
  ).map(({ exercise, row }) => ({
    exerciseId: String(exercise),
    ...row,
  }));
}
