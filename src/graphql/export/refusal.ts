/** What is said, before the first byte of a file, of an operation that makes none: as GraphQL's errors, and by the status. */
import type { Response } from 'express';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { shownErrors } from '../shownerrors';

const STATUS: Readonly<Record<string, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  RATE_LIMITED: 429,
  TOO_MANY_REQUESTS: 429,
  OVERLOADED: 503,
  SERVICE_UNAVAILABLE: 503,
  TIMEOUT: 503,
  INTERNAL_SERVER_ERROR: 500,
};

export class Refused extends Error {
  constructor(readonly errors: readonly GraphQLFormattedError[]) {
    super(errors[0]?.message);
  }

  get code(): string {
    return String(this.errors[0]?.extensions?.code);
  }

  get retryAfter(): number | undefined {
    return this.errors.find(({ extensions }) => extensions?.retryAfter !== undefined)?.extensions!.retryAfter as number | undefined;
  }
}

/** `field` is the one that cannot be a part of a file. */
export const refused = (message: string, field?: string, code = 'BAD_USER_INPUT'): Refused =>
  new Refused([new GraphQLError(message, { extensions: { code, ...(field !== undefined && { field }) } })]);

export function answerRefusal(response: Response, refusal: Refused, signedIn: boolean): void {
  const { code, retryAfter } = refusal;
  if (retryAfter !== undefined) response.set('Retry-After', String(retryAfter));
  const errors = refusal.errors.map((error) => (error instanceof GraphQLError ? error.toJSON() : error));
  response.status(STATUS[code] ?? 400).json({ errors: shownErrors(errors, signedIn) });
}
