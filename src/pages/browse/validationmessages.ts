/** Validation messages of form fields in plain language. Falls back to the messages of the REST API. */
import {
  NOT_A_DATE_MESSAGE,
  NOT_A_DATE_FILTER_MESSAGE,
  NOT_A_DATETIME_MESSAGE,
  NOT_A_TIME_MESSAGE,
  NOT_A_TIME_FILTER_MESSAGE,
} from '../../contract/messages';
import { withArticle } from '../../core/model/inflection';
import type { FormControl } from './view/viewmodel';

/** Message for a rejected form with a file: the file must be chosen again, because pages cannot set the value of a file input. */
export const CHOOSE_FILE_AGAIN_MESSAGE =
  'Please choose the file again. Browsers do not keep the selection.';

const NUMBER_PATTERN = /^-?\d+(\.\d+)?$/;
const SELECTABLE_FIELD_KINDS = ['relation', 'choice', 'image'];
const DATE_MESSAGE = 'Enter a date, such as 2026-01-31.';
const TIME_MESSAGE = 'Enter a time, such as 07:30.';
/** Messages of the REST API about the format of a value, each with the plainer message that a form shows instead. */
const FORM_MESSAGE_BY_REST_MESSAGE: Readonly<Record<string, string>> = {
  [NOT_A_DATE_MESSAGE]: DATE_MESSAGE,
  [NOT_A_DATE_FILTER_MESSAGE]: DATE_MESSAGE,
  [NOT_A_TIME_MESSAGE]: TIME_MESSAGE,
  [NOT_A_TIME_FILTER_MESSAGE]: TIME_MESSAGE,
  [NOT_A_DATETIME_MESSAGE]: 'Enter a date and a time.',
};

const isNarrowerThanIntegerRange = (limit: number | undefined): limit is number =>
  limit !== undefined && Math.abs(limit) < 2 ** 31 - 1;

/** Returns the allowed range as text, such as `Between 30 and 600 kg`; undefined if the field has no bounds. */
export function rangeText({ min, max, unit }: FormControl): string | undefined {
  const unitSuffix = unit === undefined ? '' : ` ${unit}`;
  if (isNarrowerThanIntegerRange(min) && isNarrowerThanIntegerRange(max))
    return `Between ${min} and ${max}${unitSuffix}`;
  if (isNarrowerThanIntegerRange(min)) return `At least ${min}${unitSuffix}`;
  return isNarrowerThanIntegerRange(max) ? `At most ${max}${unitSuffix}` : undefined;
}

const lowerFirst = (label: string) =>
  /^[A-Z][a-z ]/.test(label) ? label.replace(/^./, (letter) => letter.toLowerCase()) : label;

function missingValueMessage({ label, kind, choices }: FormControl): string {
  const nounPhrase = withArticle(lowerFirst(label));
  return choices || SELECTABLE_FIELD_KINDS.includes(kind)
    ? `Choose ${nounPhrase}.`
    : `Enter ${nounPhrase}.`;
}

function invalidNumberMessage(control: FormControl, text: string): string | undefined {
  if (!NUMBER_PATTERN.test(text))
    return control.kind === 'integer' ? 'Enter a whole number.' : 'Enter a number.';
  const value = Number(text);
  const { min = -Infinity, max = Infinity } = control;
  return value < min || value > max ? `${rangeText(control) ?? 'Too large'}.` : undefined;
}

export function validationMessage(
  control: FormControl,
  values: readonly string[],
  restMessages: readonly string[],
): string {
  const text = values.at(-1)?.trim() ?? '';
  const { kind, matches, required } = control;
  const restMessage = restMessages.join(' ');
  // For an image, shows the message of the REST API, because only the REST API has examined the content of the file.
  if (kind === 'image') return `${restMessage} ${CHOOSE_FILE_AGAIN_MESSAGE}`;
  if (text === '' && required) return missingValueMessage(control);
  if (matches)
    return matches.length ? 'Choose one of the matches below.' : `No match for “${text}”.`;
  if (text !== '' && (kind === 'decimal' || kind === 'integer'))
    return invalidNumberMessage(control, text) ?? restMessage;
  return FORM_MESSAGE_BY_REST_MESSAGE[restMessage] ?? restMessage;
}
