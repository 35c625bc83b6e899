/** Settings in words, such as `4 × 10 (20 kg, 2 RiR)`. Always English. */

/** Units that stand for themselves: repetitions are not named, and until failure is as many as one can. */
export const REPETITIONS = 1;
export const UNTIL_FAILURE = 2;

export interface Effort {
  reps: number;
  repetitionUnitId: number;
  repetitionUnit: string;
  weight: string | null;
  weightUnit: string;
  rir: string | null;
}

export const isWeighted = ({ weight }: Pick<Effort, 'weight'>): boolean => weight !== null && Number(weight) !== 0;

/** `12.50` → `12.5`, `20.00` → `20`. */
const plain = (decimal: string) => String(Number(decimal));

function amount({ reps, repetitionUnitId, repetitionUnit }: Effort): string {
  if (repetitionUnitId === UNTIL_FAILURE) return '∞';
  return repetitionUnitId === REPETITIONS ? String(reps) : `${reps} ${repetitionUnit}`;
}

function effortText(effort: Effort): string {
  const { weight, weightUnit, rir } = effort;
  const details = [isWeighted(effort) && `${plain(weight!)} ${weightUnit}`, rir && `${rir} RiR`].filter(Boolean);
  return amount(effort) + (details.length ? ` (${details.join(', ')})` : '');
}

/** The planned sets of one exercise in words. The number of sets is shown where one planned set is repeated. */
export function setSummary(sets: number, efforts: readonly Effort[]): string {
  const texts = efforts.map(effortText);
  return texts.length === 1 ? `${sets} × ${texts[0]}` : texts.join(' – ');
}
