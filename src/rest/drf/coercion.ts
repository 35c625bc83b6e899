/**
 * Coerces values of a request body to GraphQL input values. Leniency and error messages follow
 * Django REST framework.
 */
import { DateTime } from 'luxon';
import {
  NOT_AN_INTEGER_MESSAGE,
  NOT_A_DATE_MESSAGE,
  NOT_A_DATETIME_MESSAGE,
  NOT_A_NUMBER_MESSAGE,
  NOT_A_STRING_MESSAGE,
  NOT_A_TIME_MESSAGE,
  NOT_EMPTY_MESSAGE,
  noSuchRowMessage,
} from '../../shared/messages';
import type { FieldMetadata, FieldKind } from '../../shared/metadata';
import { UploadedFile } from '../../shared/multipart';
import {
  parseDecimal,
  clampToSafeInteger,
  parseInteger,
  pythonStrip,
  pythonRstrip,
  parseUuid,
} from './python-scalars';
import { isInteger, isNumber, pythonNumberText, numberValue } from './json-parser';

export type CoercibleField = Pick<FieldMetadata, 'kind' | 'choices' | 'check'>;

export type CoercionResult = { value: unknown } | { messages: string[] };

const validResult = (value: unknown): CoercionResult => ({ value });
const invalidResult = (message: string): CoercionResult => ({ messages: [message] });

/**
 * Size above which Django stores an upload in a temporary file and names another type in error
 * messages.
 */
const DJANGO_MAX_IN_MEMORY_FILE_BYTES = 2_621_440;

export function pythonTypeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (isNumber(value)) return isInteger(value) ? 'int' : 'float';

  if (value instanceof UploadedFile) {
    if (value.size > DJANGO_MAX_IN_MEMORY_FILE_BYTES) return 'TemporaryUploadedFile';

    return 'InMemoryUploadedFile';
  }

  return { string: 'str', boolean: 'bool', object: 'dict' }[typeof value as string] ?? typeof value;
}

/** Formats a JSON value like Python's `str(value)`. */
export function pythonText(value: unknown): string {
  if (value === null) return 'None';
  if (isNumber(value)) return pythonNumberText(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';

  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;

  if (value instanceof UploadedFile) return value.filename;

  if (typeof value === 'object') {
    const entries = Object.entries(value!).map(([key, item]) => `'${key}': ${pythonRepr(item)}`);

    return `{${entries.join(', ')}}`;
  }

  return String(value);
}

const pythonRepr = (item: unknown): string =>
  typeof item === 'string' ? `'${item}'` : pythonText(item);

const MAX_NUMBER_CHARACTERS = 1000;
const TRUE_VALUES = [
  't',
  'T',
  'y',
  'Y',
  'yes',
  'YES',
  'Yes',
  'true',
  'True',
  'TRUE',
  'on',
  'On',
  'ON',
  '1',
];
const FALSE_VALUES = [
  'f',
  'F',
  'n',
  'N',
  'no',
  'NO',
  'No',
  'false',
  'False',
  'FALSE',
  'off',
  'Off',
  'OFF',
  '0',
];
const BOOLEAN_BY_VALUE = new Map<unknown, boolean>([
  ...[...TRUE_VALUES, 1, true].map((value): [unknown, boolean] => [value, true]),
  ...[...FALSE_VALUES, 0, false].map((value): [unknown, boolean] => [value, false]),
]);

/** Coerces a string or number to a string. Numbers are converted to text as in JavaScript. */
function coerceString(value: unknown): CoercionResult {
  if (isNumber(value)) return validResult(String(numberValue(value)));

  if (typeof value === 'string') return validResult(pythonStrip(value));

  return invalidResult(NOT_A_STRING_MESSAGE);
}

const isNumberTextTooLong = (value: string): boolean => value.length > MAX_NUMBER_CHARACTERS;

/** Coerces a value to an integer. A fraction of zeros is accepted (`5.0`). */
function coerceInteger(value: unknown): CoercionResult {
  if (typeof value === 'string' && isNumberTextTooLong(value)) {
    return invalidResult('String value too large.');
  }

  const inputText = typeof value === 'string' || isNumber(value) ? pythonText(value) : '';
  const pointIndex = inputText.lastIndexOf('.');
  const hasZeroFraction =
    pointIndex >= 0 && /^\.0*$/.test(pythonRstrip(inputText.slice(pointIndex)));
  const integerText = hasZeroFraction ? inputText.slice(0, pointIndex) : inputText;
  const number = parseInteger(integerText);

  return number === undefined ? invalidResult(NOT_AN_INTEGER_MESSAGE) : validResult(number);
}

function coerceDecimal(value: unknown): CoercionResult {
  const inputText =
    typeof value === 'string' || isNumber(value) ? pythonStrip(pythonText(value)) : '';

  if (isNumberTextTooLong(inputText)) return invalidResult('String value too large.');
  const decimalText = parseDecimal(toAsciiDigits(inputText));

  return decimalText === undefined ? invalidResult(NOT_A_NUMBER_MESSAGE) : validResult(decimalText);
}

/**
 * Converts digits of other scripts (such as Arabic) to ASCII, because existing clients send weights
 * in local digits.
 */
const toAsciiDigits = (inputText: string): string =>
  inputText.replace(/[^\P{Nd}0-9]/gu, toAsciiDigit);

/**
 * Converts one decimal digit. Unicode encodes the digits of each script as ten consecutive code
 * points that begin with zero; such blocks may adjoin each other.
 */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let zeroCodePoint = code;

  while (/\p{Nd}/u.test(String.fromCodePoint(zeroCodePoint - 1))) zeroCodePoint -= 1;
  return String((code - zeroCodePoint) % 10);
}

