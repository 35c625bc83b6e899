/**
 * Custom GraphQL scalars for dates, times, decimals and uploads. Values stay the strings that
 * PostgreSQL returns, so no precision is lost.
 */
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { DateTime } from 'luxon';
import {
  NOT_A_DATE_MESSAGE,
  NOT_A_DATETIME_MESSAGE,
  NOT_A_NUMBER_MESSAGE,
  NOT_A_TIME_MESSAGE,
} from '../../shared/messages';
import { UploadedFile } from '../../shared/multipart';
import { toUtcTimestamp } from './clock';
import { TIMESTAMP_OUT_OF_RANGE_MESSAGE } from './field-validation';

const inputError = (message: string, nodes?: ValueNode) =>
  new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT' } });

type ParseText = (value: string, node?: ValueNode) => string | undefined;

function createStringScalar(
  name: string,
  description: string,
  specifiedByURL: string,
  parse: ParseText,
  message: string,
) {
  /**
   * Parses an input value. `node` is its literal in the query document; values of variables have
   * none.
   */
  const parseInput = (value: unknown, node?: ValueNode) => {
    const isText = typeof value === 'string' || typeof value === 'number';
    const result = isText ? parse(String(value), node) : undefined;

    if (result === undefined) throw inputError(message, node);

    return result;
  };

  return new GraphQLScalarType<string, string>({
    name,
    description,
    specifiedByURL,
    extensions: { codegenScalarType: 'string' },
    serialize: (value) => value as string,
    parseValue: (value) => parseInput(value),
    parseLiteral(node) {
      if (node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT) {
        return parseInput(node.value, node);
      }

      throw inputError(message, node);
    },
  });
}

const createPatternParser =
  (pattern: RegExp, isValid: (value: string) => boolean) => (value: string) =>
    pattern.test(value) && isValid(value) ? value : undefined;

/**
 * Dates and times in responses use the formats `full-date`, `partial-time` and `date-time` of RFC
 * 3339.
 */
const RFC_3339_URL = 'https://www.rfc-editor.org/rfc/rfc3339';

export const DateScalar = createStringScalar(
  'Date',
  'A calendar day, `YYYY-MM-DD`, without a time zone.',
  `${RFC_3339_URL}#section-5.6`,
  createPatternParser(
    /^\d{4}-\d\d-\d\d$/,
    (value) => value >= '0001' && DateTime.fromISO(value).isValid,
  ),
  NOT_A_DATE_MESSAGE,
);

export const TimeScalar = createStringScalar(
  'Time',
  'A time of day, `HH:MM[:SS[.ffffff]]`, without a time zone.',
  `${RFC_3339_URL}#section-5.6`,
  createPatternParser(/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?$/, () => true),
  NOT_A_TIME_MESSAGE,
);

const DATE_TIME_PATTERN =
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/;

export const DateTimeScalar = createStringScalar(
  'DateTime',
  'A moment, ISO 8601 with an offset, e.g. `2021-03-10T08:00:00+01:00`; returned in the time zone of the server. Digits beyond microseconds are cut off.',
  RFC_3339_URL,
  (text, node) => {
    const value = text.toUpperCase().replace(/(\.\d{6})\d+/, '$1');

    if (!DATE_TIME_PATTERN.test(value) || !DateTime.fromISO(value).isValid) return undefined;
    const utcTimestamp = toUtcTimestamp(value);

    if (utcTimestamp === undefined) throw inputError(TIMESTAMP_OUT_OF_RANGE_MESSAGE, node);

    return utcTimestamp;
  },
  NOT_A_DATETIME_MESSAGE,
);

/** Maximum length of a decimal in the input, including surrounding whitespace. */
const MAX_DECIMAL_CHARACTERS = 1000;

export const DecimalScalar = createStringScalar(
  'Decimal',
  'An exact decimal number as a string, so that no digit is lost, e.g. `"80.50"`. A JSON number is accepted on input.',
  'https://www.w3.org/TR/xmlschema11-2/#decimal',
  (value) => {
    const text = value.length <= MAX_DECIMAL_CHARACTERS ? value.trim() : '';

    return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?$/i.test(text) ? text : undefined;
  },
  NOT_A_NUMBER_MESSAGE,
);

const NOT_A_FILE_MESSAGE =
  'The submitted data was not a file. Check the encoding type on the form.';

export const UploadScalar = new GraphQLScalarType<UploadedFile, never>({
  name: 'Upload',
  description:
    'A file, sent as a part of a multipart request (https://github.com/jaydenseric/graphql-multipart-request-spec).',
  specifiedByURL: 'https://github.com/jaydenseric/graphql-multipart-request-spec',
  extensions: { codegenScalarType: 'Blob' },
  serialize() {
    throw inputError('A file is input only.');
  },
  parseValue(value) {
    if (!(value instanceof UploadedFile)) throw inputError(NOT_A_FILE_MESSAGE);

    return value;
  },
  parseLiteral(node) {
    throw inputError(NOT_A_FILE_MESSAGE, node);
  },
});
