/** Validation issues: errors of input values, each with a code for programs and a message for people. */
import { createEnum } from './enums';

export const IssueCode = createEnum('InputErrorCode', 'Machine-readable kinds of input errors.', {
  REQUIRED: 'A value is required.',
  NULL: 'The value may not be null.',
  BLANK: 'The text may not be empty.',
  EMPTY: 'The list may not be empty.',
  TOO_LONG: 'The text has too many characters.',
  TOO_SHORT: 'The text has too few characters.',
  TOO_LARGE: 'The number is greater than the maximum.',
  TOO_SMALL: 'The number is less than the minimum.',
  TOO_PRECISE: 'The number has too many digits.',
  NOT_A_CHOICE: 'The value is not one of the choices.',
  NOT_FOUND:
    'The row does not exist, or the viewer may not refer to it. The two cases are not distinguished.',
  NOT_UNIQUE: 'Another row already has this unique value.',
  CONFLICT: 'The version of the row differs from `ifVersion`.',
  WRONG_CREDENTIALS: 'The name or the password is wrong.',
  INVALID: 'The value violates another rule, described in the message.',
});
export type IssueCode = keyof typeof IssueCode;

export interface ValidationIssue {
  readonly code: IssueCode;
  readonly message: string;
}

/** Path into the arguments of a mutation, such as `['input', 'days', '1', 'description']`. */
export type InputPath = readonly string[];

export interface InputIssue extends ValidationIssue {
  readonly path: InputPath;
}

export const validationIssue = (code: IssueCode, message: string): ValidationIssue => ({
  code,
  message,
});
export const invalidValueIssue = (message: string): ValidationIssue =>
  validationIssue(IssueCode.INVALID, message);
