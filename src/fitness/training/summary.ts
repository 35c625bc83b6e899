/** Summaries of planned sets, such as `4 × 10 (20 kg, 2 RiR)`. Always English. */

/**
 * Ids of the repetition units that a summary does not name: plain repetitions, and repetitions
 * until failure (∞).
 */
export const REPETITIONS_UNIT_ID = 1;
export const UNTIL_FAILURE_UNIT_ID = 2;

export interface SummarizedSet {
  reps: number;
  repetitionUnitId: number;
  repetitionUnit: string;
  weight: string | null;
  weightUnit: string;
  rir: string | null;
}

export const hasNonzeroWeight = ({ weight }: Pick<SummarizedSet, 'weight'>): boolean =>
  weight !== null && Number(weight) !== 0;

/** Removes trailing zeros: `12.50` → `12.5`, `20.00` → `20`. */
const trimTrailingZeros = (decimal: string) => String(Number(decimal));

function repetitionsText({ reps, repetitionUnitId, repetitionUnit }: SummarizedSet): string {
  if (repetitionUnitId === UNTIL_FAILURE_UNIT_ID) return '∞';

  return repetitionUnitId === REPETITIONS_UNIT_ID ? String(reps) : `${reps} ${repetitionUnit}`;
}

function plannedSetText(plannedSet: SummarizedSet): string {
  const { weight, weightUnit, rir } = plannedSet;
  const details = [
    hasNonzeroWeight(plannedSet) && `${trimTrailingZeros(weight!)} ${weightUnit}`,
    rir && `${rir} RiR`,
  ].filter(Boolean);

  return repetitionsText(plannedSet) + (details.length ? ` (${details.join(', ')})` : '');
}

/**
 * Summarizes the planned sets of one exercise: `4 × 10` for one planned set that is repeated four
 * times, `10 – 8 – 6` for several.
 */
export function formatSetSummary(setCount: number, plannedSets: readonly SummarizedSet[]): string {
  const texts = plannedSets.map(plannedSetText);

  return texts.length === 1 ? `${setCount} × ${texts[0]}` : texts.join(' – ');
}
