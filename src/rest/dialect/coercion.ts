/** Coercion of request body values to GraphQL input values; leniency and error messages follow Django REST framework. */
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
} from '../../contract/messages';
import type { FieldMetadata, FieldKind } from '../../contract/metadata';
import { UploadedFile } from '../../platform/multipart';
import {
  parseDecimal,
  clampToSafeInteger,
  parseInteger,
  pythonStrip,
  pythonRstrip,
  parseUuid,
} from '../../platform/pythonscalars';
import { isInteger, isNumber, pythonNumberText, numberValue } from './jsonparser';

export type CoercibleField = Pick<FieldMetadata, 'kind' | 'choices' | 'check'>;

export type CoercionResult = { value: unknown } | { messages: string[] };

const validResult = (value: unknown): CoercionResult => ({ value });
const invalidResult = (message: string): CoercionResult => ({ messages: [message] });

/** Size in bytes above which Django stores an uploaded file in a temporary file. Its error messages then contain another type name. */
const DJANGO_MAX_IN_MEMORY_FILE_BYTES = 2_621_440;

export function pythonTypeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (isNumber(value)) return isInteger(value) ? 'int' : 'float';
  if (value instanceof UploadedFile)
    return value.size > DJANGO_MAX_IN_MEMORY_FILE_BYTES
      ? 'TemporaryUploadedFile'
      : 'InMemoryUploadedFile';
  return { string: 'str', boolean: 'bool', object: 'dict' }[typeof value as string] ?? typeof value;
}

/** Formats a JSON value like Python's `str(value)`. */
export function pythonText(value: unknown): string {
  if (value === null) return 'None';
  if (isNumber(value)) return pythonNumberText(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value))
    return `[${value.map((item) => (typeof item === 'string' ? `'${item}'` : pythonText(item))).join(', ')}]`;
  if (value instanceof UploadedFile) return value.filename;
  if (typeof value === 'object')
    return `{${Object.entries(value!)
      .map(
        ([key, item]) => `'${key}': ${typeof item === 'string' ? `'${item}'` : pythonText(item)}`,
      )
      .join(', ')}}`;
  return String(value);
}

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

/** Coerces a value to a string. Accepts strings and numbers; numbers are converted to text as in JavaScript. */
function coerceString(value: unknown): CoercionResult {
  if (isNumber(value)) return validResult(String(numberValue(value)));
  return typeof value === 'string'
    ? validResult(pythonStrip(value))
    : invalidResult(NOT_A_STRING_MESSAGE);
}

const isNumberTextTooLong = (value: string): boolean => value.length > MAX_NUMBER_CHARACTERS;

/** Coerces a value to an integer. Accepts numbers with a fraction of zeros, such as `5.0`. */
function coerceInteger(value: unknown): CoercionResult {
  if (typeof value === 'string' && isNumberTextTooLong(value))
    return invalidResult('String value too large.');
  const sentText = typeof value === 'string' || isNumber(value) ? pythonText(value) : '';
  const pointIndex = sentText.lastIndexOf('.');
  const integerText =
    pointIndex >= 0 && /^\.0*$/.test(pythonRstrip(sentText.slice(pointIndex)))
      ? sentText.slice(0, pointIndex)
      : sentText;
  const number = parseInteger(integerText);
  return number === undefined ? invalidResult(NOT_AN_INTEGER_MESSAGE) : validResult(number);
}

function coerceDecimal(value: unknown): CoercionResult {
  const sentText =
    typeof value === 'string' || isNumber(value) ? pythonStrip(pythonText(value)) : '';
  if (isNumberTextTooLong(sentText)) return invalidResult('String value too large.');
  const decimalText = parseDecimal(toAsciiDigits(sentText));
  return decimalText === undefined ? invalidResult(NOT_A_NUMBER_MESSAGE) : validResult(decimalText);
}

/** Converts digits of other scripts (such as Arabic ones), because existing clients send weights in local digits. Only decimal fields accept them. */
const toAsciiDigits = (sentText: string): string =>
  sentText.replace(/[^\P{Nd}0-9]/gu, toAsciiDigit);

/** Unicode encodes the decimal digits of each script as ten consecutive code points that begin with zero. Such blocks may adjoin each other. */
function toAsciiDigit(digit: string): string {
  const code = digit.codePointAt(0)!;
  let zeroCodePoint = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zeroCodePoint - 1))) zeroCodePoint -= 1;
  return String((code - zeroCodePoint) % 10);
}

function coerceBoolean(value: unknown): CoercionResult {
  const booleanValue = BOOLEAN_BY_VALUE.get(isNumber(value) ? numberValue(value) : value);
  return booleanValue === undefined
    ? invalidResult('Must be a valid boolean.')
    : validResult(booleanValue);
}

/** Converts a value to the string of a choice. The string `None` (null in Python) becomes null if null is one of the choices. */
function coerceChoice(value: unknown, { choices }: CoercibleField): CoercionResult {
  const choiceText = pythonText(value);
  return validResult(
    choiceText === pythonText(null) && choices?.some((choice) => choice.value === null)
      ? null
      : choiceText,
  );
}

export const padWithZeros = (part: string, length = 2) => part.padStart(length, '0');

