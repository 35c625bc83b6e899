/** Errors that occur before the first byte of an export is sent. The response has a matching HTTP status and GraphQL errors in a JSON body. */
import type { Response } from 'express';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { HTTP_STATUS_BY_ERROR_CODE, type ErrorCode } from '../../contract/errorcodes';
import { limitFormattedErrors } from '../errorlimits';

export class ExportError extends Error {
  constructor(readonly errors: readonly GraphQLFormattedError[]) {
    super(errors[0]?.message);
  }

  get code(): string {
    return String(this.errors[0]?.extensions?.code);
  }

  get retryAfter(): number | undefined {
    return this.errors.find(({ extensions }) => extensions?.retryAfter !== undefined)?.extensions!
      .retryAfter as number | undefined;
  }
}

/** Creates an export error. `fieldName` is the name of the field or parameter that caused the error. */
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
