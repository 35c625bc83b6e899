/** Translates the errors of a result into errors that clients may see. Unexpected errors are logged, and clients see only the request id. */
import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Context } from '../context';
import {
  ClientError,
  convertAndLimitErrors,
  toClientError,
  TOO_MANY_ERRORS_OPTIONS,
} from '../model/errors';

/** Replaces the errors of a result by errors that clients may see, limits their number, and reports their codes to the metrics. */
export function toClientResult(result: ExecutionResult, context: Context): ExecutionResult {
  if (!result.errors?.length) return result;
  // The same error can belong to several fields of a response. It is translated and logged once.
  const clientErrorByCause = new Map<unknown, ClientError | undefined>();
  const errors = convertAndLimitErrors(
    result.errors,
    (error) => toClientVisibleError(error, context, clientErrorByCause),
    (message) => new GraphQLError(message, TOO_MANY_ERRORS_OPTIONS),
  );
  if (context.request.countErrorCode)
    for (const { extensions } of errors) context.request.countErrorCode(String(extensions.code));
  return { ...result, errors };
}

/** Converts an error to one that clients may see. An unexpected error is logged in full; clients only see the request id. */
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
  // Two kinds of errors mean invalid input: an error without a path concerns a variable, because it occurred before execution; an error whose cause is a
  // GraphQLError with AST nodes concerns an argument.
  if (!path || (cause instanceof GraphQLError && cause.nodes?.length && originalError))
    return createError(error.message, { code: 'BAD_USER_INPUT', ...error.extensions });
  if (!clientErrorByCause.has(cause)) clientErrorByCause.set(cause, toClientError(cause, log, id));
  const clientError = clientErrorByCause.get(cause);
  if (clientError) return createError(clientError.message, { ...clientError.extensions });
  // `extensions` is undefined if the error is not a GraphQLError, despite its type.
  const ownExtensions = error.extensions as GraphQLError['extensions'] | undefined;
  if (ownExtensions?.code) return createError(error.message, { ...ownExtensions });
  log.error({ id, err: cause, path }, 'unexpected error');
  return createError(`Internal server error (id ${id}).`, { code: 'INTERNAL_SERVER_ERROR', id });
}
