/** Markers in field descriptions that identify masses, so that clients of the schema can convert their units. */

export const IN_KILOGRAMS = 'in kilograms';
/** The unit is the UNIT_TYPE argument of the field, or of its nearest ancestor with such an argument. */
export const IN_UNIT_ASKED_FOR = 'in the unit asked for';
export const UNIT_TYPE = 'MassUnit';

/** Kilograms per pound, exact by the international yard and pound agreement of 1959. */
export const POUND = '0.45359237';
