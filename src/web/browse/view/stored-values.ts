/**
 * Compares the values of a form with the stored values, which another client has changed meanwhile.
 */
import type { FormControl } from './view-model';

const TIME_WITHOUT_SECONDS_PATTERN = /(^|T)(\d\d:\d\d)$/;

/** Unifies the spellings of a value, such as `80` and `80.00`. */
function normalizeText(text: string, { kind }: FormControl): string {
  const trimmedText = text.trim();

  if ((kind === 'decimal' || kind === 'integer') && trimmedText !== '') {
    return String(Number(trimmedText));
  }

  if (kind === 'time' || kind === 'datetime') {
    return trimmedText.replace(TIME_WITHOUT_SECONDS_PATTERN, '$1$2:00');
  }

  return trimmedText.replaceAll('\r\n', '\n');
}

/**
 * Texts of a field that the server would store: all if the field has several values, otherwise the
 * last.
 */
function comparableTexts(texts: readonly string[] = [], control: FormControl): string[] {
  const effectiveTexts = control.multiple ? [...texts].sort() : texts.slice(-1);

  return effectiveTexts.map((text) => normalizeText(text, control)).filter(Boolean);
}

export function formatControlValue(control: FormControl, texts: readonly string[]): string {
  const labels = (control.multiple ? texts : texts.slice(-1)).map(
    (text) =>
      control.chosenRowName ?? control.choices?.find(({ value }) => value === text)?.label ?? text,
  );

  if (control.kind === 'boolean') return labels.includes('true') ? 'yes' : 'no';

  return labels.filter((label) => label !== '').join(', ') || '–';
}

/**
 * Whether the stored value differs from the posted one. Files and fields that were not posted are
 * ignored.
 */
export function hasConflict(
  control: FormControl,
  postedTexts: readonly string[] | undefined,
  storedTexts: readonly string[] | undefined,
): boolean {
  if (control.kind === 'image' || !postedTexts) return false;
  const [postedJson, storedJson] = [postedTexts, storedTexts].map((texts) =>
    JSON.stringify(comparableTexts(texts, control)),
  );

  return postedJson !== storedJson;
}
