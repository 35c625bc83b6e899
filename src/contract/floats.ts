/** Floats in JSON as Python writes them. JSON.stringify writes 372.0 as 372, which typed clients read as a value of another type. */

/** Exponents of ten between which Python writes a fraction without one. */
const [LEAST, MOST] = [-4, 16];

/** `repr(value)` in Python: `372.0`, `1e-05`. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0.0';
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent < LEAST || exponent >= MOST) return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  const digits = mantissa.replace(/[-.]/g, '');
  const sign = value < 0 ? '-' : '';
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return `${sign}${digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')}.${digits.slice(exponent + 1) || '0'}`;
}

/** Begins a string that stands for a float. No text of a row begins with half a surrogate pair, because UTF-8 has no bytes for it. */
const MARK = '\udfff';
const MARKED = /"\\udfff(-?[\d.]+(?:e[+-]\d+)?)"/g;

/** What a float becomes until `asReference` writes it. */
export const floatMark = (value: number): string => MARK + floatText(value);

/** A body with marked floats as numbers, for pages. */
export function plainFloats(body: unknown): unknown {
  if (typeof body === 'string') return body.startsWith(MARK) ? Number(body.slice(MARK.length)) : body;
  if (Array.isArray(body)) return body.map(plainFloats);
  if (body === null || typeof body !== 'object') return body;
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, plainFloats(value)]));
}

const SEPARATORS = /[\u2028\u2029]/g;

/** JSON with marked floats as numbers, and with the separators of lines escaped, as the reference's framework writes it. */
export function asReference(json: string): string {
  const text = json.includes('"\\udfff') ? json.replace(MARKED, '$1') : json;
  return !text.includes('\u2028') && !text.includes('\u2029')
    ? text
    : text.replace(SEPARATORS, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);
}
