/** One value of a body → the value that GraphQL takes, or the message of what is wrong; wording and leniency are Django REST framework's. */
import { DateTime } from 'luxon';
import {
  NOT_AN_INTEGER,
  NOT_A_DATE,
  NOT_A_MOMENT,
  NOT_A_NUMBER,
  NOT_A_STRING,
  NOT_A_TIME,
  NOT_EMPTY,
  noSuchRow,
} from '../../contract/messages';
import type { FieldFact, Kind } from '../../contract/facts';
import { UploadedFile } from '../../platform/multipart';
import { decimalOf, exact, integerOf, trimmed, trimmedAtEnd, uuidOf } from '../../platform/reading';
import { isInteger, isNumber, numberText, valueOf } from './json';

export type Coercible = Pick<FieldFact, 'kind' | 'choices' | 'check'>;

export type Coerced = { value: unknown } | { messages: string[] };

const ok = (value: unknown): Coerced => ({ value });
const bad = (message: string): Coerced => ({ messages: [message] });

/** In bytes: larger files than this the reference keeps on disk. */
const MAX_IN_MEMORY = 2_621_440;

/** The name of a value's type in Python, which messages tell. */
export function typeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (isNumber(value)) return isInteger(value) ? 'int' : 'float';
  if (value instanceof UploadedFile) return value.size > MAX_IN_MEMORY ? 'TemporaryUploadedFile' : 'InMemoryUploadedFile';
  return { string: 'str', boolean: 'bool', object: 'dict' }[typeof value as string] ?? typeof value;
}

/** `str(value)` in Python, of the values that JSON has. */
export function text(value: unknown): string {
  if (value === null) return 'None';
  if (isNumber(value)) return numberText(value);
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
const TRUE = ['t', 'T', 'y', 'Y', 'yes', 'YES', 'Yes', 'true', 'True', 'TRUE', 'on', 'On', 'ON', '1'];
const FALSE = ['f', 'F', 'n', 'N', 'no', 'NO', 'No', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF', '0'];
const BOOLEANS = new Map<unknown, boolean>([
  ...[...TRUE, 1, true].map((value): [unknown, boolean] => [value, true]),
  ...[...FALSE, 0, false].map((value): [unknown, boolean] => [value, false]),
]);

/** A number is spelled as JavaScript does it: nobody means its digits. */
function string(value: unknown): Coerced {
  if (isNumber(value)) return ok(String(valueOf(value)));
  return typeof value === 'string' ? ok(trimmed(value)) : bad(NOT_A_STRING);
}

const isTooLong = (value: string): boolean => value.length > MAX_TEXT;

/** A point with zeros behind it makes no fraction. */
function integer(value: unknown): Coerced {
  if (typeof value === 'string' && isTooLong(value)) return bad('String value too large.');
  const given = typeof value === 'string' || isNumber(value) ? text(value) : '';
  const point = given.lastIndexOf('.');
  const whole = point >= 0 && /^\.0*$/.test(trimmedAtEnd(given.slice(point))) ? given.slice(0, point) : given;
  const number = integerOf(whole);
  return number === undefined ? bad(NOT_AN_INTEGER) : ok(number);
}

function decimal(value: unknown): Coerced {
  const given = typeof value === 'string' || isNumber(value) ? trimmed(text(value)) : '';
  if (isTooLong(given)) return bad('String value too large.');
  const number = decimalOf(latinDigits(given));
  return number === undefined ? bad(NOT_A_NUMBER) : ok(number);
}

/** Clients in the field send weights in digits of their own script; it is the one place where others than ASCII's are read. */
const latinDigits = (given: string): string => given.replace(/[^\P{Nd}0-9]/gu, latinDigit);

/** Digits of other scripts come in runs of ten, each of which starts with its zero. */
function latinDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}

function boolean(value: unknown): Coerced {
  const found = BOOLEANS.get(isNumber(value) ? valueOf(value) : value);
  return found === undefined ? bad('Must be a valid boolean.') : ok(found);
}

/** Where nothing is a choice of its own, its name in Python chooses it. */
function choice(value: unknown, { choices }: Coercible): Coerced {
  const chosen = text(value);
  return ok(chosen === text(null) && choices?.some((one) => one.value === null) ? null : chosen);
}

export const pad = (part: string, length = 2) => part.padStart(length, '0');

function day(value: unknown): Coerced {
  const parts = typeof value === 'string' ? /^(\d{4})-(\d{1,2})-(\d{1,2})\n?$/.exec(value) : null;
  const date = parts && `${parts[1]}-${pad(parts[2]!)}-${pad(parts[3]!)}`;
  return date && validDay(date) ? ok(date) : bad(NOT_A_DATE);
}

export const validDay = (date: string) => !date.startsWith('0000') && DateTime.fromISO(date).isValid;

export const validClock = (hour: string, minute: string, second = '0') => Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;

function clock(value: unknown): Coerced {
  // What follows the time, such as a Z, is not looked at.
  const parts = typeof value === 'string' ? /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d{0,6})?)?/.exec(value) : null;
  if (!parts || !validClock(parts[1]!, parts[2]!, parts[3])) return bad(NOT_A_TIME);
  return ok(`${pad(parts[1]!)}:${pad(parts[2]!)}:${pad(parts[3] ?? '0')}${parts[4] ? `.${parts[4]}` : ''}`);
}

