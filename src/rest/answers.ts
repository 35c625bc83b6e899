/** Route handlers: run the GraphQL operations behind a REST route and turn their data into a response. */
import type { GraphQLSchema } from 'graphql';
import { run } from './asking';
import { computed } from './computed';
import { Descriptions } from './dialect/describing';
import { list } from './dialect/list';
import { credentials, HINT } from './dialect/login';
import { lastOf } from './dialect/query';
import type { Endpoints } from './endpoints';
import { loginFailed } from './errors';
import { tagged } from './preconditions';
import type { Answer, Request } from './request';
import { BASE, type Route } from './routes';
import { remove, write } from './writing';

export function answersOf(schema: GraphQLSchema, endpoints: Endpoints, timeZone: string) {
  const descriptions = new Descriptions(endpoints);
  return async (route: Route, request: Request): Promise<Answer> => {
    const { method } = request;
    if (method === 'OPTIONS') return descriptions.describe(route, request);
    switch (route.kind) {
      case 'root':
        return { status: 200, body: apiRoot(endpoints, request, route.suffix) };
      case 'login':
        return { status: 200, body: method === 'GET' ? HINT : await signIn(schema, endpoints, request) };
      case 'free':
        return computed(route.computed, request);
      case 'action':
        return computed(route.computed, request, route.id);
      case 'list':
        return method === 'POST' ? write(route.endpoint, request, timeZone) : list(route.endpoint, request, schema);
      case 'detail':
        if (method === 'PUT' || method === 'PATCH') return write(route.endpoint, request, timeZone, route.id);
        if (method === 'DELETE') return remove(route.endpoint, request, route.id);
        return tagged(route.endpoint, 200, (await run(route.endpoint.detail, request, { id: route.id })).row);
    }
  };
}

function apiRoot({ listed }: Endpoints, { exchange, query }: Request, suffix: string | undefined): Record<string, string> {
  const format = lastOf(query, 'format');
  const urlSuffix = suffix ? `.${suffix}` : `/${format ? `?format=${encodeURIComponent(format)}` : ''}`;
  return Object.fromEntries(listed.map((name) => [name, `${exchange.baseUrl}${BASE}/${name}${urlSuffix}`]));
}

async function signIn(schema: GraphQLSchema, { login }: Endpoints, request: Request): Promise<unknown> {
  const { limits } = schema.getMutationType()!.getFields().login!.extensions;
  const { token, errors } = (await run(login, request, credentials(await request.body(), limits))).login;
  if (errors.length) throw loginFailed(errors[0].message);
  return { token };
}
