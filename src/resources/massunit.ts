/** The unit of a body weight as it was logged, and the one in which formulas show masses. */
import { POUND, UNIT_TYPE } from '../contract/masses';
import { choices } from '../core/model/choices';

export const MASS_UNIT = choices(UNIT_TYPE, 'A unit of mass.', [
  ['KG', 'kg', 'kg', 'Kilograms.'],
  ['LB', 'lb', 'lb', `Pounds of exactly ${POUND} kg.`],
]);
