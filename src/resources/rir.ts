/** Repetitions in reserve: how many more could have been done. */
import type { Choice } from '../extensions';

export const RIR: readonly Choice[] = [
  { value: null, label: '------' },
  ...['0', '0.5', '1', '1.5', '2', '2.5', '3', '3.5', '4'].map((value) => ({ value, label: Number(value) })),
];
