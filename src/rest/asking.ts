/** Runs prepared GraphQL operations for REST requests and converts GraphQL errors to REST errors. */
import type { GraphQLError } from 'graphql';
import type { Data, Endpoint, Operation } from './endpoints';
import { ofGraphQL } from './errors';
import type { Known } from './dialect/input';
import type { Request } from './request';

/** Returns the data of an operation. Throws its first error as a `RestError`. */
export async function run(operation: Operation, request: Request, variables: Record<string, unknown>): Promise<Data> {
  request.ran = { operation, variables };
  const { data, errors } = await operation(request.exchange.context, variables);
  if (errors?.length) throw ofGraphQL(errors[0] as GraphQLError);
  return data;
}

/** Returns the subset of `ids` that exist and that the client may refer to. Keys are relation names, and `self` for the endpoint's own rows. */
export const lookup = ({ known, relations }: Endpoint, request: Request, ids: Record<string, string[]>): Promise<Known> =>
  run(known, request, { self: [], ...Object.fromEntries(relations.map((field) => [field.name, []])), ...ids });
