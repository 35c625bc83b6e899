/**
 * Runs prepared GraphQL operations for REST requests and converts GraphQL errors to REST errors.
 */
import type { GraphQLError } from 'graphql';
import type { ResultData, ResourceEndpoint, RestOperation } from './endpoints';
import { restErrorFromGraphQL } from './errors';
import type { ReferenceableIds } from './drf/input';
import type { RestRequest } from './request';

/** Runs an operation. Its first error is thrown as a `RestError`. */
export async function runOperation(
  operation: RestOperation,
  request: RestRequest,
  variables: Record<string, unknown>,
): Promise<ResultData> {
  request.lastOperation = { operation, variables };
  const { data, errors } = await operation(request.context, variables);

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
  runOperation(referenceableIdsQuery, request, {
    self: [],
    ...Object.fromEntries(relations.map((field) => [field.name, []])),
    ...ids,
  });
