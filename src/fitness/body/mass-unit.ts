/** Enum of mass units, for logged body weights and for the results of analyses. */
import { KILOGRAMS_PER_POUND, MASS_UNIT_TYPE_NAME } from '../mass-units';
import { registerChoices } from '../../engine/declare/choices';

export const MASS_UNIT_CHOICES = registerChoices(MASS_UNIT_TYPE_NAME, 'A unit of mass.', [
  ['KG', 'kg', 'kg', 'Kilograms.'],
  ['LB', 'lb', 'lb', `Pounds of exactly ${KILOGRAMS_PER_POUND} kg.`],
]);
