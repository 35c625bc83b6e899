/** Enum of mass units: the unit of a logged body weight, and the output unit of the analyses. */
import { POUND, UNIT_TYPE } from '../contract/masses';
import { choices } from '../core/model/choices';

export const MASS_UNIT = choices(UNIT_TYPE, 'A unit of mass.', [
  ['KG', 'kg', 'kg', 'Kilograms.'],
  ['LB', 'lb', 'lb', `Pounds of exactly ${POUND} kg.`],
]);
