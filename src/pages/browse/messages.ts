/** What is wrong with a field, as one person tells another. What is not known here is said as programs hear it. */
import { withArticle } from '../../core/model/inflection';
import type { Control } from './view/view';

/** A page cannot fill in a file input. */
export const CHOOSE_AGAIN = 'Please choose the file again: browsers do not keep it.';

const NUMBER = /^-?\d+(\.\d+)?$/;
const CHOSEN = ['relation', 'choice', 'image'];
const EXAMPLES: Partial<Record<Control['kind'], string>> = {
  date: 'Enter a date, such as 2026-01-31.',
  time: 'Enter a time, such as 07:30.',
  datetime: 'Enter a date and a time.',
};

const isBounded = (limit: number | undefined): limit is number => limit !== undefined && Math.abs(limit) < 2 ** 31 - 1;

/** `Between 30 and 600 kg`, as far as there are bounds and a unit. */
export function rangeOf({ min, max, unit }: Control): string | undefined {
  const inUnit = unit === undefined ? '' : ` ${unit}`;
  if (isBounded(min) && isBounded(max)) return `Between ${min} and ${max}${inUnit}`;
  if (isBounded(min)) return `At least ${min}${inUnit}`;
  return isBounded(max) ? `At most ${max}${inUnit}` : undefined;
}

const lower = (label: string) => (/^[A-Z][a-z ]/.test(label) ? label.replace(/^./, (letter) => letter.toLowerCase()) : label);

function missing({ label, kind, choices }: Control): string {
  const what = withArticle(lower(label));
  return choices || CHOSEN.includes(kind) ? `Choose ${what}.` : `Enter ${what}.`;
}

function number(control: Control, text: string): string | undefined {
  if (!NUMBER.test(text)) return control.kind === 'integer' ? 'Enter a whole number.' : 'Enter a number.';
  const value = Number(text);
  const { min = -Infinity, max = Infinity } = control;
  return value < min || value > max ? `${rangeOf(control) ?? 'Too large'}.` : undefined;
}

export function messageOf(control: Control, values: readonly string[], messages: readonly string[]): string {
  const text = values.at(-1)?.trim() ?? '';
  const { kind, found, required } = control;
  const said = messages.join(' ');
  // What became of a file only the server knows.
  if (kind === 'image') return `${said} ${CHOOSE_AGAIN}`;
  if (text === '' && required) return missing(control);
  if (found) return found.length ? 'Which one do you mean? Choose it below.' : `Nothing is called “${text}”.`;
  if (text !== '' && (kind === 'decimal' || kind === 'integer')) return number(control, text) ?? said;
  return (text !== '' && EXAMPLES[kind]) || said;
}
