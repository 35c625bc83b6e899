/**
 * Content negotiation (RFC 9110, section 12): chooses JSON or HTML by path suffix, `?format=` or
 * Accept header, in this order.
 */
import { notAcceptableError, notFoundError } from '../errors';
import { parseInteger } from './python-scalars';
import { lastValueOf } from './query-string';

/** `api` is an HTML page of the browsable API, as in Django REST framework. */
export type ResponseFormat = 'json' | 'api';
export const MEDIA_TYPE_BY_FORMAT: Record<ResponseFormat, string> = {
  json: 'application/json',
  api: 'text/html',
};

export interface Representation {
  format: ResponseFormat;

  /** Spaces per level of JSON indentation. */
  indent?: number;
}

export const MAX_INDENT = 8;

/** Maximum length of the Accept header. Browsers send about 200 characters. */
const MAX_ACCEPT_HEADER_CHARACTERS = 4000;
const QUALITY_PATTERN = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

interface MediaRange {
  type: string;
  quality: number;
  indent?: string;
  hasParameters: boolean;
}

/** Parses a media range. Its parameters are ignored, except `q` and `indent`. */
function parseMediaRange(rangeText: string): MediaRange {
  const [type = '', ...parameters] = rangeText.split(';').map((text) => text.trim());
  const range: MediaRange = { type: type.toLowerCase(), quality: 1, hasParameters: false };

  for (const parameter of parameters) {
    const equalsIndex = parameter.indexOf('=');
    const [name, value] = [
      parameter.slice(0, equalsIndex).trimEnd().toLowerCase(),
      parameter.slice(equalsIndex + 1).trimStart(),
    ];

    if (name === 'indent') range.indent = value;

    if (name !== 'q') {
      range.hasParameters = true;
      continue;
    }

    if (!QUALITY_PATTERN.test(value)) throw notAcceptableError();
    range.quality = Number(value);
  }

  return range;
}

/**
 * Breadth of a media range: 0 for a type with parameters, 1 for a plain type, 2 for `type/*`, 3 for
 * any type.
 */
function breadth({ type, hasParameters }: MediaRange): number {
  if (type.startsWith('*/')) return 3;
  if (type.endsWith('/*')) return 2;

  return hasParameters ? 0 : 1;
}

function includesMediaType({ type }: MediaRange, mediaType: string): boolean {
  const [[mainType, subtype], mediaParts] = [type.split('/'), mediaType.split('/')];

  return (
    (mainType === '*' || mainType === mediaParts[0]) &&
    (subtype === '*' || subtype === mediaParts[1])
  );
}

interface FormatMatch {
  format: ResponseFormat;
  range: MediaRange;
  rangeBreadth: number;
}

/** Finds the most specific media range that matches a format. A quality of 0 rejects the format. */
function matchFormat(
  format: ResponseFormat,
  ranges: readonly MediaRange[],
): FormatMatch | undefined {
  const [range] = ranges
    .filter((candidate) => includesMediaType(candidate, MEDIA_TYPE_BY_FORMAT[format]))
    .sort((a, b) => breadth(a) - breadth(b));

  return range && range.quality > 0 ? { format, range, rangeBreadth: breadth(range) } : undefined;
}

const QUOTED_STRING_PATTERN = /^"(.*)"$/s;

function parseIndent(indentText: string | undefined): { indent?: number } {
  const number = indentText && parseInteger(indentText.replace(QUOTED_STRING_PATTERN, '$1'));

  return number ? { indent: Math.min(Math.max(number, 0), MAX_INDENT) } : {};
}

/**
 * Chooses JSON or HTML for a response. Throws a 404 for an unknown format, and a 406 if none is
 * acceptable.
 */
export function negotiateRepresentation(
  acceptHeader: string | undefined,
  query = new URLSearchParams(),
  formatSuffix?: string,
): Representation {
  const requestedFormat = formatSuffix ?? (lastValueOf(query, 'format') || undefined);

  if (requestedFormat !== undefined && requestedFormat !== 'json' && requestedFormat !== 'api') {
    throw notFoundError();
  }

  // `?indent=` is for links, because browsers cannot set a header for a link. It is ignored unless
  // the URL selects JSON as well.
  const queryIndent = requestedFormat === 'json' ? lastValueOf(query, 'indent') : undefined;

  if (acceptHeader === undefined || acceptHeader === '*/*' || acceptHeader === 'application/json') {
    if (requestedFormat === 'api' && acceptHeader === 'application/json') {
      throw notAcceptableError();
    }

    return { format: requestedFormat ?? 'json', ...parseIndent(queryIndent) };
  }

  if (acceptHeader.length > MAX_ACCEPT_HEADER_CHARACTERS) throw notAcceptableError();
  const ranges = acceptHeader.split(',').map(parseMediaRange);
  const formats: ResponseFormat[] = requestedFormat ? [requestedFormat] : ['json', 'api'];
  // The sort is stable, so JSON wins among formats of equal quality and specificity.
  const [bestMatch] = formats
    .map((format) => matchFormat(format, ranges))
    .filter((match) => match !== undefined)
    .sort((a, b) => b.range.quality - a.range.quality || a.rangeBreadth - b.rangeBreadth);

  if (!bestMatch) throw notAcceptableError();

  return { format: bestMatch.format, ...parseIndent(bestMatch.range.indent ?? queryIndent) };
}

/**
 * Chooses JSON or HTML for the 404 response to an unknown path: HTML if the client accepts neither.
 */
export function negotiateForUnknownPath(acceptHeader: string | undefined): Representation {
  try {
    return negotiateRepresentation(acceptHeader);
  } catch {
    return { format: 'api' };
  }
}
