/** List endpoint: query parameters become the variables of one GraphQL operation, and its rows a page of the response. */
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { lookup, run } from '../asking';
import type { Endpoint } from '../endpoints';
import { refuse } from '../errors';
import type { Answer, Request } from '../request';
import { filtersOf, orderByOf, type Filtered } from './filters';
import { page, windowOf } from './pagination';

export async function list(endpoint: Endpoint, request: Request, schema: GraphQLSchema): Promise<Answer> {
  const { view, fields } = endpoint;
  const { query, exchange, path } = request;
  const window = windowOf(query, request.most);
  const { where, parameters } = filtersOf(view.filters, fields, query, exchange.languages);
  // A list of ids is checked beforehand, because one valid id makes the result non-empty although another one is unknown.
  if (parameters.some(({ error, references }) => error !== undefined || references?.isList))
    await rejectInvalidFilters(parameters, endpoint, request);
  const resource = (type: string) => (schema.getType(type) as GraphQLObjectType | undefined)?.extensions.resource;
  const variables = { where, orderBy: orderByOf(fields, query, resource), first: window.limit, offset: window.offset };
  const data = await run(endpoint.list, request, variables);
  // An unknown id in a single-valued filter always gives an empty result, so the existence check is needed only then.
  if (data.page.totalCount === 0) await rejectInvalidFilters(parameters, endpoint, request);
  return { status: 200, body: page(exchange.baseUrl + path, query, window, data.page.totalCount, data.page.nodes) };
}

/** Throws a 400 with the errors of all filter parameters, if there are any. */
async function rejectInvalidFilters(parameters: Filtered['parameters'], endpoint: Endpoint, request: Request): Promise<void> {
  const ids = parameters.flatMap(({ references }) => (references ? [[references.field, references.ids] as const] : []));
  const knownIds = ids.length ? await lookup(endpoint, request, Object.fromEntries(ids)) : {};
  const errors = parameters.map(
    ({ key, error, references }) => [key, error ?? references?.unknownIdError(knownIds[references.field]!)] as const,
  );
  refuse(Object.fromEntries(errors.flatMap(([key, error]) => (error === undefined ? [] : [[key, [error]]]))));
}
