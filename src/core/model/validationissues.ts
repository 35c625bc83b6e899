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
  description: 'What kind of mistake it is, for programs.',
  valuesConfig: {
    REQUIRED: { description: 'There has to be a value.' },
    NULL: { description: 'The value may not be null.' },
    BLANK: { description: 'The text may not be empty.' },
    EMPTY: { description: 'The list may not be empty.' },
    TOO_LONG: { description: 'The text has too many characters.' },
    TOO_SHORT: { description: 'The text has too few characters.' },
    TOO_LARGE: { description: 'The number is above the largest that is allowed.' },
    TOO_SMALL: { description: 'The number is below the smallest that is allowed.' },
    TOO_PRECISE: { description: 'The number has too many digits.' },
    NOT_A_CHOICE: { description: 'The value is none of those to choose from.' },
    NOT_FOUND: { description: 'There is no such row, or it is not one that the viewer may refer to: the two are not told apart.' },
    NOT_UNIQUE: { description: 'There may be one such row only, and there is one.' },
    CONFLICT: { description: 'The row has another version than was meant.' },
    WRONG_CREDENTIALS: { description: 'The name or the password is wrong.' },
    INVALID: { description: 'The value breaks another rule, which the message tells.' },
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
