/** Parsers of settings. For an invalid value, they throw a ConfigError with one line that names the variable and the expected syntax. */
import { resolve } from 'node:path';

export class ConfigError extends Error {}

/** Parses the value of the environment variable `name`. */
export type Parser<T> = (value: string, name: string) => T;

/** Rate limit: `points` events per `seconds`. */
export interface Rate {
  readonly points: number;
  readonly seconds: number;
}

const DURATION_UNITS_MS: Record<string, number> = { ms: 1, s: 1000, min: 60_000 };
const RATE_UNITS_SECONDS: Record<string, number> = { s: 1, sec: 1, min: 60, h: 3600, hour: 3600 };
const SIZE_UNITS_BYTES: Record<string, number> = { '': 1, k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2, g: 1024 ** 3, gb: 1024 ** 3 };

export function throwInvalidSetting(name: string, expected: string, value: string): never {
  throw new ConfigError(`${name} must be ${expected}, not ${JSON.stringify(value)}`);
}

export const text: Parser<string> = (value) => value;

/** Parses a file path and returns it as an absolute path. A relative path is resolved against the working directory. */
export const filePath: Parser<string> = (value) => resolve(value);

/** Parses a list separated by commas or spaces. */
export const list: Parser<readonly string[]> = (value) => value.split(/[\s,]+/).filter(Boolean);

export const wholeNumber =
  (min: number, max: number): Parser<number> =>
  (value, name) => {
    const number = Number(value);
    return /^\d+$/.test(value) && number >= min && number <= max
      ? number
      : throwInvalidSetting(name, `a whole number from ${min} to ${max}`, value);
  };

/** Parses a size such as `5MB` and returns bytes. */
export const size: Parser<number> = (value, name) => {
  const [, number, unit] = /^(\d+)\s*([a-z]*)$/i.exec(value) ?? [];
  const factor = SIZE_UNITS_BYTES[(unit ?? '?').toLowerCase()];
  return number && factor ? Number(number) * factor : throwInvalidSetting(name, 'a size such as 5MB', value);
};

export const flag: Parser<boolean> = (value, name) =>
  ['on', 'true'].includes(value.toLowerCase()) ||
  (['off', 'false'].includes(value.toLowerCase()) ? false : throwInvalidSetting(name, 'on or off', value));

export const choice =
  <const T extends string>(...choices: readonly T[]): Parser<T> =>
  (value, name) =>
    choices.find((one) => one === value.toLowerCase()) ?? throwInvalidSetting(name, choices.join(' or '), value);

/** Parses a duration such as `10s` and returns milliseconds; 0 for `off`. */
export const duration: Parser<number> = (value, name) => {
  if (value === 'off') return 0;
  const [, number, unit] =
    /^(\d{1,6})\s*(ms|s|min)$/.exec(value) ?? throwInvalidSetting(name, 'a duration such as 10s, 500ms or 1min, or off', value);
  return Number(number) * DURATION_UNITS_MS[unit!]!;
};

export const rate: Parser<Rate> = (value, name) => {
  const [, points, times, unit] = /^(\d{1,9})\/(\d{0,4})([a-z]{1,4})$/.exec(value) ?? [];
  const seconds = RATE_UNITS_SECONDS[unit ?? ''];
  if (points === undefined || seconds === undefined) return throwInvalidSetting(name, 'a rate such as 10/min, 1/s or 100/10min', value);
  return { points: Math.max(1, Number(points)), seconds: seconds * Math.max(1, Number(times || 1)) };
};

export const url =
  (protocols: readonly string[], example: string): Parser<string> =>
  (value, name) =>
    URL.canParse(value) && protocols.includes(new URL(value).protocol)
      ? value
      : throwInvalidSetting(name, `a URL such as ${example}`, value);

/** Parses a secret. The error message does not contain its value. `bytes`: length of the random value that the message suggests. */
export const secret =
  (minLength: number, bytes: number): Parser<string> =>
  (value, name) => {
    if (value.length >= minLength) return value;
    throw new ConfigError(`${name} must have at least ${minLength} characters (for example the output of: openssl rand -hex ${bytes})`);
  };

/** Returns a parser that returns `replacement` for the word `word`, and parses all other values with `parse`. */
export const keywordOr =
  <T>(word: string, replacement: T, parse: Parser<T>): Parser<T> =>
  (value, name) =>
    value === word ? replacement : parse(value, name);

/** Returns a parser that parses values with `parse` and rejects those whose result does not satisfy `isValid`. */
export const withCheck =
  <T>(parse: Parser<T>, isValid: (result: T) => boolean, expected: string): Parser<T> =>
  (value, name) => {
    const result = parse(value, name);
    return isValid(result) ? result : throwInvalidSetting(name, expected, value);
  };
