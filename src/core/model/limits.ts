/** A value and the facts of its field → the messages of what is wrong. Wording is Django REST framework's, which clients match. */
import { NOT_A_NUMBER, NOT_BLANK, NO_NULLS, atLeast, atMost, atMostCharacters } from '../../contract/messages';
import { MAX_INTEGER, MIN_INTEGER } from '../../contract/bounds';
import type { FieldFact } from '../../contract/facts';
import { inUtc } from './clock';
import { mistake, MistakeCode, type Mistake } from './mistakes';

type Limits = Pick<FieldFact, 'kind' | 'minLength' | 'maxLength' | 'min' | 'max' | 'digits' | 'places' | 'choices' | 'blank'>;

/** Rows that one mutation writes, those of trees counted one by one. */
export const MAX_ROWS = 500;

export const OUT_OF_RANGE = 'Datetime value out of range.';

/** Characters of a text that has no other limit. What is stored already may be longer. */
export const MAX_TEXT = 10_000;

/** Half of a character, which no text of Unicode holds. */
const LONE_SURROGATE = /\p{Surrogate}/u;

export const problems = (value: unknown, facts: Limits): string[] => mistakesOf(value, facts).map(({ message }) => message);

/** The first that is wrong of a text's length, or of the digits of a decimal; then its range. */
export function mistakesOf(value: unknown, facts: Limits): Mistake[] {
  if (value === null || value === undefined) return [];
  switch (facts.kind) {
    case 'string':
    case 'url':
      return text(String(value), facts);
    case 'choice':
      return facts.choices?.some((choice) => choice.value === value) || (value === '' && facts.blank)
        ? []
        : [mistake(MistakeCode.NOT_A_CHOICE, `"${String(value)}" is not a valid choice.`)];
    case 'decimal': {
      const wrong = precision(String(value), facts);
      return wrong ? [wrong] : range(Number(value), facts);
    }
    case 'integer':
      return range(Number(value), { min: MIN_INTEGER, max: MAX_INTEGER, ...defined(facts) });
    case 'datetime':
      return inUtc(String(value)) === undefined ? [mistake(MistakeCode.INVALID, OUT_OF_RANGE)] : [];
    default:
      return [];
  }
}

function defined({ min, max }: Limits): { min?: number; max?: number } {
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

function text(value: string, { minLength, maxLength = MAX_TEXT, blank, kind }: Limits): Mistake[] {
  if (value === '') return blank ? [] : [mistake(MistakeCode.BLANK, NOT_BLANK)];
  const found: Mistake[] = [];
  const length = [...value].length;
  if (length > maxLength) found.push(mistake(MistakeCode.TOO_LONG, atMostCharacters(maxLength)));
  if (minLength !== undefined && length < minLength)
    found.push(mistake(MistakeCode.TOO_SHORT, `Ensure this field has at least ${minLength} characters.`));
  if (value.includes('\0')) found.push(mistake(MistakeCode.INVALID, NO_NULLS));
  const surrogate = LONE_SURROGATE.exec(value);
  if (surrogate)
    found.push(
      mistake(MistakeCode.INVALID, `Surrogate characters are not allowed: U+${surrogate[0].charCodeAt(0).toString(16).toUpperCase()}.`),
    );
  if (kind === 'url' && !URL.canParse(value)) found.push(mistake(MistakeCode.INVALID, 'Enter a valid URL.'));
  return found;
}

function range(value: number, { min, max }: Pick<Limits, 'min' | 'max'>): Mistake[] {
  if (max !== undefined && value > max) return [mistake(MistakeCode.TOO_LARGE, atMost(max))];
  if (min !== undefined && value < min) return [mistake(MistakeCode.TOO_SMALL, atLeast(min))];
  return [];
}

/** Trailing zeros count as decimals, an exponent as the zeros that it stands for. */
function precision(value: string, { digits, places }: Limits): Mistake | undefined {
  const parts = /^[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(value.trim());
  if (!parts) return mistake(MistakeCode.INVALID, NOT_A_NUMBER);
  const [, before = '', fraction = '', power = '0'] = parts;
  const exponent = Number(power) - fraction.length;
  const figures = `${before}${fraction}`.replace(/^0+(?=\d)/, '').length;
  const total = exponent >= 0 ? figures + exponent : Math.max(figures, -exponent);
  const decimals = Math.max(0, -exponent);
  const whole = exponent >= 0 ? total : Math.max(0, figures + exponent);
  if (digits !== undefined && total > digits)
    return mistake(MistakeCode.TOO_PRECISE, `Ensure that there are no more than ${digits} digits in total.`);
  if (places !== undefined && decimals > places)
    return mistake(MistakeCode.TOO_PRECISE, `Ensure that there are no more than ${places} decimal places.`);
  if (digits !== undefined && places !== undefined && whole > digits - places)
    return mistake(MistakeCode.TOO_LARGE, `Ensure that there are no more than ${digits - places} digits before the decimal point.`);
  return undefined;
}
