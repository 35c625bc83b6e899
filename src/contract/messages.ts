/** Validation messages of REST and GraphQL. The wording is Django REST framework's, because clients match it. */

export const REQUIRED = 'This field is required.';
export const NOT_NULL = 'This field may not be null.';
export const NOT_BLANK = 'This field may not be blank.';
export const NOT_EMPTY = 'This list may not be empty.';
export const NOT_AN_INTEGER = 'A valid integer is required.';
export const NOT_A_NUMBER = 'A valid number is required.';
export const NOT_A_STRING = 'Not a valid string.';
export const NOT_A_DATE = 'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.';
export const NOT_A_TIME = 'Time has wrong format. Use one of these formats instead: hh:mm[:ss[.uuuuuu]].';
export const NOT_A_DATETIME =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';
/** Messages for invalid values of filters, whose wording differs from that of input fields. */
export const NOT_A_DATE_FILTER = 'Enter a valid date.';
export const NOT_A_TIME_FILTER = 'Enter a valid time.';
export const NOT_A_TIME_ZONE = 'Ensure that this is a zone of the IANA database such as Europe/Berlin.';
export const NO_NULL_CHARACTERS = 'Null characters are not allowed.';

export const NOT_A_CHOICE = 'Select a valid choice. That choice is not one of the available choices.';

export const noSuchRow = (id: string): string => `Invalid pk "${id}" - object does not exist.`;
/** GraphQL error message for an id that belongs to no row. It names the type, because a nested input can contain ids of several types. */
export const noRowOfType = (type: string, id: string): string => `There is no ${type} with the id "${id}".`;
export const atLeast = (min: number): string => `Ensure this value is greater than or equal to ${min}.`;
export const atMost = (max: number | string): string => `Ensure this value is less than or equal to ${max}.`;
export const atMostCharacters = (max: number): string => `Ensure this field has no more than ${max} characters.`;
export const atMostElements = (max: number): string => `Ensure this list has no more than ${max} elements.`;

export const responseTooLong = (limit: number): string =>
  `The response would be longer than ${limit} bytes. Request fewer rows at a time, or fewer fields.`;
