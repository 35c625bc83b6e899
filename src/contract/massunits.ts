/** Markers in field descriptions that identify masses, so that clients of the schema can convert their units. */

export const KILOGRAMS_NOTE = 'in kilograms';
/**
 * Text in field descriptions that marks masses in a requested unit. The client requests it by the `MassUnit` argument of the field or, if the field has
 * none, of its nearest ancestor with one.
 */
export const REQUESTED_UNIT_NOTE = 'in the requested unit';
export const MASS_UNIT_TYPE_NAME = 'MassUnit';

/** Kilograms per pound, exact by the international yard and pound agreement of 1959. */
export const KILOGRAMS_PER_POUND = '0.45359237';
