/** Typed access to environment variables. An invalid value throws a ConfigError of one line that names the variable and the expected syntax. */

export class ConfigError extends Error {}

/** Rate limit: `points` events per `seconds`. */
export interface Rate {
  readonly points: number;
  readonly seconds: number;
}

const DURATIONS_MS: Record<string, number> = { ms: 1, s: 1000, min: 60_000 };
const UNITS_SECONDS: Record<string, number> = { s: 1, sec: 1, min: 60, h: 3600, hour: 3600 };
const SIZES_BYTES: Record<string, number> = { '': 1, k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2, g: 1024 ** 3, gb: 1024 ** 3 };

export class Environment {
  constructor(private readonly variables: Record<string, string | undefined>) {}

  /** Returns undefined for an empty value. */
  text(name: string): string | undefined {
    return this.variables[name]?.trim() || undefined;
  }

  fail(name: string, expected: string): never {
    throw new ConfigError(`${name} must be ${expected}, not ${JSON.stringify(this.variables[name] ?? '')}`);
  }

  whole(name: string, fallback: number, min: number, max: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    return /^\d+$/.test(value) && number >= min && number <= max ? number : this.fail(name, `a whole number from ${min} to ${max}`);
  }

  /** Parses a size; returns bytes. */
  size(name: string, fallback: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const [, number, unit] = /^(\d+)\s*([a-z]*)$/i.exec(value) ?? [];
    const factor = SIZES_BYTES[(unit ?? '?').toLowerCase()];
    return number && factor ? Number(number) * factor : this.fail(name, 'a size such as 5MB');
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return fallback;
    return ['on', 'true'].includes(value) || (['off', 'false'].includes(value) ? false : this.fail(name, 'on or off'));
  }

  /** The first choice is the default. */
  choice<const T extends string>(name: string, [fallback, ...others]: readonly [T, ...T[]]): T {
    const value = this.text(name)?.toLowerCase() ?? fallback;
    return [fallback, ...others].find((one) => one === value) ?? this.fail(name, [fallback, ...others].join(' or '));
  }

  /** Parses a duration; returns milliseconds, or 0 for `off`. */
  duration(name: string, fallback: number): number {
    const value = this.text(name);
    if (value === undefined || value === 'off') return value === undefined ? fallback : 0;
    const [, number, unit] = /^(\d{1,6})\s*(ms|s|min)$/.exec(value) ?? this.fail(name, 'a duration such as 10s, 500ms or 1min, or off');
    return Number(number) * DURATIONS_MS[unit!]!;
  }

  rate(name: string, fallback: Rate): Rate {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const [, points, times, unit] = /^(\d{1,9})\/(\d{0,4})([a-z]{1,4})$/.exec(value) ?? [];
    const seconds = UNITS_SECONDS[unit ?? ''];
    if (points === undefined || seconds === undefined) return this.fail(name, 'a rate such as 10/min, 1/s or 100/10min');
    return { points: Math.max(1, Number(points)), seconds: seconds * Math.max(1, Number(times || 1)) };
  }

  url(name: string, protocols: readonly string[], example: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) this.fail(name, `a URL such as ${example}`);
    return value;
  }
}
