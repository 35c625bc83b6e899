/** What day and moment it is in the zone of the server. */
import { DateTime } from 'luxon';

export const today = (timeZone: string): string => DateTime.now().setZone(timeZone).toISODate()!;
export const now = (timeZone: string): string => DateTime.now().setZone(timeZone).toISO({ includeOffset: true })!;
