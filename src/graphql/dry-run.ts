/**
 * Dry runs: with `extensions: { dryRun: true }` or the header `X-Dry-Run`, the response contains
 * the estimated cost of the operation, which is not executed.
 */
import {
  HeaderMap,
  type BaseContext,
  type GraphQLRequestContextResponseForOperation,
} from '@apollo/server';
import type { FormattedExecutionResult } from 'graphql';
import type { Context } from '../engine/context';
import type { Executor } from '../engine/execution/executor';

/**
 * Whether a request is a dry run. Any header value and any extension value except `false` and null
 * count, so that a wrong value executes nothing.
 */
export const isDryRun = (extensions: unknown, header: unknown): boolean =>
  header !== undefined ||
  ((extensions as { dryRun?: unknown } | null | undefined)?.dryRun ?? false) !== false;

/**
 * Builds the response to a dry run. The time of the estimation is charged to the client's budget.
 */
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
  const headers = new HeaderMap();
  let singleResult: FormattedExecutionResult = result;

  if (errors) singleResult = { errors: errors.map((error) => error.toJSON()) };
  else headers.set('x-estimated-cost', String(result.extensions!.cost));

  return {
    http: { status: errors ? 400 : 200, headers },
    body: { kind: 'single' as const, singleResult },
  };
}
