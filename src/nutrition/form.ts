/** The amount of an ingredient as a text, and what is wrong with it; the wording is that of the reference service. */
import { REQUIRED } from '../contract/messages';
import { problems } from '../core/model/limits';
import { decimalOf, integerOf } from '../platform/reading';

/** Undefined if the text is a good amount. A negative one is good. */
export function amountProblem(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined || text === '') return REQUIRED;
  const number = decimalOf(text);
  return number === undefined ? 'Enter a number.' : problems(number, { kind: 'decimal', digits: 5, places: 2, blank: false })[0];
}

/** The integer that a text holds; undefined for an empty one, NaN for any other text. */
export const integerIn = (text: string | null | undefined): number | undefined => (text ? (integerOf(text) ?? NaN) : undefined);
