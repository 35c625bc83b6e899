/** Summaries of planned sets, such as `4 × 10 (20 kg, 2 RiR)`. Always English. */

/** Ids of the repetition units whose names a summary omits: plain repetitions, and repetitions until failure (∞). */
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

export const isWeighted = ({ weight }: Pick<SummarizedSet, 'weight'>): boolean =>
  weight !== null && Number(weight) !== 0;

/** Removes trailing zeros: `12.50` → `12.5`, `20.00` → `20`. */
const trimZeros = (decimal: string) => String(Number(decimal));

function repetitionsText({ reps, repetitionUnitId, repetitionUnit }: SummarizedSet): string {
  if (repetitionUnitId === UNTIL_FAILURE_UNIT_ID) return '∞';
  return repetitionUnitId === REPETITIONS_UNIT_ID ? String(reps) : `${reps} ${repetitionUnit}`;
}

function plannedSetText(plannedSet: SummarizedSet): string {
  const { weight, weightUnit, rir } = plannedSet;
  const details = [
    isWeighted(plannedSet) && `${trimZeros(weight!)} ${weightUnit}`,
    rir && `${rir} RiR`,
  ].filter(Boolean);
  return repetitionsText(plannedSet) + (details.length ? ` (${details.join(', ')})` : '');
}

/** Summarizes the planned sets of one exercise. A single planned set is prefixed with the number of times it is repeated. */
export function formatSetSummary(setCount: number, plannedSets: readonly SummarizedSet[]): string {
  const texts = plannedSets.map(plannedSetText);
  return texts.length === 1 ? `${setCount} × ${texts[0]}` : texts.join(' – ');
}
