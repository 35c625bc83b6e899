/** What an answer of GraphQL tells of its errors: so many, each so long, and to strangers no names that they have not guessed. */
import { GraphQLError, type ExecutionResult, type GraphQLFormattedError } from 'graphql';
import { MAX_ERRORS } from '../core/model/errors';

const MAX_MESSAGE = 1000;

/** How graphql-js begins what a name may have meant, at the end of a message. */
const SUGGESTION = ' Did you mean ';

function told(message: string, signedIn: boolean): string {
  const suggestion = signedIn ? -1 : message.indexOf(SUGGESTION);
  const text = suggestion < 0 ? message : message.slice(0, suggestion);
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}

/** `made` is the error with another message. */
function shown<E extends GraphQLFormattedError>(errors: readonly E[], signedIn: boolean, made: (message: string, error?: E) => E): E[] {
  // A document that is too large is wrong in that way first.
  const ofLimits = errors.filter(({ extensions }) => extensions?.limit !== undefined);
  const meant = ofLimits.length ? ofLimits : errors;
  const first = meant.length > MAX_ERRORS ? meant.slice(0, MAX_ERRORS - 1) : meant;
  const all = first.map((error) => made(told(error.message, signedIn), error));
  const left = meant.length - first.length;
  return left ? [...all, made(`There are ${left} more errors.`)] : all;
}

const TOO_MANY = { extensions: { code: 'TOO_MANY_ERRORS' } };

export const shownErrors = (errors: readonly GraphQLFormattedError[], signedIn: boolean): GraphQLFormattedError[] =>
  shown(errors, signedIn, (message, error = { message, ...TOO_MANY }) => ({ ...error, message }));

/** The same of errors that are not formatted yet. */
export function shownResult(result: ExecutionResult, signedIn: boolean): ExecutionResult {
  if (!result.errors?.length) return result;
  return { ...result, errors: shown(result.errors, signedIn, (message, error) => new GraphQLError(message, error ?? TOO_MANY)) };
}
