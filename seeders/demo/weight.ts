import { addDays, weekday } from '../dates';
import { Random } from '../random';
import type { RowList } from '../row';

const DAYS = 365;
const GAP = 0.05;

/** The trend as [day since the first entry, kg]; weights between two points are interpolated. */
const TREND: [number, number][] = [
  [0, 84.6],
  [60, 86.1],
  [100, 86.4],
  [210, 81.2],
  [250, 81.5],
  [364, 77.8],
];

/** Water retained after a weekend, by day of the week. */
const AFTER_WEEKEND_KG: Readonly<Record<number, number>> = { 1: 0.35, 7: 0.2 };

function trend(day: number): number {
  let [fromDay, fromWeight] = TREND[0] ?? [0, 0];

  for (const [toDay, toWeight] of TREND) {
    if (day <= toDay && toDay > fromDay) {
      return fromWeight + ((toWeight - fromWeight) * (day - fromDay)) / (toDay - fromDay);
    }

    [fromDay, fromWeight] = [toDay, toWeight];
  }

  return fromWeight;
}

/**
 * Adds a year of body weight: three months upwards, two periods downwards, with the usual variation
 * by water and weekends.
 */
export function addWeights(list: RowList, today: string, user: number): void {
  const random = new Random(365);
  let drift = 0;

  for (let day = 0; day < DAYS; day++) {
    const date = addDays(today, day + 1 - DAYS);

    // Water retention lasts several days, so each day keeps a part of the deviation of the previous
    // one.
    drift = drift * 0.6 + random.noise() * 0.22;
    const afterWeekend = AFTER_WEEKEND_KG[weekday(date)] ?? 0;
    const forgotten = random.chance(GAP) && day > 0 && day < DAYS - 1;
    // A scale shows steps of 100 g.
    const weight = Math.round((trend(day) + drift + afterWeekend) * 10) / 10;

    if (!forgotten) list.add('weight.weightentry', { date, weight: weight.toFixed(2), user });
  }
}
