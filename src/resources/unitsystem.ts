/** The units that a user prefers. */
import { choices } from '../core/model/choices';

export const UNIT_SYSTEM = choices('UnitSystem', 'The units in which a user thinks.', [
  ['METRIC', 'kg', 'Metric (kilogram)', 'Body weights in kilograms, masses of food in grams.'],
  ['IMPERIAL', 'lb', 'Imperial (pound)', 'Body weights in pounds, masses of food in ounces.'],
]);
