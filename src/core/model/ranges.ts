/** Bounds of a range, as they travel: texts that stand for numbers, days, times and moments. */
import { Decimal } from 'decimal.js';
import { DateTime } from 'luxon';
import type { Kind } from '../../contract/facts';
import { FRACTION } from './clock';

export interface Range {
  from: string | number;
  to: string | number;
}

/** `08:00` and `08:00:00.000000` are the same time. */
const completed = (time: string) => time + '00:00:00.000000'.slice(time.length);

/** Microseconds since 1970; a moment of luxon's has milliseconds only. */
function microseconds(moment: string): bigint {
  const [fraction = ''] = FRACTION.exec(moment) ?? [];
  const seconds = DateTime.fromISO(moment.replace(FRACTION, '')).toSeconds();
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.slice(1).padEnd(6, '0'));
}

/** Whether no value can lie between the two. */
export function runsBackward(kind: Kind, { from, to }: Range): boolean {
  switch (kind) {
    case 'decimal':
      return new Decimal(from).greaterThan(to);
    case 'time':
      return completed(String(from)) > completed(String(to));
    case 'datetime':
      return microseconds(String(from)) > microseconds(String(to));
    default:
      return from > to;
  }
}
