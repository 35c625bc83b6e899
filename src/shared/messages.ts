/**
 * Validation messages of REST and GraphQL. They have the wording of Django REST framework, because
 * clients match it.
 */

export const REQUIRED_MESSAGE = 'This field is required.';
export const NOT_NULL_MESSAGE = 'This field may not be null.';
export const NOT_BLANK_MESSAGE = 'This field may not be blank.';
export const NOT_EMPTY_MESSAGE = 'This list may not be empty.';
export const NOT_AN_INTEGER_MESSAGE = 'A valid integer is required.';
export const NOT_A_NUMBER_MESSAGE = 'A valid number is required.';
export const NOT_A_STRING_MESSAGE = 'Not a valid string.';
export const NOT_A_DATE_MESSAGE =
  'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.';
export const NOT_A_TIME_MESSAGE =
  'Time has wrong format. Use one of these formats instead: hh:mm[:ss[.uuuuuu]].';
export const NOT_A_DATETIME_MESSAGE =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';

/** Messages for filters, whose wording differs from that for input fields. */
export const NOT_A_DATE_FILTER_MESSAGE = 'Enter a valid date.';
export const NOT_A_TIME_FILTER_MESSAGE = 'Enter a valid time.';
export const NOT_A_TIME_ZONE_MESSAGE =
  'Ensure that this is a zone of the IANA database such as Europe/Berlin.';
export const NO_NULL_CHARACTERS_MESSAGE = 'Null characters are not allowed.';

export const NOT_A_CHOICE_MESSAGE =
  'Select a valid choice. That choice is not one of the available choices.';

export const noSuchRowMessage = (id: string): string =>
  `Invalid pk "${id}" - object does not exist.`;

/**
 * GraphQL error message for an id without a row. It names the type, because a nested input can
 * contain ids of several types.
 */
export const noSuchRowOfTypeMessage = (type: string, id: string): string =>
  `There is no ${type} with the id "${id}".`;
export const atLeastMessage = (min: number): string =>
  `Ensure this value is greater than or equal to ${min}.`;
export const atMostMessage = (max: number | string): string =>
  `Ensure this value is less than or equal to ${max}.`;
export const atMostCharactersMessage = (max: number): string =>
  `Ensure this field has no more than ${max} characters.`;
export const atMostElementsMessage = (max: number): string =>
  `Ensure this list has no more than ${max} elements.`;

export const tooManyObjectsMessage = (limit: number): string =>
  `The response would have more than ${limit} objects. Request fewer rows at a time, or fewer relations.`;
export const tooManyValuesMessage = (limit: number): string =>
  `The response would have more than ${limit} values, of which an object counts as five, a list as twenty, and each object in an argument as ten for each row. Request fewer rows at a time, or fewer fields.`;
export const responseTooLongMessage = (limit: number): string =>
  `The response would be longer than ${limit} bytes. Request fewer rows at a time, or fewer fields.`;

/** Header (in lower case) of a request for only the estimated cost of an operation. */
export const DRY_RUN_HEADER = 'x-dry-run';
export const DRY_RUN_MESSAGE = 'Dry runs must be sent to POST /graphql.';
export const INTROSPECTION_REQUIRES_SIGN_IN_MESSAGE = 'Introspection requires signing in.';
export const CHOOSE_OPERATION_MESSAGE = 'Choose an operation with `operationName`.';

export const formatCount = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;
