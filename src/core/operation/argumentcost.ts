/** What the values of arguments cost: conditions by what they make the database do, rows that are written by their number and length. */

export const BYTES_PER_UNIT = 1024;
const CONDITION = 0.5;
const SEARCH = 50;
/** Of a row that is written, and of each KB of its texts: nobody fills a disk within minutes. */
const WRITTEN = 200;
/** Of a condition on the rows that a row leads to, times ten for each such condition around it, of two at most: such rows are read once each. */
const QUANTIFIER = 1_000;
const MAX_AROUND = 2;
const QUANTIFIERS = ['some', 'every', 'none'];

export function conditionsCost(value: unknown, within = 0): number {
  if (Array.isArray(value)) return value.reduce((total: number, item) => total + conditionsCost(item, within), 0);
  if (value === null || typeof value !== 'object') return CONDITION;
  return Object.entries(value).reduce((total, [key, inner]) => {
    if (inner == null) return total;
    if (QUANTIFIERS.includes(key)) return total + QUANTIFIER * 10 ** Math.min(within, MAX_AROUND) + conditionsCost(inner, within + 1);
    return total + (key === 'search' ? SEARCH : 0) + conditionsCost(inner, within);
  }, 0);
}

function objects(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((total: number, item) => total + objects(item), 0);
  if (value === null || typeof value !== 'object' || ![Object.prototype, null].includes(Object.getPrototypeOf(value))) return 0;
  return Object.values(value).reduce((total: number, inner) => total + objects(inner), 1);
}

function characters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return value === null || typeof value !== 'object'
    ? 0
    : Object.values(value).reduce((total: number, inner) => total + characters(inner), 0);
}

export const writtenCost = (value: unknown): number => WRITTEN * (Math.max(1, objects(value)) + characters(value) / BYTES_PER_UNIT);
