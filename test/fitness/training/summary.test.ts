/**
 * Texts that describe sets in REST. The rules are those of test/system/contract/CONTRACT.md,
 * section 9 (canonical_representation, smart_text), and for the unit of each weight those of
 * D-CANON in DEVIATIONS.md.
 */
import {
  hasNonzeroWeight,
  formatSetSummary,
  type SummarizedSet,
} from '../../../src/fitness/training/summary';

const effort = (fields: Partial<SummarizedSet> = {}): SummarizedSet => ({
  reps: 10,
  repetitionUnitId: 1,
  repetitionUnit: 'Repetitions',
  weight: null,
  weightUnit: 'kg',
  rir: null,
  ...fields,
});
const failure = { repetitionUnitId: 2, repetitionUnit: 'Until Failure' };
const minutes = { repetitionUnitId: 4, repetitionUnit: 'Minutes' };

const table: [rule: string, sets: number, efforts: Partial<SummarizedSet>[], text: string][] = [
  ['without settings', 4, [], ''],
  ['repetitions without a unit', 4, [{}], '4 × 10'],
  ['zero sets', 0, [{}], '0 × 10'],
  [
    'other units by name',
    3,
    [{ reps: 90, repetitionUnitId: 3, repetitionUnit: 'Seconds' }],
    '3 × 90 Seconds',
  ],
  ['until failure as ∞', 2, [{ reps: 1, ...failure }], '2 × ∞'],
  ['a whole weight without decimals', 4, [{ weight: '20.00' }], '4 × 10 (20 kg)'],
  ['zeros before the decimal point', 4, [{ weight: '100.00' }], '4 × 10 (100 kg)'],
  ['a weight with one decimal', 4, [{ weight: '12.50' }], '4 × 10 (12.5 kg)'],
  ['a weight with two decimals', 4, [{ weight: '12.25' }], '4 × 10 (12.25 kg)'],
  ['a weight below one', 4, [{ weight: '0.50' }], '4 × 10 (0.5 kg)'],
  ['weight and RiR', 3, [{ reps: 8, weight: '12.50', rir: '2' }], '3 × 8 (12.5 kg, 2 RiR)'],
  ['no weight if it is zero', 4, [{ reps: 15, weight: '0.00', rir: '0' }], '4 × 15 (0 RiR)'],
  ['RiR without weight', 4, [{ rir: '1.5' }], '4 × 10 (1.5 RiR)'],
  ['no RiR if it is blank', 4, [{ rir: '' }], '4 × 10'],
  ['until failure with weight', 2, [{ ...failure, weight: '40.00' }], '2 × ∞ (40 kg)'],
  [
    'several settings without the number of sets',
    4,
    [{ weight: '5.00' }, { reps: 8, weight: '7.50' }],
    '10 (5 kg) – 8 (7.5 kg)',
  ],
  [
    'each weight with its own unit',
    3,
    [
      { reps: 2, ...minutes, weight: '4.00', weightUnit: 'Plates', rir: '1.5' },
      { reps: 3, weight: '8.00', weightUnit: 'lb' },
    ],
    '2 Minutes (4 Plates, 1.5 RiR) – 3 (8 lb)',
  ],
];

test.each(table)('summarizes a set: %s', (_rule, sets, efforts, text) => {
  expect(formatSetSummary(sets, efforts.map(effort))).toBe(text);
});

test.each([
  [null, false],
  ['0.00', false],
  ['0.25', true],
  ['20.00', true],
])('counts a weight of %s as weighted: %s', (weight, expected) => {
  expect(hasNonzeroWeight({ weight })).toBe(expected);
});
