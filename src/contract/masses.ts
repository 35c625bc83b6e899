/** How the description of a field says that its number is a mass, so that whoever reads the schema can show it in another unit. */

export const IN_KILOGRAMS = 'in kilograms';
/** That of the argument of this type, of the field or of the nearest one above it that has one. */
export const IN_UNIT_ASKED_FOR = 'in the unit asked for';
export const UNIT_TYPE = 'MassUnit';

/** Kilograms: exactly so many by the international yard and pound agreement of 1959. */
export const POUND = '0.45359237';
