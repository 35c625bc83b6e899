/**
 * Runs prepared GraphQL operations for REST requests and converts GraphQL errors to REST errors.
 */
import type { GraphQLError } from 'graphql';
import type { ResultData, ResourceEndpoint, RestOperation } from './endpoints';
import { restErrorFromGraphQL } from './errors';
import type { ReferenceableIds } from './drf/input';
import type { RestRequest } from './request';

/**
 * Runs the operation that answers a request; HTML pages show it. Its first error is thrown as a
 * `RestError`.
 */
export function runOperation(
  operation: RestOperation,
  request: RestRequest,
  variables: Record<string, unknown>,
): Promise<ResultData> {
  request.lastOperation = { operation, variables };
  return readResult(operation, request, variables);
}

async function readResult(
  operation: RestOperation,
  { context }: RestRequest,
  variables: Record<string, unknown>,
): Promise<ResultData> {
  const { data, errors } = await operation(context, variables);

  if (errors?.length) throw restErrorFromGraphQL(errors[0] as GraphQLError);

  return data;
}

/**
 * Filters `ids` by existence and by whether the client may refer to them. Keys are relation names;
 * `self` is for the endpoint's own rows.
 */
export const queryReferenceableIds = (
  { referenceableIdsQuery, relations }: ResourceEndpoint,
  request: RestRequest,
  ids: Record<string, string[]>,
): Promise<ReferenceableIds> =>
  readResult(referenceableIdsQuery, request, {
    self: [],
    ...Object.fromEntries(relations.map((field) => [field.name, []])),
    ...ids,
  });
