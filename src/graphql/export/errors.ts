/**
 * Errors that occur before the first byte of an export is sent. They are sent as JSON with GraphQL
 * errors and a matching HTTP status.
 */
import type { Response } from 'express';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { HTTP_STATUS_BY_ERROR_CODE } from '../../shared/error-codes';
import { limitFormattedErrors } from '../error-limits';

export class ExportError extends Error {
  constructor(readonly errors: readonly GraphQLFormattedError[]) {
    super(errors[0]?.message);
  }

  get code(): string {
    return String(this.errors[0]?.extensions?.code);
  }

  get retryAfter(): number | undefined {
    const retryDelays = this.errors.map(({ extensions }) => extensions?.retryAfter);

    return retryDelays.find((retryAfter) => retryAfter !== undefined) as number | undefined;
  }
}

export function sendExportError(
  response: Response,
  clientError: ExportError,
  keepSuggestions: boolean,
): void {
  const { code, retryAfter } = clientError;

  if (retryAfter !== undefined) response.set('Retry-After', String(retryAfter));
  const errors = clientError.errors.map((error) =>
    error instanceof GraphQLError ? error.toJSON() : error,
  );

  response
    .status(HTTP_STATUS_BY_ERROR_CODE[code] ?? 400)
    .json({ errors: limitFormattedErrors(errors, keepSuggestions) });
}
