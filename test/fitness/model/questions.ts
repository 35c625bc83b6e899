/** Reference model of training analyses in plain JavaScript, over all rows of a user. */
import type { Decimal } from 'decimal.js';
import type { Row } from '../../system/engine/grouping-model';
import {
  baseOf,
  bodyOn,
  bucketOf,
  dayAfter,
  dayOf,
  exact,
  Exact,
  groups,
  inUnit,
  isHard,
  massOf,
  largest,
  oneRepMax,
  ordered,
  placeOf,
  placesUpTo,
  kilogramsOf,
  repsOf,
  formatDecimal,
  sum,
  tonnage,
  type Log,
  type Athlete,
} from './training';

type Model = (args: Row, logs: Log[], person: Athlete) => Row[];

const bestOneRepMaxes: Model = ({ by, firstDay, formula, unit, counts }, all, person) => {
  const logs = all.filter(({ date }) => counts(date));
  const place = ({ date }: Log) => placeOf(by, firstDay, date);
  const rows = groups(logs, (log) => [place(log), baseOf(log.exercise)]).flatMap((group) => {
    const [best] = group
      .flatMap((log) => oneRepMax(log, formula, person)?.toFixed() ?? [])
      .map(exact)
      .sort((a, b) => b.comparedTo(a));

    if (!best) return [];
    const sets = group.filter((log) => oneRepMax(log, formula, person)?.equals(best));
    const { date, id } = ordered(
      sets,
      (log) => log.date,
      (log) => log.id,
    )[0]!;

    return {
      place: place(group[0]!),
      base: baseOf(group[0]!.exercise),
      shown: { oneRepMax: inUnit(unit, best), date, logId: String(id) },
    };
  });

  return ordered(
    rows,
    (row) => row.place,
    (row) => row.base,
  ).map((row) => ({
    bucket: bucketOf(by, row.place),
    exerciseId: String(row.base),
    ...row.shown,
  }));
};

/** Adds a row for each missing place of each key, since its first day with data. */
function withEmptyPlaces<R extends { place: string | number }>(
  rows: R[],
  { by, firstDay, until, today, start }: Row,
  keyOf: (row: R) => unknown,
  keys: { first: string; row: Omit<R, 'place'> }[],
): R[] {
  const found = new Set(rows.map((row) => JSON.stringify([row.place, keyOf(row)])));
  const all = keys.flatMap(({ first, row }) => {
    const low = placeOf(by, firstDay, first < start ? start : first);

    return placesUpTo(by, firstDay, low, until ?? today).map((place) => ({ ...row, place }) as R);
  });

  return [...rows, ...all.filter((row) => !found.has(JSON.stringify([row.place, keyOf(row)])))];
}

const firstDateOf = (logs: readonly Log[]) => logs.map(({ date }) => date).sort()[0];

const muscleVolume: Model = (args, all, person) => {
  const { by, firstDay, unit, counts, end, empty, muscleIds } = args;
  const logs = all.filter(({ date }) => counts(date));
  const parts = logs.flatMap((log) => {
    const muscles = [...(person.muscles.get(log.exercise) ?? [])];

    return (muscles.length ? muscles : [[null, 1] as const]).map(([muscle, weight]) => ({
      log,
      muscle,
      weight,
    }));
  });
  const rows = groups(parts, ({ log, muscle }) => [placeOf(by, firstDay, log.date), muscle]).map(
    (group) => ({
      place: placeOf(by, firstDay, group[0]!.log.date),
      muscle: group[0]!.muscle,
      hardSets: sum(group.map(({ log, weight }) => exact(isHard(log) ? weight : 0))).toFixed(),
      sets: sum(group.map(({ weight }) => exact(weight))).toFixed(),
      tonnage: inUnit(
        unit,
        sum(group.map(({ log, weight }) => tonnage([log], person).times(weight))),
      ),
    }),
  );

  const first = firstDateOf(all.filter(({ date }) => date <= end));
  const none = { hardSets: '0', sets: '0', tonnage: '0.00' };
  const keys = (muscleIds as number[]).flatMap((muscle) =>
    first === undefined ? [] : { first, row: { muscle, ...none } },
  );

  return ordered(
    empty ? withEmptyPlaces(rows, args, ({ muscle }) => muscle, keys) : rows,
    (row) => row.place,
    (row) => row.muscle,
  ).map(({ place, muscle, ...row }) => ({
    bucket: bucketOf(by, place),
    muscleId: muscle === null ? null : String(muscle),
    ...row,
  }));
};

