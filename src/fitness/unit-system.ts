/** Enum of unit systems (metric, imperial), a preference of the user. */
import { registerChoices } from '../engine/declare/choices';

export const UNIT_SYSTEM_CHOICES = registerChoices(
  'UnitSystem',
  'The system of units that a user prefers.',
  [
    ['METRIC', 'kg', 'Metric (kilogram)', 'Kilograms and grams.'],
    ['IMPERIAL', 'lb', 'Imperial (pound)', 'Pounds and ounces.'],
  ],
);
