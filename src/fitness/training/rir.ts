/** Repetitions in reserve (RiR): how many more repetitions the user could have done in a set. */
import { registerChoices } from '../../engine/declare/choices';

const RIR_VALUES = ['0', '0.5', '1', '1.5', '2', '2.5', '3', '3.5', '4'];

export const RIR_CHOICES = registerChoices(
  'RepetitionsInReserve',
  'How many more repetitions could have been done, in steps of a half.',
  RIR_VALUES.map((value) => [
    `RIR_${value.replace('.', '_')}`,
    value,
    Number(value),
    `${value} more could have been done.`,
  ]),
  { nullLabel: '------' },
);
