/**
 * Parsers of settings. An invalid value throws a ConfigError with one line that names the variable
 * and the expected syntax.
 */
import { resolve } from 'node:path';

export class ConfigError extends Error {}

export type SettingParser<T> = (value: string, name: string) => T;

/** A rate limit of `points` events per `seconds`. */
export interface RateLimitSetting {
  readonly points: number;
  readonly seconds: number;
}

const DURATION_UNITS_MS: Record<string, number> = { ms: 1, s: 1000, min: 60_000 };
const RATE_UNITS_SECONDS: Record<string, number> = { s: 1, sec: 1, min: 60, h: 3600, hour: 3600 };
const SIZE_UNITS_BYTES: Record<string, number> = {
  '': 1,
  k: 1024,
  kb: 1024,
  m: 1024 ** 2,
  mb: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1024 ** 3,
};

export function throwInvalidSetting(name: string, requirement: string, value: string): never {
  throw new ConfigError(`${name} must be ${requirement}, not ${JSON.stringify(value)}`);
}

export const textParser: SettingParser<string> = (value) => value;

export const filePathParser: SettingParser<string> = (value) => resolve(value);

export const listParser: SettingParser<readonly string[]> = (value) =>
  value.split(/[\s,]+/).filter(Boolean);

export const wholeNumberParser =
  (min: number, max: number): SettingParser<number> =>
  (value, name) => {
    const number = Number(value);

    if (/^\d+$/.test(value) && number >= min && number <= max) return number;

    return throwInvalidSetting(name, `a whole number from ${min} to ${max}`, value);
  };

/** Parses a size such as `5MB` to bytes. */
export const sizeParser: SettingParser<number> = (value, name) => {
  const [, number, unit] = /^(\d+)\s*([a-z]*)$/i.exec(value) ?? [];
  const factor = SIZE_UNITS_BYTES[(unit ?? '?').toLowerCase()];

  if (!number || !factor) return throwInvalidSetting(name, 'a size such as 5MB', value);

  return Number(number) * factor;
};

export const flagParser: SettingParser<boolean> = (value, name) => {
  if (['on', 'true'].includes(value.toLowerCase())) return true;
  if (['off', 'false'].includes(value.toLowerCase())) return false;

  return throwInvalidSetting(name, 'on or off', value);
};

export const choiceParser =
  <const T extends string>(...choices: readonly T[]): SettingParser<T> =>
  (value, name) =>
    choices.find((choice) => choice === value.toLowerCase()) ??
    throwInvalidSetting(name, choices.join(' or '), value);

/** Parses a duration such as `10s` to milliseconds; `off` is 0. */
export const durationParser: SettingParser<number> = (value, name) => {
  if (value === 'off') return 0;
  const [, number, unit] =
    /^(\d{1,6})\s*(ms|s|min)$/.exec(value) ??
    throwInvalidSetting(name, 'a duration such as 10s, 500ms or 1min, or off', value);

  return Number(number) * DURATION_UNITS_MS[unit!]!;
};

/** Parses a rate such as `10/min` or `100/10min`. */
export const rateLimitParser: SettingParser<RateLimitSetting> = (value, name) => {
  const [, points, multiplier, unit] = /^(\d{1,9})\/(\d{0,4})([a-z]{1,4})$/.exec(value) ?? [];
  const seconds = RATE_UNITS_SECONDS[unit ?? ''];

  if (points === undefined || seconds === undefined) {
    return throwInvalidSetting(name, 'a rate such as 10/min, 1/s or 100/10min', value);
  }

  return {
    points: Math.max(1, Number(points)),
    seconds: seconds * Math.max(1, Number(multiplier || 1)),
  };
};

export const urlParser =
  (protocols: readonly string[], example: string): SettingParser<string> =>
  (value, name) => {
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value;

    return throwInvalidSetting(name, `a URL such as ${example}`, value);
  };

/**
 * Parses a secret without repeating it in the error message. The message suggests a random value of
 * `suggestedBytes` bytes.
 */
export const secretParser =
  (minLength: number, suggestedBytes: number): SettingParser<string> =>
  (value, name) => {
    if (value.length >= minLength) return value;
    throw new ConfigError(
      `${name} must have at least ${minLength} characters (for example the output of: openssl rand -hex ${suggestedBytes})`,
    );
  };

/** Extends a parser by a keyword such as `off`, which stands for `keywordValue`. */
export const parserWithKeyword =
  <T>(keyword: string, keywordValue: T, parse: SettingParser<T>): SettingParser<T> =>
  (value, name) =>
    value === keyword ? keywordValue : parse(value, name);

/** Restricts a parser to results that satisfy `isValid`. */
export const parserWithCheck =
  <T>(
    parse: SettingParser<T>,
    isValid: (result: T) => boolean,
    requirement: string,
  ): SettingParser<T> =>
  (value, name) => {
    const result = parse(value, name);

    return isValid(result) ? result : throwInvalidSetting(name, requirement, value);
  };
