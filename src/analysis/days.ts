/** How questions put days together. */
import { FirstDay } from '../core/grouping/units';

export const BY_DAYS = 'By what days are put together.';
export const FIRST_DAY = { defaultValue: FirstDay.MONDAY, description: 'With which day weeks begin.' };
/** Where days without anything have rows too. */
export const MAX_DAYS = 9_999;
