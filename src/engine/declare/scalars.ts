/**
 * Custom GraphQL scalars for dates, times, decimals and uploads. Values stay the strings that
 * PostgreSQL returns, so no precision is lost.
 */
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { DateTime } from 'luxon';
import {
  NOT_A_DATE_MESSAGE,
  NOT_A_NUMBER_MESSAGE,
  NOT_A_TIME_MESSAGE,
} from '../../shared/messages';
import { UploadedFile } from '../../shared/multipart';
import { formatInUtc, toUtcTimestamp } from './clock';
import { TIMESTAMP_OUT_OF_RANGE_MESSAGE } from './field-validation';

const inputError = (message: string, nodes?: ValueNode) =>
  new GraphQLError(message, { nodes, extensions: { code: 'BAD_USER_INPUT' } });

interface StringScalarOptions {
  name: string;
  description: string;
  specifiedByURL: string;

  /** Returns undefined for an invalid value. `node` is its literal in the query document. */
  parse(value: string, node?: ValueNode): string | undefined;

  /** Message for an invalid value. */
  message: string;

  /** Formats a stored value for a response; by default unchanged. */
  serialize?(value: string): string;
}

function createStringScalar({
  name,
  description,
  specifiedByURL,
  parse,
  message,
  serialize = (value) => value,
}: StringScalarOptions) {
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
    serialize: (value) => serialize(value as string),
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
 * Prefix of the URLs that identify the formats of Decimal, Time and DateTime, the same for all
 * servers. Each server shows the page at this path. The host is one that RFC 2606 reserves, because
 * the project has no website.
 */
const SCALARS_PAGE_URL = 'https://fitgraph.example/docs/scalars';

export const DateScalar = createStringScalar({
  name: 'Date',
  description: 'A calendar day, `YYYY-MM-DD`, without a time zone.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
  parse: createPatternParser(
    /^\d{4}-\d\d-\d\d$/,
    (value) => value >= '0001' && DateTime.fromISO(value).isValid,
  ),
  message: NOT_A_DATE_MESSAGE,
});

export const TimeScalar = createStringScalar({
  name: 'Time',
  description: 'A time of day, `HH:MM[:SS[.ffffff]]`, without a time zone.',
  specifiedByURL: `${SCALARS_PAGE_URL}#time`,
  parse: createPatternParser(/^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?$/, () => true),
  message: NOT_A_TIME_MESSAGE,
});

const NOT_A_MOMENT_MESSAGE =
  'Not a moment with a UTC offset, such as 2021-03-10T08:00:00Z or 2021-03-10T09:00:00+01:00.';

const DATE_TIME_PATTERN =
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/;

export const DateTimeScalar = createStringScalar({
  name: 'DateTime',
  description:
    'A moment in UTC, e.g. `2021-03-10T07:00:00Z`. Input may have any offset, e.g. `2021-03-10T08:00:00+01:00`; digits beyond microseconds are cut off.',
  specifiedByURL: `${SCALARS_PAGE_URL}#datetime`,
  parse(text, node) {
    const value = text.toUpperCase().replace(/(\.\d{6})\d+/, '$1');

    if (!DATE_TIME_PATTERN.test(value) || !DateTime.fromISO(value).isValid) return undefined;
    const utcTimestamp = toUtcTimestamp(value);

    if (utcTimestamp === undefined) throw inputError(TIMESTAMP_OUT_OF_RANGE_MESSAGE, node);

    return utcTimestamp;
  },
  message: NOT_A_MOMENT_MESSAGE,
  serialize: formatInUtc,
});

/** Maximum length of a decimal in the input, including surrounding whitespace. */
const MAX_DECIMAL_CHARACTERS = 1000;

export const DecimalScalar = createStringScalar({
  name: 'Decimal',
  description:
    'An exact decimal number as a string, so that no digit is lost, e.g. `"80.50"`. A JSON number is accepted on input.',
  specifiedByURL: `${SCALARS_PAGE_URL}#decimal`,
  parse(value) {
    const text = value.length <= MAX_DECIMAL_CHARACTERS ? value.trim() : '';

    return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,4})?$/i.test(text) ? text : undefined;
  },
  message: NOT_A_NUMBER_MESSAGE,
});

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
