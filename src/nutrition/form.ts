/** The amount of an ingredient as a text, and what is wrong with it; the wording is that of the reference service. */
import { problems } from '../core/limits';

export const NOT_A_CHOICE = 'Select a valid choice. That choice is not one of the available choices.';

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Undefined if the text is a good amount. A negative one is good. */
export function amountProblem(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined || text === '') return 'This field is required.';
  if (!NUMBER.test(text.trim())) return 'Enter a number.';
  return problems(text, { kind: 'decimal', digits: 5, places: 2, blank: false })[0];
}

/** The integer that a text holds; undefined for an empty one, NaN for any other text. */
export const integerOf = (text: string | null | undefined): number | undefined =>
  text === null || text === undefined || text === '' ? undefined : /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : NaN;
