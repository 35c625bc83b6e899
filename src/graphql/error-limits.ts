/**
 * Limits the number and length of errors in a GraphQL response. Removes "Did you mean" suggestions
 * for clients without access to the schema.
 */
import { GraphQLError, type ExecutionResult, type GraphQLFormattedError } from 'graphql';
import { convertAndLimitErrors, TOO_MANY_ERRORS_OPTIONS } from '../engine/declare/errors';

const MAX_MESSAGE_CHARACTERS = 1000;

const SUGGESTION_PREFIX = ' Did you mean ';

function shortenMessage(message: string, keepSuggestions: boolean): string {
  const suggestionIndex = keepSuggestions ? -1 : message.indexOf(SUGGESTION_PREFIX);
  const text = suggestionIndex < 0 ? message : message.slice(0, suggestionIndex);

  return text.length > MAX_MESSAGE_CHARACTERS ? `${text.slice(0, MAX_MESSAGE_CHARACTERS)}…` : text;
}

/**
 * Shortens messages and limits the number of errors. `copyError` copies an error with a new
 * message. Without `error`, it creates the error that says how many errors were omitted.
 */
function shortenErrors<E extends GraphQLFormattedError>(
  errors: readonly E[],
  keepSuggestions: boolean,
  copyError: (message: string, error?: E) => E,
): E[] {
  // An exceeded document limit hides all other errors.
  const documentLimitErrors = errors.filter(({ extensions }) => extensions?.limit !== undefined);
  const relevantErrors = documentLimitErrors.length ? documentLimitErrors : errors;

  return convertAndLimitErrors(
    relevantErrors,
    (error) => copyError(shortenMessage(error.message, keepSuggestions), error),
    copyError,
  );
}

export const limitFormattedErrors = (
  errors: readonly GraphQLFormattedError[],
  keepSuggestions: boolean,
): GraphQLFormattedError[] =>
  shortenErrors(
    errors,
    keepSuggestions,
    (message, error = { message, ...TOO_MANY_ERRORS_OPTIONS }) => ({ ...error, message }),
  );

/** Limits the errors of a result that is not yet formatted for the response. */
export function limitResultErrors(
  result: ExecutionResult,
  keepSuggestions: boolean,
): ExecutionResult {
  if (!result.errors?.length) return result;

  return {
    ...result,
    errors: shortenErrors(
      result.errors,
      keepSuggestions,
      (message, error) => new GraphQLError(message, error ?? TOO_MANY_ERRORS_OPTIONS),
    ),
  };
}
