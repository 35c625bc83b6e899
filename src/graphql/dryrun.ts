/** Dry runs: a request with `extensions: { dryRun: true }` receives the estimated cost of its operation, which is not executed. */
import { HeaderMap, type BaseContext, type GraphQLRequest, type GraphQLRequestContextResponseForOperation } from '@apollo/server';
import type { FormattedExecutionResult } from 'graphql';
import type { Context } from '../core/context';
import type { Executor } from '../core/operation/executor';

/** Any other value than `false` counts, so that no mistake executes an operation. */
export const isDryRun = ({ extensions }: Pick<GraphQLRequest, 'extensions'>): boolean => (extensions?.dryRun ?? false) !== false;

/** Estimates the cost and charges the time that this takes. */
export function dryRunResponse(
  executor: Executor,
  { document, operation, request }: GraphQLRequestContextResponseForOperation<BaseContext>,
  context: Context,
) {
  const startedAt = performance.now();
  const { errors, ...result } = executor.dryRun(document, operation, context, request.variables ?? {});
  context.budget?.chargeMilliseconds(performance.now() - startedAt);
  const singleResult: FormattedExecutionResult = errors ? { errors: errors.map((error) => error.toJSON()) } : result;
  return { http: { status: errors ? 400 : 200, headers: new HeaderMap() }, body: { kind: 'single' as const, singleResult } };
}