function coerceDate(value: unknown): CoercionResult {
  const match = typeof value === 'string' ? /^(\d{4})-(\d{1,2})-(\d{1,2})\n?$/.exec(value) : null;
  const date = match && `${match[1]}-${padWithZeros(match[2]!)}-${padWithZeros(match[3]!)}`;
  return date && isValidDate(date) ? validResult(date) : invalidResult(NOT_A_DATE_MESSAGE);
}

export const isValidDate = (date: string) =>
  !date.startsWith('0000') && DateTime.fromISO(date).isValid;

export const isValidTime = (hour: string, minute: string, second = '0') =>
  Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;

function coerceTime(value: unknown): CoercionResult {
  // Text after the time, such as a `Z`, is ignored.
  const match =
    typeof value === 'string'
      ? /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d{0,6})?)?/.exec(value)
      : null;
  if (!match || !isValidTime(match[1]!, match[2]!, match[3]))
    return invalidResult(NOT_A_TIME_MESSAGE);
  return validResult(
    `${padWithZeros(match[1]!)}:${padWithZeros(match[2]!)}:${padWithZeros(match[3] ?? '0')}${match[4] ? `.${match[4]}` : ''}`,
  );
}

const DATE_TIME_PATTERN =
  /^(\d{4})-(\d{1,2})-(\d{1,2})[T ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,6})\d{0,6})?)?(Z|[+-]\d\d(?::?\d\d)?)?\n?$/;

/** Normalizes a UTC offset to `±HH:MM`. Minutes may exceed 59, as in `+01:60`. Returns undefined from 24 hours on. */
function normalizeUtcOffset(text: string): string | undefined {
  if (text === 'Z') return text;
  const [hours, minutes] = [text.slice(1, 3), text.slice(3).replace(':', '') || '0'].map(
    Number,
  ) as [number, number];
  const total = 60 * hours + minutes;
  return total < 24 * 60
    ? `${text[0]}${padWithZeros(String(Math.floor(total / 60)))}:${padWithZeros(String(total % 60))}`
    : undefined;
}

/** Coerces a timestamp. Without a UTC offset it is local to `timeZone`, where it must exist and be unambiguous (daylight saving time). */
function coerceDateTime(value: unknown, _field: CoercibleField, timeZone: string): CoercionResult {
  const invalidDateTime = invalidResult(NOT_A_DATETIME_MESSAGE);
  const match = typeof value === 'string' ? DATE_TIME_PATTERN.exec(value) : null;
  if (!match) return invalidDateTime;
  const date = `${match[1]}-${padWithZeros(match[2]!)}-${padWithZeros(match[3]!)}`;
  if (!isValidDate(date) || !isValidTime(match[4]!, match[5]!, match[6])) return invalidDateTime;
  const localDateTime = `${date}T${padWithZeros(match[4]!)}:${padWithZeros(match[5]!)}:${padWithZeros(match[6] ?? '0')}`;
  const fraction = match[7] ? `.${match[7]}` : '';
  const offset = match[8] && normalizeUtcOffset(match[8]);
  if (match[8])
    return offset ? validResult(`${localDateTime}${fraction}${offset}`) : invalidDateTime;
  const zonedTime = DateTime.fromISO(localDateTime, { zone: timeZone });
  const localTimeExists =
    zonedTime.toISO({ includeOffset: false, suppressMilliseconds: true }) === localDateTime;
  if (!localTimeExists || zonedTime.getPossibleOffsets().length > 1)
    return invalidResult(`Invalid datetime for the timezone "${timeZone}".`);
  return validResult(`${localDateTime}${fraction}${zonedTime.toFormat('ZZ')}`);
}

function coerceUuid(value: unknown): CoercionResult {
  const uuidDigits = typeof value === 'string' ? parseUuid(value) : undefined;
  return uuidDigits === undefined
    ? invalidResult(`“${pythonText(value)}” is not a valid UUID.`)
    : validResult(uuidDigits);
}

/** Returns a value as a row id, or undefined if it cannot be one. Fractions are truncated. */
export function parseRowId(value: unknown): number | undefined {
  if (isNumber(value))
    return isInteger(value) || Number.isFinite(numberValue(value))
      ? clampToSafeInteger(Math.trunc(numberValue(value)))
      : undefined;
  return typeof value === 'string' ? parseInteger(value) : undefined;
}

/** Returns the items of a list of row ids; undefined for other values. An object counts as the list of its keys, as when Python iterates a dict. */
export function listItemsOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return value !== null && typeof value === 'object' && !isNumber(value)
    ? Object.keys(value)
    : undefined;
}

/** Coerces the value of a relation to row ids. Reports only the first invalid id. Existence is checked only if `referenceableIds` is given. */
export function coerceReference(
  field: Pick<FieldMetadata, 'relation'>,
  value: unknown,
  referenceableIds?: readonly number[],
): CoercionResult {
  const coerceId = (item: unknown): CoercionResult => {
    const id = parseRowId(item);
    if (id === undefined && item !== null)
      return invalidResult(`Incorrect type. Expected pk value, received ${pythonTypeName(item)}.`);
    return id !== undefined && (referenceableIds?.includes(id) ?? true)
      ? validResult(id)
      : invalidResult(noSuchRowMessage(pythonText(item)));
  };
  if (!field.relation!.isToMany) return coerceId(value);
  const items = listItemsOf(value);
  if (!items)
    return invalidResult(`Expected a list of items but got type "${pythonTypeName(value)}".`);
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

/** Coerces a value that is present, not null and not a relation, and checks the limits of its field. */
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
