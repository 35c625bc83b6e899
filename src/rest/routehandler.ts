/** Route handlers: run the GraphQL operations behind a REST route and turn their data into a response. */
import type { GraphQLSchema } from 'graphql';
import { runOperation } from './operations';
import { handleGraphQLFieldEndpoint } from './graphqlfieldendpoint';
import { OptionsHandler } from './dialect/optionshandler';
import { handleList } from './dialect/list';
import { parseCredentials, LOGIN_HINT } from './dialect/login';
import { lastValueOf } from './dialect/querystring';
import type { Endpoints } from './endpoints';
import { loginFailedError } from './errors';
import { responseWithETag } from './preconditions';
import type { RestResponse, RestRequest } from './request';
import { API_BASE_PATH, type Route } from './routes';
import { handleDelete, handleWrite } from './mutations';

export function createRouteHandler(schema: GraphQLSchema, endpoints: Endpoints, timeZone: string) {
  const optionsHandler = new OptionsHandler(endpoints);
  return async (route: Route, request: RestRequest): Promise<RestResponse> => {
    const { method } = request;
    if (method === 'OPTIONS')
      return { status: 200, body: await optionsHandler.describeRoute(route, request) };
    switch (route.kind) {
      case 'root':
        return { status: 200, body: apiRootBody(endpoints, request, route.formatSuffix) };
      case 'login':
        return {
          status: 200,
          body: method === 'GET' ? LOGIN_HINT : await signIn(schema, endpoints, request),
        };
      case 'standalone':
        return handleGraphQLFieldEndpoint(route.graphqlFieldEndpoint, request);
      case 'action':
        return handleGraphQLFieldEndpoint(route.graphqlFieldEndpoint, request, route.id);
      case 'list':
        return method === 'POST'
          ? handleWrite(route.endpoint, request, timeZone)
          : handleList(route.endpoint, request, schema);
      case 'detail':
        if (method === 'PUT' || method === 'PATCH')
          return handleWrite(route.endpoint, request, timeZone, route.id);
        if (method === 'DELETE') return handleDelete(route.endpoint, request, route.id);
        return responseWithETag(
          route.endpoint,
          200,
          (await runOperation(route.endpoint.detail, request, { id: route.id })).row,
        );
    }
  };
}

function apiRootBody(
  { apiRootResourceNames }: Endpoints,
  { context, query }: RestRequest,
  formatSuffix: string | undefined,
): Record<string, string> {
  const format = lastValueOf(query, 'format');
  const urlSuffix =
    (formatSuffix ? `.${formatSuffix}` : '/') +
    (format === undefined ? '' : `?format=${encodeURIComponent(format)}`);
  return Object.fromEntries(
    apiRootResourceNames.map((name) => [
      name,
      `${context.requestInfo.baseUrl}${API_BASE_PATH}/${name}${urlSuffix}`,
    ]),
  );
}

async function signIn(
  schema: GraphQLSchema,
  { login }: Endpoints,
  request: RestRequest,
): Promise<unknown> {
  const { argumentValidators } = schema.getMutationType()!.getFields().login!.extensions;
  const { token, errors } = (
    await runOperation(
      login,
      request,
      parseCredentials(await request.readBody(), argumentValidators),
    )
  ).login;
  if (errors.length) throw loginFailedError(errors[0].message);
  return { token };
}
