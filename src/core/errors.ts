/** Errors with a code and their data, decided where they are thrown. No message is ever matched. */
import { GraphQLError } from 'graphql';
import { ClientGone, isTimeout, isUnavailable, Overloaded } from '../database/refusals';
import type { Mistake } from './mistakes';

/** Messages by the paths of fields in GraphQL, such as `days[1].workoutSets[0].sets`; those of a row as a whole under `nonFieldErrors`. */
export type FieldErrors = Record<string, string[]>;

/** The same with codes. */
export type Mistakes = Record<string, Mistake[]>;

/** Of one answer; who sends more mistakes mends these first. */
export const MAX_ERRORS = 20;

const MAX_ECHO = 200;
/** Of what was sent, as messages repeat it. */
export const shortened = (text: string): string => (text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}…` : text);

export const WHOLE = 'nonFieldErrors';

/** Values that cannot be stored as they are; the payload of the mutation says why, field by field. */
export class InvalidValues extends Error {
  constructor(readonly fields: Mistakes) {
    super('invalid values');
  }
}

/** Rows that have changed since the writer saw them, with the places of the versions that were meant. */
export class OtherVersion extends Error {
  constructor(
    readonly ids: readonly number[],
    readonly paths: readonly string[],
  ) {
    super('another version');
  }
}

/** An error that the caller may see as it is. */
export class KnownError extends GraphQLError {
  constructor(code: string, message: string, data: Record<string, unknown> = {}) {
    super(message, { extensions: { code, ...data } });
  }
}

/** Of several, the one that is meant, by its path in the input. */
const place = (at: string | undefined) => (at ? { at } : {});

export const notSignedIn = (message = 'Authentication credentials were not provided.') => new KnownError('UNAUTHENTICATED', message);
export const forbidden = (message = 'You do not have permission to perform this action.') => new KnownError('FORBIDDEN', message);
export const notFound = (at?: string) => new KnownError('NOT_FOUND', 'Not found.', place(at));
export const conflict = () => new KnownError('CONFLICT', 'Other writes of the same rows were faster. Nothing was written; try again.');
export const invalid = (fields: FieldErrors) =>
  new KnownError(
    'BAD_USER_INPUT',
    `Invalid input: ${Object.entries(fields)
      .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
      .join('; ')}`,
    { fields },
  );
export const badArgument = (argument: string, message: string) => invalid({ [argument]: [message] });

const RETRY_SECONDS = 2;

/** What the database refused for reasons that are not in the request; undefined for a mistake in the program. */
export function ofDatabase(error: unknown): KnownError | undefined {
  if (error instanceof ClientGone) return new KnownError('CLIENT_GONE', 'The client has gone.');
  if (isTimeout(error)) return new KnownError('TIMEOUT', 'This takes too long. Ask for less at a time, or by simpler conditions.');
  if (error instanceof Overloaded) return overloaded();
  if (isUnavailable(error))
    return new KnownError('SERVICE_UNAVAILABLE', 'The database cannot be reached. Try again in a moment.', { retryAfter: RETRY_SECONDS });
  return undefined;
}

export const overloaded = () =>
  new KnownError('OVERLOADED', 'The server has too much to do. Try again in a moment.', { retryAfter: RETRY_SECONDS });
