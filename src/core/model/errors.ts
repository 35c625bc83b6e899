/** Errors with a code and their data, decided where they are thrown. No message is ever matched. */
import { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { answerTooLong, noRowOfType } from '../../contract/messages';
import { PASSING } from '../../contract/statuses';
import { ClientGone, isLocked, isTimeout, isUnable, isUnavailable, TooMuchRead, Uncertain } from '../../database/refusals';
import { FilesUnavailable } from '../../platform/filesunavailable';
import { Overloaded } from '../../platform/limiter';
import { mistake, MistakeCode, type InputMistake, type Mistake } from './mistakes';

/** Messages by the names of arguments or the paths of fields in them, such as `days[1].setGroups[0].sets`. */
export type FieldErrors = Record<string, string[]>;

/** Of one answer; who sends more mistakes mends these first. */
export const MAX_ERRORS = 20;

const MAX_ECHO = 200;
/** Of what was sent, as messages repeat it. */
export const shortened = (text: string): string => (text.length > MAX_ECHO ? `${text.slice(0, MAX_ECHO)}…` : text);

/** Input of a mutation that cannot be carried out; the payload lists why. `conflicts` are the ids of the stored rows that are in its way. */
export class InvalidInput extends Error {
  constructor(
    readonly mistakes: readonly InputMistake[],
    readonly conflicts: readonly number[] = [],
  ) {
    super('invalid input');
  }
}

/** The mistake of an id of which the caller can see no row. */
export const noSuch = (type: string, id: unknown): Mistake => mistake(MistakeCode.NOT_FOUND, noRowOfType(type, shortened(String(id))));

/** Throws the mistakes, if there are any. */
export function refuse(mistakes: readonly InputMistake[]): void {
  if (mistakes.length) throw new InvalidInput(mistakes);
}

/** An error that the caller may see as it is. */
export class KnownError extends GraphQLError {
  constructor(code: string, message: string, data: Record<string, unknown> = {}) {
    super(message, { extensions: { code, ...data } });
  }
}

export const notSignedIn = (message = 'Authentication credentials were not provided.') => new KnownError('UNAUTHENTICATED', message);
export const forbidden = (message = 'You do not have permission to perform this action.') => new KnownError('FORBIDDEN', message);
export const notFound = () => new KnownError('NOT_FOUND', 'Not found.');
export const conflict = () => new KnownError('CONFLICT', 'Other writes of the same rows were faster. Nothing was written; try again.');
export const invalid = (fields: FieldErrors) =>
  new KnownError(
    'BAD_USER_INPUT',
    `Invalid input: ${Object.entries(fields)
      .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
      .join('; ')}`,
    { fields },
  );
export const badOperation = (message: string) => new KnownError('BAD_USER_INPUT', message);
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
