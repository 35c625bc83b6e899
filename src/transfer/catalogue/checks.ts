/** Checks of values of unknown JSON documents. */
export type Check<T> = (value: unknown) => value is T;

/** Type of the values that pass a check. */
export type Checked<C> = C extends Check<infer T> ? T : never;

/** `max` is a number of characters. */
export const isText =
  (max: number): Check<string> =>
  (value): value is string =>
    typeof value === 'string' &&
    (value.length <= max || [...value].length <= max) &&
    !value.includes('\0');

/** Names of rows, which are not empty. */
export const isName =
  (max: number): Check<string> =>
  (value): value is string =>
    isText(max)(value) && value.trim() !== '';
export const isNumber =
  (max: number): Check<number> =>
  (value): value is number =>
    typeof value === 'number' && value >= 0 && value <= max;
export const isOptional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || check(value);
export const isListOf =
  <T>(check: Check<T>): Check<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(check);

/** Whether a value is an object whose fields pass the checks. Other fields are ignored. */
export const hasFields =
  <T extends object>(checks: { [Name in keyof T]-?: Check<T[Name]> }): Check<T> =>
  (value): value is T =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries<Check<unknown>>(checks).every(([name, check]) =>
      check((value as Record<string, unknown>)[name]),
    );

export const isUuid: Check<string> = (value): value is string =>
  typeof value === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(value);
