/** Checks of values of unknown JSON documents. */

export type Check = (value: unknown) => boolean;

export const isText =
  (max: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= max && !value.includes('\0');
export const isNumber =
  (max: number): Check =>
  (value) =>
    typeof value === 'number' && value >= 0 && value <= max;
export const isOptional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
export const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** Whether a value is an object whose fields pass the checks. Other fields are ignored. */
export const hasFields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(checks).every(([name, check]) =>
      check((value as Record<string, unknown>)[name]),
    );

export const isUuid: Check = (value) =>
  typeof value === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value);
