/**
 * Errors that occur before the first byte of an export is sent. They are sent as JSON with GraphQL
 * errors and a matching HTTP status.
 */
import type { Response } from 'express';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { HTTP_STATUS_BY_ERROR_CODE, type ErrorCode } from '../../shared/error-codes';
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

/** Creates an export error, for the field or parameter `fieldName` if it is given. */
export const createExportError = (
  message: string,
  fieldName?: string,
  code: ErrorCode = 'BAD_USER_INPUT',
): ExportError =>
  new ExportError([
    new GraphQLError(message, {
      extensions: { code, ...(fieldName !== undefined && { field: fieldName }) },
    }),
  ]);

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
