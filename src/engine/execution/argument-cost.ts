/**
 * Cost of argument values: filters by the work they cause in the database, mutation inputs by the
 * number and length of their rows.
 */

export const BYTES_PER_COST_UNIT = 1024;
const CONDITION_COST = 0.5;
const SEARCH_COST = 50;

/**
 * Cost of each written row and of each 1,024 characters in its strings. It is so high that no
 * client can fill the disk within minutes.
 */
const WRITTEN_ROW_COST = 200;

/**
 * Cost of a condition on related rows (`some`, `none`). Each enclosing `some` or `none` multiplies
 * it by ten, up to MAX_QUANTIFIER_NESTING times.
 */
const QUANTIFIER_COST = 1_000;
const MAX_QUANTIFIER_NESTING = 2;
const QUANTIFIERS = ['some', 'none'];

export function filterCost(value: unknown, quantifierDepth = 0): number {
  if (Array.isArray(value)) {
    return value.reduce((total: number, item) => total + filterCost(item, quantifierDepth), 0);
  }

  if (value === null || typeof value !== 'object') return CONDITION_COST;

  return Object.entries(value).reduce((total, [key, nestedValue]) => {
    if (nestedValue == null) return total;

    if (QUANTIFIERS.includes(key)) {
      const factor = 10 ** Math.min(quantifierDepth, MAX_QUANTIFIER_NESTING);

      return total + QUANTIFIER_COST * factor + filterCost(nestedValue, quantifierDepth + 1);
    }

    return total + (key === 'search' ? SEARCH_COST : 0) + filterCost(nestedValue, quantifierDepth);
  }, 0);
}

/** Distinguishes input objects from files and other objects that are values of scalars. */
export const isInputObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null &&
  typeof value === 'object' &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value));

function countObjects(value: unknown): number {
  if (Array.isArray(value)) {
    return value.reduce((total: number, item) => total + countObjects(item), 0);
  }

  if (!isInputObject(value)) return 0;

  return Object.values(value).reduce(
    (total: number, nestedValue) => total + countObjects(nestedValue),
    1,
  );
}

function countCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length;

  if (value === null || typeof value !== 'object') return 0;

  return Object.values(value).reduce(
    (total: number, nestedValue) => total + countCharacters(nestedValue),
    0,
  );
}

export const mutationInputCost = (value: unknown): number =>
  WRITTEN_ROW_COST *
  (Math.max(1, countObjects(value)) + countCharacters(value) / BYTES_PER_COST_UNIT);
