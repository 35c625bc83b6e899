/** Validation messages in plain language. Falls back to the messages of the REST API. */
import {
  NOT_A_DATE_MESSAGE,
  NOT_A_DATE_FILTER_MESSAGE,
  NOT_A_DATETIME_MESSAGE,
  NOT_A_TIME_MESSAGE,
  NOT_A_TIME_FILTER_MESSAGE,
} from '../../shared/messages';
import { withArticle } from '../../engine/declare/inflection';
import type { FormControl } from './view/view-model';

/** Message for a rejected form with a file, because a page cannot set the value of a file input. */
export const CHOOSE_FILE_AGAIN_MESSAGE =
  'Please choose the file again. Browsers do not keep the selection.';

export const NUMBER_PATTERN = /^-?\d+(\.\d+)?$/;
const SELECTABLE_FIELD_KINDS = ['relation', 'choice', 'image'];
const DATE_MESSAGE = 'Enter a date, such as 2026-01-31.';
const TIME_MESSAGE = 'Enter a time, such as 07:30.';

/** Plainer wordings for messages of the REST API about the format of a value. */
const FORM_MESSAGE_BY_REST_MESSAGE: Readonly<Record<string, string>> = {
  [NOT_A_DATE_MESSAGE]: DATE_MESSAGE,
  [NOT_A_DATE_FILTER_MESSAGE]: DATE_MESSAGE,
  [NOT_A_TIME_MESSAGE]: TIME_MESSAGE,
  [NOT_A_TIME_FILTER_MESSAGE]: TIME_MESSAGE,
  [NOT_A_DATETIME_MESSAGE]: 'Enter a date and a time.',
};

/** Whether the limit is narrower than the range of a PostgreSQL integer. */
const isEffectiveLimit = (limit: number | undefined): limit is number =>
  limit !== undefined && Math.abs(limit) < 2 ** 31 - 1;

/** Describes the allowed range, such as `Between 30 and 600 kg`. */
export function describeRange({ min, max, unit }: FormControl): string | undefined {
  const unitSuffix = unit === undefined ? '' : ` ${unit}`;

  if (isEffectiveLimit(min) && isEffectiveLimit(max)) {
    return `Between ${min} and ${max}${unitSuffix}`;
  }

  if (isEffectiveLimit(min)) return `At least ${min}${unitSuffix}`;

  return isEffectiveLimit(max) ? `At most ${max}${unitSuffix}` : undefined;
}

const lowerFirst = (label: string) =>
  /^[A-Z][a-z ]/.test(label) ? label.replace(/^./, (letter) => letter.toLowerCase()) : label;

function missingValueMessage({ label, kind, choices, multiple }: FormControl): string {
  if (multiple) return 'Choose at least one.';
  const nounPhrase = withArticle(lowerFirst(label));

  const verb = choices || SELECTABLE_FIELD_KINDS.includes(kind) ? 'Choose' : 'Enter';

  return `${verb} ${nounPhrase}.`;
}

function invalidNumberMessage(control: FormControl, text: string): string | undefined {
  if (!NUMBER_PATTERN.test(text)) {
    return control.kind === 'integer' ? 'Enter a whole number.' : 'Enter a number.';
  }

  const value = Number(text);
  const { min = -Infinity, max = Infinity } = control;

  return value < min || value > max ? `${describeRange(control) ?? 'Too large'}.` : undefined;
}

export function validationMessage(
  control: FormControl,
  values: readonly string[],
  restMessages: readonly string[],
): string {
  const text = values.at(-1)?.trim() ?? '';
  const { kind, matches, required } = control;
  const restMessage = restMessages.join(' ');

  // Keeps the REST message for an image, because only the REST API has examined its content.
  if (kind === 'image') return `${restMessage} ${CHOOSE_FILE_AGAIN_MESSAGE}`;
  if (text === '' && required) return missingValueMessage(control);

  if (matches) {
    return matches.length ? 'Choose one of the matches below.' : `No match for “${text}”.`;
  }

  if (text !== '' && (kind === 'decimal' || kind === 'integer')) {
    return invalidNumberMessage(control, text) ?? restMessage;
  }

  return FORM_MESSAGE_BY_REST_MESSAGE[restMessage] ?? restMessage;
}
