/**
 * Dry runs: a request with `extensions: { dryRun: true }` or the header `X-Dry-Run` receives the estimated cost of its operation, which does not run.
 */
import {
  HeaderMap,
  type BaseContext,
  type GraphQLRequestContextResponseForOperation,
} from '@apollo/server';
import type { FormattedExecutionResult } from 'graphql';
import type { Context } from '../core/context';
import type { Executor } from '../core/operation/executor';

/**
 * Whether a request with these `extensions` and this value of the header `X-Dry-Run` is a dry run. Any header value and any extension value except
 * `false` and null count, so that a wrong value executes nothing.
 */
export const isDryRun = (extensions: unknown, header: unknown): boolean =>
  header !== undefined ||
  ((extensions as { dryRun?: unknown } | null | undefined)?.dryRun ?? false) !== false;

/** Returns the response to a dry run, with the estimated cost of its operation. Charges the time of the estimation to the client's budget. */
export function dryRunResponse(
  executor: Executor,
  { document, operation, request }: GraphQLRequestContextResponseForOperation<BaseContext>,
  context: Context,
) {
  const startedAt = performance.now();
  const { errors, ...result } = executor.dryRun(
    document,
    operation,
    context,
    request.variables ?? {},
  );
  context.budget?.chargeMilliseconds(performance.now() - startedAt);
  const singleResult: FormattedExecutionResult = errors
    ? { errors: errors.map((error) => error.toJSON()) }
    : result;
  const headers = new HeaderMap(
    errors ? [] : [['x-estimated-cost', String(result.extensions!.cost)]],
  );
  return {
    http: { status: errors ? 400 : 200, headers },
    body: { kind: 'single' as const, singleResult },
  };
}
