/** One value of a body → the value that GraphQL takes, or the message of what is wrong; wording and leniency are Django REST framework's. */
import { DateTime } from 'luxon';
import type { FieldFact, Kind } from '../extensions';
import { UploadedFile } from '../multipart';

export type Coerced = { value: unknown } | { messages: string[] };

const ok = (value: unknown): Coerced => ({ value });
const bad = (message: string): Coerced => ({ messages: [message] });

/** The name of a JSON value's type in Python, which messages tell. */
export function typeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return { string: 'str', boolean: 'bool', object: 'dict' }[typeof value as string] ?? typeof value;
}

/** `str(value)` in Python, of the values that JSON has. */
function text(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map((item) => (typeof item === 'string' ? `'${item}'` : text(item))).join(', ')}]`;
  if (value instanceof UploadedFile) return value.filename;
  if (typeof value === 'object')
    return `{${Object.entries(value!)
      .map(([key, item]) => `'${key}': ${typeof item === 'string' ? `'${item}'` : text(item)}`)
      .join(', ')}}`;
  return String(value);
}

const MAX_TEXT = 1000;
const TRUE = new Set<unknown>(['t', 'T', 'y', 'Y', 'yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON', '1', 1, true]);
const FALSE = new Set<unknown>(['f', 'F', 'n', 'N', 'no', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF', '0', 0, false]);

function string(value: unknown): Coerced {
  return typeof value === 'string' || typeof value === 'number' ? ok(String(value).trim()) : bad('Not a valid string.');
}

function integer(value: unknown): Coerced {
  if (typeof value === 'string' && value.length > MAX_TEXT) return bad('String value too large.');
  const parts = typeof value === 'string' || typeof value === 'number' ? /^\s*([+-]?\d+)(\.0*)?\s*$/.exec(latinDigits(text(value))) : null;
  if (typeof value === 'number' && Number.isInteger(value)) return ok(value);
  return parts ? ok(Number(parts[1])) : bad('A valid integer is required.');
}

function decimal(value: unknown): Coerced {
  const given = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  if (given.length > MAX_TEXT) return bad('String value too large.');
  const digits = latinDigits(given);
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(digits) ? ok(digits) : bad('A valid number is required.');
}

const latinDigits = (given: string): string => given.replace(/\p{Nd}/gu, latinDigit);

/** Digits of other scripts come in runs of ten, each of which starts with its zero. */
function latinDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  if (code < 128) return digit;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

function boolean(value: unknown): Coerced {
  if (TRUE.has(value)) return ok(true);
  return FALSE.has(value) ? ok(false) : bad('Must be a valid boolean.');
}

function choice(value: unknown): Coerced {
  return ok(text(value));
}

export const pad = (part: string, length = 2) => part.padStart(length, '0');

function day(value: unknown): Coerced {
  const parts = typeof value === 'string' ? /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(value) : null;
  const date = parts && `${parts[1]}-${pad(parts[2]!)}-${pad(parts[3]!)}`;
  return date && validDay(date) ? ok(date) : bad('Date has wrong format. Use one of these formats instead: YYYY-MM-DD.');
}

export const validDay = (date: string) => !date.startsWith('0000') && DateTime.fromISO(date).isValid;

export const validClock = (hour: string, minute: string, second = '0') => Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;

function clock(value: unknown): Coerced {
  // What follows the time, such as a Z, is not looked at.
  const parts = typeof value === 'string' ? /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d{0,6})?)?/.exec(value) : null;
  if (!parts || !validClock(parts[1]!, parts[2]!, parts[3]))
    return bad('Time has wrong format. Use one of these formats instead: hh:mm[:ss[.uuuuuu]].');
  return ok(`${pad(parts[1]!)}:${pad(parts[2]!)}:${pad(parts[3] ?? '0')}${parts[4] ? `.${parts[4]}` : ''}`);
}

const MOMENT =
  /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d{0,6})?)?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?$/;

/** A value without a zone is the server's local time, which must exist and be unambiguous there. */
function moment(value: unknown, timeZone: string): Coerced {
  const wrong = bad('Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].');
  const parts = typeof value === 'string' ? MOMENT.exec(value) : null;
  if (!parts) return wrong;
  const date = `${parts[1]}-${pad(parts[2]!)}-${pad(parts[3]!)}`;
  if (!validDay(date) || !validClock(parts[4]!, parts[5]!, parts[6])) return wrong;
  const local = `${date}T${pad(parts[4]!)}:${pad(parts[5]!)}:${pad(parts[6] ?? '0')}`;
  const fraction = parts[7] ? `.${parts[7]}` : '';
  if (parts[8])
    return ok(`${local}${fraction}${parts[8] === 'Z' ? 'Z' : `${parts[8].slice(0, 3)}:${parts[8].slice(3).replace(':', '') || '00'}`}`);
  const zoned = DateTime.fromISO(local, { zone: timeZone });
  const exists = zoned.toISO({ includeOffset: false, suppressMilliseconds: true }) === local;
  if (!exists || zoned.getPossibleOffsets().length > 1) return bad(`Invalid datetime for the timezone "${timeZone}".`);
  return ok(`${local}${fraction}${zoned.toFormat('ZZ')}`);
}

function uuid(value: unknown): Coerced {
  const hex = typeof value === 'string' ? value.trim().replace(/^urn:uuid:|[{}-]/gi, '') : '';
  return /^[0-9a-f]{32}$/i.test(hex) ? ok(hex.toLowerCase()) : bad(`“${text(value)}” is not a valid UUID.`);
}

/** The id that a value names; a fraction is cut off. Undefined for what cannot be an id. */
export function idOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : undefined;
  const digits = typeof value === 'string' ? latinDigits(value) : '';
  return /^\s*[+-]?\d+\s*$/.test(digits) ? Number(digits) : undefined;
}

function reference(value: unknown): Coerced {
  const id = idOf(value);
  return id === undefined ? bad(`Incorrect type. Expected pk value, received ${typeName(value)}.`) : ok(id);
}

function references(value: unknown): Coerced {
  if (!Array.isArray(value)) return bad(`Expected a list of items but got type "${typeName(value)}".`);
  if (value.length === 0) return bad('This list may not be empty.');
  const ids: unknown[] = [];
  for (const item of value) {
    const coerced = item === null ? bad('Invalid pk "None" - object does not exist.') : reference(item);
    if ('messages' in coerced) return coerced;
    ids.push(coerced.value);
  }
  return ok([...new Set(ids)]);
}

const COERCE: Partial<Record<Kind, (value: unknown, timeZone: string) => Coerced>> = {
  string,
  url: string,
  integer,
  decimal,
  boolean,
  choice,
  date: day,
  time: clock,
  datetime: moment,
  uuid,
};

/** A value that was given and is not null; limits are checked too. */
export function coerce(field: FieldFact, value: unknown, timeZone: string): Coerced {
  if (field.relation) return field.relation.many ? references(value) : reference(value);
  const coerced = COERCE[field.kind]?.(value, timeZone) ?? ok(value);
  if ('messages' in coerced) return coerced;
  const messages = field.check(coerced.value);
  return messages.length ? { messages } : coerced;
}
