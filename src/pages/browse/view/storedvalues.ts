/** Compares the values of a form with those of its row, which was changed in the meantime. */
import type { FormTextValues } from '../../../rest/dialect/methodoverride';
import type { FormControl, StoredValue } from './viewmodel';

const TIME_WITHOUT_SECONDS_PATTERN = /(^|T)(\d\d:\d\d)$/;

/** Returns the same string for all spellings of a value, such as `80` and `80.00`. */
function normalizeText(text: string, { kind }: FormControl): string {
  const trimmed = text.trim();
  if ((kind === 'decimal' || kind === 'integer') && trimmed !== '') return String(Number(trimmed));
  if (kind === 'time' || kind === 'datetime') return trimmed.replace(TIME_WITHOUT_SECONDS_PATTERN, '$1$2:00');
  return trimmed.replaceAll('\r\n', '\n');
}

/** Returns the non-empty strings that the server would store: all for a field with several values, otherwise only the last one. */
const effectiveTexts = (texts: readonly string[] | undefined, control: FormControl): string[] =>
  (control.multiple ? [...(texts ?? [])].sort() : (texts ?? []).slice(-1)).map((text) => normalizeText(text, control)).filter(Boolean);

/** Returns the value in readable form, such as the name of a related row. */
export function formatControlValue(control: FormControl, texts: readonly string[]): string {
  const labels = (control.multiple ? texts : texts.slice(-1)).map(
    (text) => control.chosenName ?? control.choices?.find(({ value }) => value === text)?.label ?? text,
  );
  if (control.kind === 'boolean') return labels.includes('true') ? 'yes' : 'no';
  return labels.filter((label) => label !== '').join(', ') || '–';
}

/** Returns the stored values that differ from the posted ones. Fields that were not posted and files are ignored. */
export function conflictingStoredValues(
  controls: readonly FormControl[],
  posted: FormTextValues,
  stored: FormTextValues,
): Record<string, StoredValue> {
  const differingControls = controls.filter((control) => {
    if (control.kind === 'image' || !posted[control.key]) return false;
    const [postedTexts, storedTexts] = [posted, stored].map((texts) => JSON.stringify(effectiveTexts(texts[control.key], control)));
    return postedTexts !== storedTexts;
  });
  return Object.fromEntries(
    differingControls.map((control) => {
      const texts = stored[control.key] ?? [];
      return [control.key, { texts, label: formatControlValue(control, texts) }];
    }),
  );
}