const trainingVolume: Model = (args, all, person) => {
  const { by, firstDay, unit, perExercise, counts, end, empty } = args;
  const logs = all.filter(({ date }) => counts(date));
  const keyOf = ({ exercise }: Log) => (perExercise ? baseOf(exercise) : null);
  const rows = groups(logs, (log) => [placeOf(by, firstDay, log.date), keyOf(log)]).map(
    (group) => ({
      place: placeOf(by, firstDay, group[0]!.date),
      base: keyOf(group[0]!),
      days: new Set(group.map(({ date }) => date)).size,
      sets: group.length,
      hardSets: group.filter(isHard).length,
      reps: String(group.reduce((total, log) => total + (repsOf(log) ?? 0), 0)),
      tonnage: inUnit(unit, tonnage(group, person)),
    }),
  );

  const none = { days: 0, sets: 0, hardSets: 0, reps: '0', tonnage: '0.00' };
  const keys = groups(
    all.filter(({ date }) => date <= end),
    keyOf,
  ).map((group) => ({
    first: firstDateOf(group)!,
    row: { base: keyOf(group[0]!), ...none },
  }));

  return ordered(
    empty ? withEmptyPlaces(rows, args, ({ base }) => base, keys) : rows,
    (row) => row.place,
    (row) => row.base,
  ).map(({ place, base, ...row }) => ({
    bucket: bucketOf(by, place),
    exerciseId: base === null ? null : String(base),
    ...row,
  }));
};

const personalRecords: Model = (args, logs, person) => {
  const { kinds, counts, end, standing, formula, unit } = args;
  const sets = logs.filter(
    (log) => log.date <= end && (repsOf(log) ?? 0) >= 1 && massOf(log, person)?.greaterThan(0),
  );

  interface Candidate {
    kind: string;
    at: Decimal | null;
    value: Decimal | null;
    log: Log;
    isDay?: boolean;
  }
  const of = (log: Log): Candidate[] => [
    { kind: 'WEIGHT', at: null, log, value: massOf(log, person)! },
    { kind: 'ONE_REP_MAX', at: null, log, value: oneRepMax(log, formula, person) },
    { kind: 'REPETITIONS', at: massOf(log, person)!, log, value: exact(repsOf(log)!) },
  ];
  const days = groups(sets, ({ date, exercise }) => [date, baseOf(exercise)]).map(
    (group): Candidate => {
      return {
        kind: 'VOLUME',
        at: null,
        log: group[0]!,
        value: tonnage(group, person),
        isDay: true,
      };
    },
  );
  const rows: Row[] = [];

  for (const candidates of groups([...sets.flatMap(of), ...days], ({ kind, at, log }) => [
    kind,
    baseOf(log.exercise),
    at && at.toFixed(),
  ])) {
    const withValue = candidates.filter(({ value }) => value) as (Candidate & { value: Decimal })[];

    for (const { kind, at, value, log, isDay } of withValue) {
      const before = largest(
        withValue.filter((one) => one.log.date < log.date).map((one) => one.value),
      );
      const sameDay = withValue.filter((one) => one.log.date === log.date);
      const isBest = sameDay.every(
        (one) => one.value.lessThan(value) || (one.value.equals(value) && one.log.id >= log.id),
      );

      if (!isBest || value.lessThanOrEqualTo(before ?? 0) || (kind === 'REPETITIONS' && !before)) {
        continue;
      }

      if ((kinds && !kinds.includes(kind)) || !counts(log.date)) continue;
      if (standing && withValue.some((one) => one.value.greaterThan(value))) continue;
      const formatted = (number: Decimal | null) =>
        kind === 'REPETITIONS' ? number && number.toFixed() : inUnit(unit, number);
      const set = isDay ? { weight: null, reps: null, logId: null } : undefined;

      rows.push({
        at: at ? at.toNumber() : null,
        base: baseOf(log.exercise),
        shown: {
          ...{
            kind,
            date: log.date,
            exerciseId: String(baseOf(log.exercise)),
            value: formatted(value),
            previous: formatted(before),
          },
          ...(set ?? {
            weight: inUnit(unit, massOf(log, person)),
            reps: log.reps,
            logId: String(log.id),
          }),
        },
      });
    }
  }

  return ordered(
    rows,
    (row) => row.shown.date,
    (row) => row.base,
    (row) => row.shown.kind,
    (row) => row.at,
  ).map((row) => row.shown);
};

const trainingLoad: Model = ({ measure, unit, counts, today, until }, logs, person) => {
  const [first] = logs.map(({ date }) => date).sort();
  const last = until ?? today;
  const rows: Row[] = [];
  let means: Decimal[] | undefined;

  for (let date = first; date !== undefined && date <= last; date = dayAfter(date, 1)) {
    const done = logs.filter((log) => log.date === date);
    const load = measure === 'TONNAGE' ? tonnage(done, person) : exact(done.filter(isHard).length);

    means = [7, 42].map((days, index) => {
      const mean = means?.[index] ?? load;

      return mean.plus(
        load
          .minus(mean)
          .times(2)
          .dividedBy(days + 1),
      );
    });
    const [acute, chronic] = means as [Decimal, Decimal];
    const formatted = (value: Decimal) =>
      measure === 'TONNAGE' ? inUnit(unit, value) : formatDecimal(value);
    const ratio = chronic.isZero() ? null : formatDecimal(acute.dividedBy(chronic));

    if (counts(date)) {
      rows.push({
        date,
        load: formatted(load),
        acute: formatted(acute),
        chronic: formatted(chronic),
        ratio,
      });
    }
  }

  return rows;
};

