/** Validation issues: what is wrong with an input value, as a code for programs and a message for people. */
import { registerEnumType } from 'type-graphql';

export enum IssueCode {
  REQUIRED = 'REQUIRED',
  NULL = 'NULL',
  BLANK = 'BLANK',
  EMPTY = 'EMPTY',
  TOO_LONG = 'TOO_LONG',
  TOO_SHORT = 'TOO_SHORT',
  TOO_LARGE = 'TOO_LARGE',
  TOO_SMALL = 'TOO_SMALL',
  TOO_PRECISE = 'TOO_PRECISE',
  NOT_A_CHOICE = 'NOT_A_CHOICE',
  NOT_FOUND = 'NOT_FOUND',
  NOT_UNIQUE = 'NOT_UNIQUE',
  CONFLICT = 'CONFLICT',
  WRONG_CREDENTIALS = 'WRONG_CREDENTIALS',
  INVALID = 'INVALID',
}
registerEnumType(IssueCode, {
  name: 'InputErrorCode',
  description: 'Machine-readable kinds of input errors.',
  valuesConfig: {
    REQUIRED: { description: 'A value is required.' },
    NULL: { description: 'The value may not be null.' },
    BLANK: { description: 'The text may not be empty.' },
    EMPTY: { description: 'The list may not be empty.' },
    TOO_LONG: { description: 'The text has too many characters.' },
    TOO_SHORT: { description: 'The text has too few characters.' },
    TOO_LARGE: { description: 'The number is greater than the maximum.' },
    TOO_SMALL: { description: 'The number is less than the minimum.' },
    TOO_PRECISE: { description: 'The number has too many digits.' },
    NOT_A_CHOICE: { description: 'The value is not one of the choices.' },
    NOT_FOUND: { description: 'The row does not exist, or the viewer may not refer to it. The two cases are not distinguished.' },
    NOT_UNIQUE: { description: 'Another row already has this unique value.' },
    CONFLICT: { description: 'The version of the row differs from `ifVersion`.' },
    WRONG_CREDENTIALS: { description: 'The name or the password is wrong.' },
    INVALID: { description: 'The value violates another rule, described in the message.' },
  },
});

export interface ValidationIssue {
  readonly code: IssueCode;
  readonly message: string;
}

/** Path into the arguments of a mutation, such as `['input', 'days', '1', 'description']`. */
export type InputPath = readonly string[];

export interface InputIssue extends ValidationIssue {
  readonly path: InputPath;
}

export const validationIssue = (code: IssueCode, message: string): ValidationIssue => ({ code, message });
export const invalidValueIssue = (message: string): ValidationIssue => validationIssue(IssueCode.INVALID, message);
