/** Asks operations, and tells what became of them as REST does. */
import type { GraphQLError } from 'graphql';
import type { Data, Endpoint, Operation } from './endpoints';
import { ofGraphQL } from './errors';
import type { Known } from './dialect/input';
import type { Request } from './request';

/** The data of an operation, or its first error as REST says it. */
export async function run(operation: Operation, request: Request, variables: Record<string, unknown>): Promise<Data> {
  request.ran = { operation, variables };
  const { data, errors } = await operation(request.exchange.context, variables);
  if (errors?.length) throw ofGraphQL(errors[0] as GraphQLError);
  return data;
}

/** Of the ids that are given, by relation and as `self`, those that the sender may refer to. */
export const lookup = ({ known, relations }: Endpoint, request: Request, ids: Record<string, string[]>): Promise<Known> =>
  run(known, request, { self: [], ...Object.fromEntries(relations.map((field) => [field.name, []])), ...ids });
