/** A list: its parameters become the variables of one operation, its rows a page of them. */
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
  const { where, given } = filtersOf(view.filters, fields, query, exchange.languages);
  // Of several ids one may name a row and another none.
  if (given.some(({ error, named }) => error !== undefined || named?.several)) await refuseWrong(given, endpoint, request);
  const resource = (type: string) => (schema.getType(type) as GraphQLObjectType | undefined)?.extensions.resource;
  const variables = { where, orderBy: orderByOf(fields, query, resource), first: window.limit, offset: window.offset };
  const data = await run(endpoint.list, request, variables);
  // Where something names a row, there is that row.
  if (data.page.totalCount === 0) await refuseWrong(given, endpoint, request);
  return { status: 200, body: page(exchange.baseUrl + path, query, window, data.page.totalCount, data.page.nodes) };
}

/** Throws what is wrong with the filters, of all parameters together. */
async function refuseWrong(given: Filtered['given'], endpoint: Endpoint, request: Request): Promise<void> {
  const ids = given.flatMap(({ named }) => (named ? [[named.field, named.ids] as const] : []));
  const known = ids.length ? await lookup(endpoint, request, Object.fromEntries(ids)) : {};
  const errors = given.map(({ key, error, named }) => [key, error ?? named?.unknown(known[named.field]!)] as const);
  refuse(Object.fromEntries(errors.flatMap(([key, error]) => (error === undefined ? [] : [[key, [error]]]))));
}
