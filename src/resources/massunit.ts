/** Enum of mass units: the unit of a logged body weight, and the output unit of the analyses. */
import { KILOGRAMS_PER_POUND, MASS_UNIT_TYPE_NAME } from '../contract/massunits';
import { registerChoices } from '../core/model/choices';

export const MASS_UNIT_CHOICES = registerChoices(MASS_UNIT_TYPE_NAME, 'A unit of mass.', [
  ['KG', 'kg', 'kg', 'Kilograms.'],
  ['LB', 'lb', 'lb', `Pounds of exactly ${KILOGRAMS_PER_POUND} kg.`],
]);
