/** Runs prepared GraphQL operations for REST requests and converts GraphQL errors to REST errors. */
import type { GraphQLError } from 'graphql';
import type { ResultData, ResourceEndpoint, RestOperation } from './endpoints';
import { restErrorFromGraphQL } from './errors';
import type { ReferenceableIds } from './dialect/input';
import type { RestRequest } from './request';

/** Returns the data of an operation. Throws its first error as a `RestError`. */
export async function runOperation(
  operation: RestOperation,
  request: RestRequest,
  variables: Record<string, unknown>,
): Promise<ResultData> {
  request.lastOperation = { operation, variables };
  const { data, errors } = await operation(request.context.resolverContext, variables);
  if (errors?.length) throw restErrorFromGraphQL(errors[0] as GraphQLError);
  return data;
}

/** Returns the row ids among `ids` that exist and to which the client may refer. Keys are relation names; `self` is for the endpoint's own rows. */
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
