/**
 * Dates and decimals in the language of the client, with the input formats of Django 3.2
 * (https://docs.djangoproject.com/en/3.2/ref/settings/#date-input-formats).
 */
import { isValidDate, padWithZeros } from './coercion';
import { pythonStrip } from './python-scalars';

const ISO_FORMAT = '%Y-%m-%d';
const MONTH_FIRST_FORMATS = [ISO_FORMAT, '%m/%d/%Y', '%m/%d/%y'];
const DAY_FIRST_FORMATS = ['%d/%m/%Y', '%d/%m/%y', ISO_FORMAT];
const DOTTED_FORMATS = ['%d.%m.%Y', '%d.%m.%y', ISO_FORMAT];
const FORMATS_WITH_MONTH_NAMES = [
  ...MONTH_FIRST_FORMATS,
  ...['%b %d %Y', '%b %d, %Y', '%d %b %Y', '%d %b, %Y'],
  ...['%B %d %Y', '%B %d, %Y', '%d %B %Y', '%d %B, %Y'],
];

const DEFAULT_LANGUAGE = 'en';

/** Date formats by language, in order of precedence. Two of them match `03-04-05`, for example. */
const DATE_FORMATS = new Map<string, readonly string[]>([
  ['bg', FORMATS_WITH_MONTH_NAMES],
  ['cs', ['%d.%m.%Y', '%d.%m.%y', '%d. %m. %Y', '%d. %m. %y', ISO_FORMAT]],
  ['de', DOTTED_FORMATS],
  ['el', DAY_FIRST_FORMATS],
  [DEFAULT_LANGUAGE, MONTH_FIRST_FORMATS],
  ['es', DAY_FIRST_FORMATS],
  ['fr', [...DAY_FIRST_FORMATS, '%d.%m.%Y', '%d.%m.%y']],
  ['it', [...DAY_FIRST_FORMATS, '%Y/%m/%d', '%d-%m-%Y', '%d-%m-%y']],
  ['nl', [...DAY_FIRST_FORMATS, '%Y/%m/%d', '%d-%m-%Y', '%d-%m-%y']],
  ['no', FORMATS_WITH_MONTH_NAMES],
  ['pl', [...DOTTED_FORMATS, '%y-%m-%d']],
  ['pt', DAY_FIRST_FORMATS],
  ['ru', DOTTED_FORMATS],
  ['sv', MONTH_FIRST_FORMATS],
  ['tr', [...DAY_FIRST_FORMATS, '%y-%m-%d']],
  ['uk', ['%d.%m.%Y', '%d %B %Y', ISO_FORMAT]],
]);

/** Languages in which the decimal separator is a point. In the others, it is a comma. */
const DECIMAL_POINT_LANGUAGES = ['en', 'no'];

/** The preferred language among those with formats. */
const supportedLanguage = (languages: readonly string[]): string =>
  languages.find((language) => DATE_FORMATS.has(language)) ?? DEFAULT_LANGUAGE;

/** Months in every language, as Python writes them without a locale. */
const MONTH_NAMES = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];
const ABBREVIATION_LENGTH = 3;
const MONTH_ABBREVIATIONS = MONTH_NAMES.map((name) => name.slice(0, ABBREVIATION_LENGTH));

/** Regular expressions of directives of Python's `strptime`. */
const PATTERN_BY_DIRECTIVE: Readonly<Record<string, string>> = {
  '%d': String.raw`(?<day>\d{1,2})`,
  '%m': String.raw`(?<month>\d{1,2})`,
  '%Y': String.raw`(?<year>\d{4})`,
  '%y': String.raw`(?<shortYear>\d\d)`,
  '%b': `(?<monthName>${MONTH_ABBREVIATIONS.join('|')})`,
  '%B': `(?<monthName>${MONTH_NAMES.join('|')})`,
  ' ': String.raw`\s+`,
  '.': String.raw`\.`,
};

const toPattern = (format: string): RegExp =>
  new RegExp(
    `^${format.replace(/%\w|[ .]/g, (directive) => PATTERN_BY_DIRECTIVE[directive]!)}$`,
    'i',
  );

const PATTERN_BY_FORMAT = new Map(
  [...DATE_FORMATS.values()].flat().map((format) => [format, toPattern(format)]),
);

/** First two-digit year of the 20th century, as in Python. */
const FIRST_SHORT_YEAR_OF_1900S = 69;

const expandYear = (shortYear: string): string =>
  `${Number(shortYear) >= FIRST_SHORT_YEAR_OF_1900S ? 19 : 20}${shortYear}`;

const monthNumber = (name: string): string =>
  String(MONTH_ABBREVIATIONS.indexOf(name.slice(0, ABBREVIATION_LENGTH).toLowerCase()) + 1);

/** Parses a date in a format of the client's language to an ISO date. */
export function parseLocalizedDate(text: string, languages: readonly string[]): string | undefined {
  const trimmedText = pythonStrip(text);

  return DATE_FORMATS.get(supportedLanguage(languages))!
    .map((format) => PATTERN_BY_FORMAT.get(format)!.exec(trimmedText)?.groups)
    .filter((parts) => parts !== undefined)
    .map(({ year, shortYear = '', month, monthName = '', day = '' }) =>
      [
        year ?? expandYear(shortYear),
        padWithZeros(month ?? monthNumber(monthName)),
        padWithZeros(day),
      ].join('-'),
    )
    .find(isValidDate);
}

/** Replaces the decimal comma of the client's language by a point. */
export function withDecimalPoint(text: string, languages: readonly string[]): string {
  if (DECIMAL_POINT_LANGUAGES.includes(supportedLanguage(languages))) return text;

  return text.replace(',', '.');
}