function coerceBoolean(value: unknown): CoercionResult {
  const booleanValue = BOOLEAN_BY_VALUE.get(isNumber(value) ? numberValue(value) : value);

  if (booleanValue === undefined) return invalidResult('Must be a valid boolean.');

  return validResult(booleanValue);
}

/**
 * Converts a value to the string of a choice. `None`, which is Python's text for null, becomes null
 * if null is one of the choices.
 */
function coerceChoice(value: unknown, { choices }: CoercibleField): CoercionResult {
  const choiceText = pythonText(value);

  return validResult(
    choiceText === pythonText(null) && choices?.some((choice) => choice.value === null)
      ? null
      : choiceText,
  );
}

export const padWithZeros = (part: string) => part.padStart(2, '0');

const formatDate = (year: string, month: string, day: string): string =>
  `${year}-${padWithZeros(month)}-${padWithZeros(day)}`;

const formatTime = (hour: string, minute: string, second: string): string =>
  [hour, minute, second].map(padWithZeros).join(':');

function coerceDate(value: unknown): CoercionResult {
  const match = typeof value === 'string' ? /^(\d{4})-(\d{1,2})-(\d{1,2})\n?$/.exec(value) : null;

  if (!match) return invalidResult(NOT_A_DATE_MESSAGE);
  const [, year = '', month = '', day = ''] = match;
  const date = formatDate(year, month, day);

  return isValidDate(date) ? validResult(date) : invalidResult(NOT_A_DATE_MESSAGE);
}

export const isValidDate = (date: string) =>
  !date.startsWith('0000') && DateTime.fromISO(date).isValid;

export const isValidTime = (hour: string, minute: string, second = '0') =>
  Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;

/** A time of day. A UTC offset after it is ignored, as in the reference service. */
const TIME_PATTERN =
  /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d{0,6})?)? ?(?:Z|[+-]\d\d(?::?\d\d)?)?\s*$/;

function coerceTime(value: unknown): CoercionResult {
  const match = typeof value === 'string' ? TIME_PATTERN.exec(value) : null;

  if (!match) return invalidResult(NOT_A_TIME_MESSAGE);
  const [, hour = '', minute = '', second = '0', fractionDigits] = match;

  if (!isValidTime(hour, minute, second)) return invalidResult(NOT_A_TIME_MESSAGE);
  const fraction = fractionDigits ? `.${fractionDigits}` : '';

  return validResult(formatTime(hour, minute, second) + fraction);
}

const DATE_TIME_PATTERN =
  /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d{0,6})?)?(Z|[+-]\d\d(?::?\d\d)?)?\n?$/;

/** Normalizes a UTC offset below 24 hours to `±HH:MM`. Minutes may exceed 59, as in `+01:60`. */
function normalizeUtcOffset(text: string): string | undefined {
  if (text === 'Z') return text;
  const sign = text[0];
  const [hours, minutes] = [text.slice(1, 3), text.slice(3).replace(':', '')].map(Number);
  const totalMinutes = 60 * hours! + minutes!;

  if (totalMinutes >= 24 * 60) return undefined;
  const offsetHours = padWithZeros(String(Math.floor(totalMinutes / 60)));
  const offsetMinutes = padWithZeros(String(totalMinutes % 60));

  return `${sign}${offsetHours}:${offsetMinutes}`;
}

