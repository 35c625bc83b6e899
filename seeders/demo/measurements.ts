import { addDays } from '../dates';
import { Random } from '../random';
import type { RowList } from '../row';

const WEEKS = 52;

/** Kinds of measurements, with the first and last values of the year. */
const CATEGORIES = [
  { name: 'Waist', unit: 'cm', first: 94, last: 86, variation: 0.4 },
  { name: 'Body fat', unit: '%', first: 24.5, last: 18.2, variation: 0.3 },
];

/** Adds a year of measurements, on the morning of one day a week. */
export function addMeasurements(list: RowList, today: string, user: number): void {
  const random = new Random(52);

  for (const { name, unit, first, last, variation } of CATEGORIES) {
    const category = list.add('measurements.category', { name, unit, user });

    for (let week = 0; week < WEEKS; week++) {
      const trend = first + ((last - first) * week) / (WEEKS - 1);

      list.add('measurements.measurement', {
        category,
        date: `${addDays(today, 7 * (week + 1 - WEEKS))}T07:00:00Z`,
        value: (trend + random.noise() * variation).toFixed(1),
        notes: '',
      });
    }
  }
}
