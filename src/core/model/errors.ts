/** Errors with a code and their data, decided where they are thrown. No message is ever matched. */
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { answerTooLong } from '../../contract/messages';
import { PASSING } from '../../contract/statuses';
import { ClientGone, isLocked, isTimeout, isUnable, isUnavailable, Overloaded, TooMuchRead, Uncertain } from '../../database/refusals';
import { FilesUnavailable } from '../../platform/filesunavailable';
import type { Mistake } from './mistakes';

/** Messages by the paths of fields in GraphQL, such as `days[1].workoutSets[0].sets`; those of a row as a whole under `nonFieldErrors`. */
export type FieldErrors = Record<string, string[]>;

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

export const tooLong = (limit: number): KnownError => new KnownError('RESULT_TOO_LARGE', answerTooLong(limit), { limit });

export const RETRY_SECONDS = 2;

/** What is said of it, and nothing of what the database says, which is for the log. */
function reasonOf(error: unknown): [code: string, message: string] | undefined {
  if (isTimeout(error)) return ['TIMEOUT', 'This takes too long. Ask for less at a time, or by simpler conditions.'];
  if (error instanceof Uncertain)
    return [
      'SERVICE_UNAVAILABLE',
      'The database was lost while the change was being confirmed: look whether it was made before sending it again.',
    ];
  if (isUnavailable(error)) return ['SERVICE_UNAVAILABLE', 'The database cannot be reached. Try again in a moment.'];
  if (isLocked(error)) return ['SERVICE_UNAVAILABLE', 'Something else holds what this needs. Nothing was done; try again in a moment.'];
  if (isUnable(error)) return ['SERVICE_UNAVAILABLE', 'The database cannot do this at the moment. Nothing was done; try again later.'];
  if (error instanceof FilesUnavailable)
    return ['SERVICE_UNAVAILABLE', 'Uploaded files can be neither kept nor read at the moment. Try again in a moment.'];
  return undefined;
}

/** What the database refused for reasons that are not in the request; undefined for a mistake in the program. Its cause is in the log, by the id of the request. */
export function ofDatabase(error: unknown, log: Logger, id: string): KnownError | undefined {
  if (error instanceof ClientGone) return new KnownError('CLIENT_GONE', 'The client has gone.');
  if (error instanceof Overloaded) return overloaded();
  if (error instanceof TooMuchRead) return tooLong(error.limit);
  const reason = reasonOf(error);
  if (!reason) return undefined;
  const [code, message] = reason;
  log.error({ id, err: error }, error instanceof FilesUnavailable ? 'files cannot be kept or read' : 'the database cannot be used');
  return new KnownError(code, `${message} (id ${id})`, { retryAfter: RETRY_SECONDS, id });
}

export const overloaded = () =>
  new KnownError('OVERLOADED', 'The server has too much to do. Try again in a moment.', { retryAfter: RETRY_SECONDS });

export const isPassing = (error: unknown): boolean => error instanceof KnownError && PASSING.includes(String(error.extensions.code));