/**
 * Coerces a timestamp. Without a UTC offset it is local to `timeZone`, where it must exist and be
 * unambiguous (daylight saving time).
 */
function coerceDateTime(value: unknown, _field: CoercibleField, timeZone: string): CoercionResult {
  const invalidDateTime = invalidResult(NOT_A_DATETIME_MESSAGE);
  const match = typeof value === 'string' ? DATE_TIME_PATTERN.exec(value) : null;

  if (!match) return invalidDateTime;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '0'] = match;
  const [fractionDigits, offsetText] = match.slice(7);
  const date = formatDate(year, month, day);

  if (!isValidDate(date) || !isValidTime(hour, minute, second)) return invalidDateTime;
  const localDateTime = `${date}T${formatTime(hour, minute, second)}`;
  const fraction = fractionDigits ? `.${fractionDigits}` : '';

  if (offsetText) {
    const offset = normalizeUtcOffset(offsetText);

    return offset ? validResult(`${localDateTime}${fraction}${offset}`) : invalidDateTime;
  }

  const zonedTime = DateTime.fromISO(localDateTime, { zone: timeZone });
  const localTimeExists =
    zonedTime.toISO({ includeOffset: false, suppressMilliseconds: true }) === localDateTime;

  if (!localTimeExists || zonedTime.getPossibleOffsets().length > 1) {
    return invalidResult(`Invalid datetime for the timezone "${timeZone}".`);
  }

  return validResult(`${localDateTime}${fraction}${zonedTime.toFormat('ZZ')}`);
}

function coerceUuid(value: unknown): CoercionResult {
  const uuidDigits = typeof value === 'string' ? parseUuid(value) : undefined;

  if (uuidDigits === undefined) return invalidResult(`“${pythonText(value)}” is not a valid UUID.`);

  return validResult(uuidDigits);
}

/** Converts a value to a row id, truncating fractions. */
export function coerceRowId(value: unknown): number | undefined {
  if (isNumber(value)) {
    if (isInteger(value) || Number.isFinite(numberValue(value))) {
      return clampToSafeInteger(Math.trunc(numberValue(value)));
    }

    return undefined;
  }

  return typeof value === 'string' ? parseInteger(value) : undefined;
}

/**
 * Items of a list of row ids. An object counts as the list of its keys, as when Python iterates a
 * dict.
 */
export function idsInList(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;

  if (value !== null && typeof value === 'object' && !isNumber(value)) return Object.keys(value);

  return undefined;
}

/**
 * Coerces the value of a relation to row ids, reporting only the first invalid id. Without
 * `referenceableIds`, existence is not checked.
 */
export function coerceReference(
  field: Pick<FieldMetadata, 'relation'>,
  value: unknown,
  referenceableIds?: readonly number[],
): CoercionResult {
  const coerceId = (item: unknown): CoercionResult => {
    const id = coerceRowId(item);

    if (id === undefined && item !== null) {
      return invalidResult(`Incorrect type. Expected pk value, received ${pythonTypeName(item)}.`);
    }

    if (id !== undefined && (referenceableIds?.includes(id) ?? true)) return validResult(id);

    return invalidResult(noSuchRowMessage(pythonText(item)));
  };

  if (!field.relation!.isToMany) return coerceId(value);
  const items = idsInList(value);

  if (!items) {
    return invalidResult(`Expected a list of items but got type "${pythonTypeName(value)}".`);
  }

  if (items.length === 0) return invalidResult(NOT_EMPTY_MESSAGE);
  const ids = new Set<unknown>();

  for (const item of items) {
    const coercedId = coerceId(item);

    if ('messages' in coercedId) return coercedId;
    ids.add(coercedId.value);
  }

  return validResult([...ids]);
}

const COERCION_BY_KIND: Partial<
  Record<FieldKind, (value: unknown, field: CoercibleField, timeZone: string) => CoercionResult>
> = {
  string: coerceString,
  url: coerceString,
  integer: coerceInteger,
  decimal: coerceDecimal,
  boolean: coerceBoolean,
  choice: coerceChoice,
  date: coerceDate,
  time: coerceTime,
  datetime: coerceDateTime,
  uuid: coerceUuid,
};

/** Coerces a non-null value that is not a relation, and checks the limits of its field. */
export function coerceValue(
  field: CoercibleField,
  value: unknown,
  timeZone: string,
): CoercionResult {
  const result = COERCION_BY_KIND[field.kind]?.(value, field, timeZone) ?? validResult(value);

  if ('messages' in result) return result;
  const messages = field.check(result.value, timeZone);

  return messages.length ? { messages } : result;
}
