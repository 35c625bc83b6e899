/**
 * Translates the errors of a result into errors that clients may see. Unexpected errors are logged,
 * and clients see only the request id.
 */
import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Context } from '../context';
import {
  ClientError,
  convertAndLimitErrors,
  toClientError,
  TOO_MANY_ERRORS_OPTIONS,
} from '../declare/errors';

/**
 * Translates the errors of a result, limits their number, and reports their codes to the metrics.
 */
export function toClientResult(result: ExecutionResult, context: Context): ExecutionResult {
  if (!result.errors?.length) return result;
  // Several fields of a response can fail with the same error, which is translated and logged once.
  const clientErrorByCause = new Map<unknown, ClientError | undefined>();
  const errors = convertAndLimitErrors(
    result.errors,
    (error) => toClientVisibleError(error, context, clientErrorByCause),
    (message) => new GraphQLError(message, TOO_MANY_ERRORS_OPTIONS),
  );

  if (context.request.countErrorCode) {
    for (const { extensions } of errors) context.request.countErrorCode(String(extensions.code));
  }

  return { ...result, errors };
}

/**
 * Translates one error. The details of an unexpected error are only logged, together with the
 * request id.
 */
function toClientVisibleError(
  error: GraphQLError,
  { services: { log }, request: { id } }: Context,
  clientErrorByCause: Map<unknown, ClientError | undefined>,
): GraphQLError {
  const { originalError, path, locations } = error;
  const createError = (message: string, extensions: Record<string, unknown>) =>
    new GraphQLError(message, {
      path,
      nodes: error.nodes,
      extensions,
      ...(locations && { positions: error.positions, source: error.source }),
    });
  const cause = originalError ?? error;

  if (cause instanceof ClientError) return createError(cause.message, { ...cause.extensions });

  // Two kinds of errors mean invalid input. An error without a path concerns a variable, because it
  // occurred before execution. An error caused by a GraphQLError with AST nodes concerns an
  // argument.
  if (!path || (cause instanceof GraphQLError && cause.nodes?.length && originalError)) {
    return createError(error.message, { code: 'BAD_USER_INPUT', ...error.extensions });
  }

  if (!clientErrorByCause.has(cause)) clientErrorByCause.set(cause, toClientError(cause, log, id));
  const clientError = clientErrorByCause.get(cause);

  if (clientError) return createError(clientError.message, { ...clientError.extensions });
  // Despite its type, `extensions` is absent from errors that are not GraphQLErrors.
  const ownExtensions = error.extensions as GraphQLError['extensions'] | undefined;

  if (ownExtensions?.code) return createError(error.message, { ...ownExtensions });
  log.error({ id, err: cause, path }, 'unexpected error');
  return createError(`Internal server error (id ${id}).`, { code: 'INTERNAL_SERVER_ERROR', id });
}