const DOTS = {
  1: ['-0.0000010930', '0.0007391293', '-0.1918759221', '24.0900756', '-307.75076'],
  2: ['-0.0000010706', '0.0005158568', '-0.1126655495', '13.6175032', '-57.96288'],
};

/** Returns a single row, or none if nothing was lifted. */
const strength: Model = (args, logs, person) => {
  const { estimated, formula, gender, unit, until, today } = args;

  const valueOf = (log: Log) => {
    if (estimated) return oneRepMax(log, formula, person);

    return (repsOf(log) ?? 0) >= 1 ? massOf(log, person) : null;
  };

  const pastLogs = logs.filter(({ date }) => date <= (until ?? today));
  const bests = groups(pastLogs, ({ exercise }) => baseOf(exercise)).flatMap((group) => {
    const logsWithWeight = group.filter((log) => valueOf(log)?.greaterThan(0));
    const best = largest(logsWithWeight.map((log) => valueOf(log)!));

    return best
      ? [
          {
            best,
            date: logsWithWeight
              .filter((log) => valueOf(log)!.equals(best))
              .map(({ date }) => date)
              .sort()[0]!,
          },
        ]
      : [];
  });

  if (!bests.length) return [];
  const total = sum(bests.map(({ best }) => best));
  const date = bests
    .map((one) => one.date)
    .sort()
    .at(-1)!;
  const body = bodyOn(date, person);
  const of = gender ?? person.gender;
  const weight = body && Exact.max(40, Exact.min(of === '1' ? 210 : 150, body));

  const points = () => {
    const [first, ...factors] = DOTS[of as '1'];

    return total
      .times(500)
      .dividedBy(
        factors.reduce((value, factor) => value.times(weight!).plus(factor), exact(first!)),
      );
  };

  return [
    {
      total: inUnit(unit, total),
      date,
      bodyWeight: inUnit(unit, body),
      dots: body && of ? formatDecimal(points()) : null,
    },
  ];
};

const trainingWeeks: Model = ({ firstDay, goal, counts, today, until }, logs, { sessions }) => {
  const days = [...new Set([...logs, ...sessions].map(({ date }) => date))];
  const weeks = days.map((date) => String(placeOf('WEEK', firstDay, date))).sort();
  const rows: Row[] = [];
  const last = until ?? today;
  let streak = 0;

  for (let start = weeks[0]; start !== undefined && start <= last; start = dayAfter(start, 7)) {
    const count = weeks.filter((week) => week === start).length;
    const isOver = dayAfter(start, 6) < today;

    if (count >= goal) streak += 1;
    else if (isOver) streak = 0;

    if (counts(start, dayAfter(start, 6))) {
      rows.push({ bucket: bucketOf('WEEK', start), sessions: count, streak });
    }
  }

  return rows;
};

const bodyWeightTrend: Model = ({ counts, days, unit }, _logs, person) => {
  const entries = ordered(
    person.weights.map((entry) => ({ ...entry, mass: kilogramsOf(entry) })),
    ({ date }) => date,
  );
  let trend: Decimal | undefined;
  const rows = entries.map(({ date, mass }) => {
    trend = trend ? trend.plus(mass.minus(trend).times('0.1')) : mass;
    const last = entries.filter(
      (entry) => entry.date <= date && dayOf(date) - dayOf(entry.date) < days,
    );
    const mean = (value: (entry: (typeof last)[number]) => Decimal) =>
      sum(last.map(value)).dividedBy(last.length);
    const [x, y] = [mean((entry) => exact(dayOf(entry.date))), mean((entry) => entry.mass)];
    const deviation = (entry: (typeof last)[number]) => exact(dayOf(entry.date)).minus(x);
    const slope =
      last.length > 1
        ? sum(last.map((entry) => deviation(entry).times(entry.mass.minus(y)))).dividedBy(
            sum(last.map((entry) => deviation(entry).pow(2))),
          )
        : null;

    return {
      date,
      weight: inUnit(unit, mass),
      trend: inUnit(unit, trend, 3),
      ratePerWeek: inUnit(unit, slope && slope.times(7), 3),
    };
  });

  return rows.filter(({ date }) => counts(date));
};

export const TRAINING: Record<string, Model> = {
  bestOneRepMaxes,
  muscleVolume,
  trainingVolume,
  personalRecords,
  trainingLoad,
  strength,
  trainingWeeks,
  bodyWeightTrend,
};
