/**
 * Checks a value against the limits of its field. The messages equal those of Django REST
 * framework, because clients may compare their text.
 */
import {
  NOT_A_NUMBER_MESSAGE,
  NOT_BLANK_MESSAGE,
  NO_NULL_CHARACTERS_MESSAGE,
  atLeastMessage,
  atMostMessage,
  atMostCharactersMessage,
} from '../../shared/messages';
import { MAX_INTEGER, MIN_INTEGER } from '../../shared/bounds';
import type { FieldMetadata } from '../../shared/metadata';
import { toUtcTimestamp } from './clock';
import { validationIssue, IssueCode, type ValidationIssue } from './errors';

export type FieldLimits = Pick<
  FieldMetadata,
  | 'kind'
  | 'minLength'
  | 'maxLength'
  | 'min'
  | 'max'
  | 'maxDigits'
  | 'decimalPlaces'
  | 'choices'
  | 'allowBlank'
>;

/** Maximum number of rows that one mutation writes, including nested rows. */
export const MAX_ROWS_PER_MUTATION = 500;

export const TIMESTAMP_OUT_OF_RANGE_MESSAGE = 'Datetime value out of range.';

/**
 * Maximum length of strings in fields that declare no limit. Existing rows may hold longer strings.
 */
const MAX_TEXT_CHARACTERS = 10_000;

/** Matches an unpaired UTF-16 surrogate, which PostgreSQL cannot store as UTF-8. */
const LONE_SURROGATE_PATTERN = /\p{Surrogate}/u;

export const limitViolationMessages = (value: unknown, limits: FieldLimits): string[] =>
  findLimitViolations(value, limits).map(({ message }) => message);

/**
 * Finds all limits that the value violates. The range of a decimal is checked only if its number of
 * digits is allowed.
 */
export function findLimitViolations(value: unknown, limits: FieldLimits): ValidationIssue[] {
  if (value === null || value === undefined) return [];

  switch (limits.kind) {
    case 'string':
    case 'url':
      return textIssues(String(value), limits);
    case 'choice':
      return choiceIssues(value, limits);
    case 'decimal': {
      const issue = precisionIssue(String(value), limits);

      return issue ? [issue] : rangeIssues(Number(value), limits);
    }
    case 'integer':
      return rangeIssues(Number(value), {
        min: MIN_INTEGER,
        max: MAX_INTEGER,
        ...definedRange(limits),
      });
    case 'datetime':
      if (toUtcTimestamp(String(value)) !== undefined) return [];

      return [validationIssue(IssueCode.INVALID, TIMESTAMP_OUT_OF_RANGE_MESSAGE)];
    default:
      return [];
  }
}

function choiceIssues(
  value: unknown,
  { choices = [], allowBlank }: FieldLimits,
): ValidationIssue[] {
  if (value === '' && allowBlank) return [];
  if (choices.some((choice) => choice.value === value)) return [];

  return [validationIssue(IssueCode.NOT_A_CHOICE, `"${String(value)}" is not a valid choice.`)];
}

function definedRange({ min, max }: FieldLimits): { min?: number; max?: number } {
  return { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
}

function textIssues(
  value: string,
  { minLength, maxLength = MAX_TEXT_CHARACTERS, allowBlank, kind }: FieldLimits,
): ValidationIssue[] {
  if (value === '') return allowBlank ? [] : [validationIssue(IssueCode.BLANK, NOT_BLANK_MESSAGE)];
  const issues: ValidationIssue[] = [];
  const length = [...value].length;

  if (length > maxLength) {
    issues.push(validationIssue(IssueCode.TOO_LONG, atMostCharactersMessage(maxLength)));
  }

  if (minLength !== undefined && length < minLength) {
    issues.push(
      validationIssue(
        IssueCode.TOO_SHORT,
        `Ensure this field has at least ${minLength} characters.`,
      ),
    );
  }

  if (value.includes('\0')) {
    issues.push(validationIssue(IssueCode.INVALID, NO_NULL_CHARACTERS_MESSAGE));
  }

  const surrogateMatch = LONE_SURROGATE_PATTERN.exec(value);

  if (surrogateMatch) {
    issues.push(
      validationIssue(
        IssueCode.INVALID,
        `Surrogate characters are not allowed: U+${surrogateMatch[0].charCodeAt(0).toString(16).toUpperCase()}.`,
      ),
    );
  }

  if (kind === 'url' && !URL.canParse(value)) {
    issues.push(validationIssue(IssueCode.INVALID, 'Enter a valid URL.'));
  }

  return issues;
}

function rangeIssues(
  value: number,
  { min, max }: Pick<FieldLimits, 'min' | 'max'>,
): ValidationIssue[] {
  if (max !== undefined && value > max) {
    return [validationIssue(IssueCode.TOO_LARGE, atMostMessage(max))];
  }

  if (min !== undefined && value < min) {
    return [validationIssue(IssueCode.TOO_SMALL, atLeastMessage(min))];
  }

  return [];
}

/**
 * Checks the number of digits of a decimal. Trailing zeros after the decimal point count. An
 * exponent counts as the zeros for which it stands (`1e3` has four digits).
 */
function precisionIssue(
  value: string,
  { maxDigits, decimalPlaces }: FieldLimits,
): ValidationIssue | undefined {
  const match = /^[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(value.trim());

  if (!match) return validationIssue(IssueCode.INVALID, NOT_A_NUMBER_MESSAGE);
  const [, integerDigits = '', fractionDigits = '', exponentText = '0'] = match;
  const exponent = Number(exponentText) - fractionDigits.length;
  const significantDigits = `${integerDigits}${fractionDigits}`.replace(/^0+(?=\d)/, '').length;
  const totalDigits =
    exponent >= 0 ? significantDigits + exponent : Math.max(significantDigits, -exponent);
  const fractionLength = Math.max(0, -exponent);
  const integerPlaces = exponent >= 0 ? totalDigits : Math.max(0, significantDigits + exponent);

  if (maxDigits !== undefined && totalDigits > maxDigits) {
    return validationIssue(
      IssueCode.TOO_PRECISE,
      `Ensure that there are no more than ${maxDigits} digits in total.`,
    );
  }

  if (decimalPlaces !== undefined && fractionLength > decimalPlaces) {
    return validationIssue(
      IssueCode.TOO_PRECISE,
      `Ensure that there are no more than ${decimalPlaces} decimal places.`,
    );
  }

  if (
    maxDigits !== undefined &&
    decimalPlaces !== undefined &&
    integerPlaces > maxDigits - decimalPlaces
  ) {
    return validationIssue(
      IssueCode.TOO_LARGE,
      `Ensure that there are no more than ${maxDigits - decimalPlaces} digits before the decimal point.`,
    );
  }

  return undefined;
}
