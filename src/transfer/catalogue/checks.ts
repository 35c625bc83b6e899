/** Checks of values of unknown JSON documents. */
export type Check<T> = (value: unknown) => value is T;

/** Type of the values that pass a check. */
export type Checked<C> = C extends Check<infer T> ? T : never;

/** `max` is a number of characters. PostgreSQL stores neither NUL nor half surrogate pairs. */
export const isText =
  (max: number): Check<string> =>
  (value): value is string =>
    typeof value === 'string' &&
    (value.length <= max || (value.length <= 2 * max && [...value].length <= max)) &&
    !/[\0\p{Surrogate}]/u.test(value);

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
  <T>(check: Check<T>, max = Infinity): Check<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.length <= max && value.every(check);

/** Objects whose fields pass the checks; a field that may be undefined may be absent. */
type Fields<Checks> = {
  [Name in keyof Checks as undefined extends Checked<Checks[Name]> ? never : Name]: Checked<
    Checks[Name]
  >;
} & {
  [Name in keyof Checks as undefined extends Checked<Checks[Name]> ? Name : never]?: Checked<
    Checks[Name]
  >;
};

/** Whether a value is an object whose fields pass the checks. Other fields are ignored. */
export const hasFields =
  <Checks extends Record<string, Check<unknown>>>(checks: Checks): Check<Fields<Checks>> =>
  (value): value is Fields<Checks> =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(checks).every(([name, check]) =>
      check((value as Record<string, unknown>)[name]),
    );

export const isUuid: Check<string> = (value): value is string =>
  typeof value === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(value);
