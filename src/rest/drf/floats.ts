/**
 * Python's float format in JSON. JSON.stringify writes 372.0 as 372, which typed clients parse as
 * an integer.
 */

/**
 * Exponents of ten from which on Python formats a float in scientific notation: below MIN_EXPONENT,
 * or MAX_EXPONENT and above.
 */
const [MIN_EXPONENT, MAX_EXPONENT] = [-4, 16];

/** Formats a float like `repr(value)` in Python: `372.0`, `1e-05`. */
export function formatPythonFloat(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0.0';
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);

  if (exponent < MIN_EXPONENT || exponent >= MAX_EXPONENT) {
    const exponentSign = exponent < 0 ? '-' : '+';
    const exponentDigits = String(Math.abs(exponent)).padStart(2, '0');

    return `${mantissa}e${exponentSign}${exponentDigits}`;
  }

  const digits = mantissa.replace(/[-.]/g, '');
  const sign = value < 0 ? '-' : '';

  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const integerDigits = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fractionDigits = digits.slice(exponent + 1) || '0';

  return `${sign}${integerDigits}.${fractionDigits}`;
}

/**
 * Prefix that marks strings as encoded floats. It is a lone surrogate, which UTF-8 cannot encode,
 * so no text from the database starts with it.
 */
const FLOAT_PREFIX = '\udfff';
const PREFIXED_FLOAT_PATTERN = /"\\udfff(-?[\d.]+(?:e[+-]\d+)?)"/g;

/** Encodes a float as a prefixed string, which `toDjangoJson` later writes as a number. */
export const encodePrefixedFloat = (value: number): string =>
  FLOAT_PREFIX + formatPythonFloat(value);

/** Converts the prefixed strings of a response body back to numbers, for HTML pages. */
export function decodePrefixedFloats(body: unknown): unknown {
  if (typeof body === 'string') {
    return body.startsWith(FLOAT_PREFIX) ? Number(body.slice(FLOAT_PREFIX.length)) : body;
  }

  if (Array.isArray(body)) return body.map(decodePrefixedFloats);
  if (body === null || typeof body !== 'object') return body;

  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, decodePrefixedFloats(value)]),
  );
}

const LINE_SEPARATORS_PATTERN = /[\u2028\u2029]/g;

/**
 * Converts serialized JSON to the output of Django REST framework: prefixed floats become numbers,
 * and U+2028 and U+2029 are escaped.
 */
export function toDjangoJson(json: string): string {
  let unprefixedJson = json;

  if (json.includes('"\\udfff')) unprefixedJson = json.replace(PREFIXED_FLOAT_PATTERN, '$1');

  if (!unprefixedJson.includes('\u2028') && !unprefixedJson.includes('\u2029')) {
    return unprefixedJson;
  }

  return unprefixedJson.replace(
    LINE_SEPARATORS_PATTERN,
    (separator) => `\\u${separator.charCodeAt(0).toString(16)}`,
  );
}