const MOMENT = /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d{0,6})?)?(Z|[+-]\d\d(?::?\d\d)?)?\n?$/;

/** Of less than a day; its minutes may be more than an hour, as in `+01:60`. */
function offsetOf(text: string): string | undefined {
  if (text === 'Z') return text;
  const [hours, minutes] = [text.slice(1, 3), text.slice(3).replace(':', '') || '0'].map(Number) as [number, number];
  const total = 60 * hours + minutes;
  return total < 24 * 60 ? `${text[0]}${pad(String(Math.floor(total / 60)))}:${pad(String(total % 60))}` : undefined;
}

/** A value without a zone is the server's local time, which must exist and be unambiguous there. */
function moment(value: unknown, _field: Coercible, timeZone: string): Coerced {
  const wrong = bad(NOT_A_MOMENT);
  const parts = typeof value === 'string' ? MOMENT.exec(value) : null;
  if (!parts) return wrong;
  const date = `${parts[1]}-${pad(parts[2]!)}-${pad(parts[3]!)}`;
  if (!validDay(date) || !validClock(parts[4]!, parts[5]!, parts[6])) return wrong;
  const local = `${date}T${pad(parts[4]!)}:${pad(parts[5]!)}:${pad(parts[6] ?? '0')}`;
  const fraction = parts[7] ? `.${parts[7]}` : '';
  const offset = parts[8] && offsetOf(parts[8]);
  if (parts[8]) return offset ? ok(`${local}${fraction}${offset}`) : wrong;
  const zoned = DateTime.fromISO(local, { zone: timeZone });
  const exists = zoned.toISO({ includeOffset: false, suppressMilliseconds: true }) === local;
  if (!exists || zoned.getPossibleOffsets().length > 1) return bad(`Invalid datetime for the timezone "${timeZone}".`);
  return ok(`${local}${fraction}${zoned.toFormat('ZZ')}`);
}

function uuid(value: unknown): Coerced {
  const digits = typeof value === 'string' ? uuidOf(value) : undefined;
  return digits === undefined ? bad(`“${text(value)}” is not a valid UUID.`) : ok(digits);
}

/** The id that a value names; a fraction is cut off. Undefined for what cannot be an id. */
export function idOf(value: unknown): number | undefined {
  if (isNumber(value)) return isInteger(value) || Number.isFinite(valueOf(value)) ? exact(Math.trunc(valueOf(value))) : undefined;
  return typeof value === 'string' ? integerOf(value) : undefined;
}

/** What a list of references is taken to hold: a dict counts as the list of its keys. Undefined for what is no list. */
export function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return value !== null && typeof value === 'object' && !isNumber(value) ? Object.keys(value) : undefined;
}

/** The ids that a value of a relation names, all of them `known` if that was looked up; the first that is wrong is told. */
export function reference(field: Pick<FieldFact, 'relation'>, value: unknown, known?: readonly number[]): Coerced {
  const one = (item: unknown): Coerced => {
    const id = idOf(item);
    if (id === undefined && item !== null) return bad(`Incorrect type. Expected pk value, received ${typeName(item)}.`);
    return id !== undefined && (known?.includes(id) ?? true) ? ok(id) : bad(noSuchRow(text(item)));
  };
  if (!field.relation!.many) return one(value);
  const items = itemsOf(value);
  if (!items) return bad(`Expected a list of items but got type "${typeName(value)}".`);
  if (items.length === 0) return bad(NOT_EMPTY);
  const ids = new Set<unknown>();
  for (const item of items) {
    const found = one(item);
    if ('messages' in found) return found;
    ids.add(found.value);
  }
  return ok([...ids]);
}

const COERCE: Partial<Record<Kind, (value: unknown, field: Coercible, timeZone: string) => Coerced>> = {
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

/** A value that was given, is not null and names no rows; limits are checked too. */
export function coerce(field: Coercible, value: unknown, timeZone: string): Coerced {
  const coerced = COERCE[field.kind]?.(value, field, timeZone) ?? ok(value);
  if ('messages' in coerced) return coerced;
  const messages = field.check(coerced.value, timeZone);
  return messages.length ? { messages } : coerced;
}
