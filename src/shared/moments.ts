/** Times that people enter: a date, a date with time, or an age. */
import { DateTime } from 'luxon';

const AGE_UNITS: Readonly<Record<string, string>> = { m: 'minutes', h: 'hours', d: 'days' };

export const MOMENT_FORMATS = 'a time such as 2026-03-10T08:00, or an age such as 90m, 12h or 7d';

/** Parses one of MOMENT_FORMATS to an ISO timestamp in UTC. Default zone: that of the process. */
export function parseMoment(text: string, zone?: string): string | undefined {
  const [, number, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  let moment = DateTime.fromISO(text, { zone });

  if (unit !== undefined) {
    moment = DateTime.now().minus({ [AGE_UNITS[unit]!]: Number(number) });
  }

  if (!moment.isValid || moment.year < 1970 || moment.year > 9999) return undefined;

  return moment.toUTC().toISO();
}
