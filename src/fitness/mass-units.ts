/** Phrases by which field descriptions mark masses, so that clients can find and convert them. */

export const KILOGRAMS_NOTE = 'in kilograms';

/**
 * Marks masses in a unit that the client chooses: by the `MassUnit` argument of the field or of its
 * nearest ancestor with one.
 */
export const REQUESTED_UNIT_NOTE = 'in the requested unit';
export const MASS_UNIT_TYPE_NAME = 'MassUnit';

/** Kilograms per pound, exact by the international yard and pound agreement of 1959. */
export const KILOGRAMS_PER_POUND = '0.45359237';
