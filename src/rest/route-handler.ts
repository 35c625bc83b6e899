/**
 * Handles a REST request: runs the GraphQL operation of its route and turns the data into a
 * response.
 */
import { type GraphQLSchema, type GraphQLObjectType, isNonNullType } from 'graphql';
import { runOperation, queryReferenceableIds } from './operations';
import { parseCredentials, LOGIN_HINT, LOGIN_TITLE } from './drf/login';
import { lastValueOf, toQueryParameterName } from './drf/query-string';
import {
  type Endpoints,
  type ResourceEndpoint,
  type GraphQLFieldEndpoint,
  type ResultData,
  fragmentName,
} from './endpoints';
import { loginFailedError, throwIfInvalidFields, RestError } from './errors';
import { responseWithETag } from './preconditions';
import type { RestResponse, RestRequest } from './request';
import { API_BASE_PATH, type Route } from './routes';
import { handleDelete, handleWrite } from './mutations';
import { parseFilters, parseOrdering, type ParsedFilters } from './drf/filters';
import { buildListResponse, parsePageWindow } from './drf/pagination';
import type { ReferenceableIds } from './drf/input';
import type { ResponseBodyMetadata } from '../shared/metadata';
import { permitsMethod } from './authorization';
import {
  requestFieldsMetadata,
  endpointMetadata,
  responseFieldsMetadata,
  actionTitle,
  type HttpOptionsMetadata,
} from './drf/metadata';

type ResourceRoute = Extract<Route, { kind: 'list' | 'detail' }>;

/** Responses to OPTIONS requests: metadata about a route in the format of Django REST framework. */
class OptionsHandler {
  private readonly fieldMetadataByEndpoint = new Map<
    ResourceEndpoint,
    { requestFields: HttpOptionsMetadata; responseFields: HttpOptionsMetadata }
  >();

  constructor({ resources }: Endpoints) {
    const selectionByFragmentName = new Map(
      [...resources].map(([name, { selection }]) => [fragmentName(name), selection]),
    );

    for (const endpoint of resources.values()) {
      this.fieldMetadataByEndpoint.set(endpoint, {
        requestFields: requestFieldsMetadata(endpoint),
        responseFields: responseFieldsMetadata(endpoint, selectionByFragmentName),
      });
    }
  }

  async describeRoute(route: Route, request: RestRequest): Promise<HttpOptionsMetadata> {
    if (route.kind === 'root') {
      return endpointMetadata(
        'Api Root',
        'The resources of the API, each with the URL of its list.',
      );
    }

    if (route.kind === 'login') {
      return endpointMetadata(LOGIN_TITLE, 'A token for a user name and a password.');
    }

    if (route.kind === 'standalone') {
      return endpointMetadata(
        route.graphqlFieldEndpoint.metadata.title,
        route.graphqlFieldEndpoint.field.description ?? '',
      );
    }

    if (route.kind === 'action') {
      return endpointMetadata(
        actionTitle(route.graphqlFieldEndpoint.metadata),
        route.graphqlFieldEndpoint.field.description ?? '',
      );
    }

    const { endpoint } = route;
    const { requestFields, responseFields } = this.fieldMetadataByEndpoint.get(endpoint)!;
    const method = await this.permittedWriteMethod(route, request);

    return endpointMetadata(
      `${endpoint.view.title} ${route.kind === 'list' ? 'List' : 'Instance'}`,
      endpoint.view.description,
      method && { [method]: requestFields },
      responseFields,
    );
  }

  private async permittedWriteMethod(
    route: ResourceRoute,
    request: RestRequest,
  ): Promise<'POST' | 'PUT' | undefined> {
    const { create, update, resource } = route.endpoint;

    if (
      !request.isSignedIn ||
      (resource.scopeGroup &&
        request.context.authentication.missingScopeError(resource.scopeGroup, 'write'))
    ) {
      return undefined;
    }

    if (route.kind === 'list') return create && permitsMethod(route, 'POST') ? 'POST' : undefined;
    if (!update || !permitsMethod(route, 'PUT')) return undefined;

    if ((await queryReferenceableIds(route.endpoint, request, { self: [route.id] })).self!.length) {
      return 'PUT';
    }

    return undefined;
  }
}

/**
 * Responds with the value of one GraphQL field: an action of a row, or a standalone endpoint such
 * as a search. Query parameters become arguments.
 */
async function handleGraphQLFieldEndpoint(
  { metadata, field, operation }: GraphQLFieldEndpoint<ResponseBodyMetadata>,
  request: RestRequest,
  rowId?: string,
): Promise<RestResponse> {
  const requiredArguments = field.args.filter(({ type }) => isNonNullType(type));
  const argumentValues = Object.fromEntries(
    field.args.map(({ name }) => [name, lastValueOf(request.query, toQueryParameterName(name))]),
  );

  if (
    metadata.bodyWhenArgumentMissing !== undefined &&
    requiredArguments.some(({ name }) => !argumentValues[name])
  ) {
    return { status: 200, body: metadata.bodyWhenArgumentMissing };
  }

  // Missing required arguments are passed as empty strings, so that the error for an unknown row
  // (404) precedes the error for the argument (400).
  for (const { name } of requiredArguments) argumentValues[name] ??= '';

  try {
    const data = await runOperation(
      operation,
      request,
      rowId === undefined ? argumentValues : { self: rowId, ...argumentValues },
    );

    return {
      status: 200,
      body: responseBody(metadata, rowId === undefined ? data.result : data.row.action),
    };
  } catch (error) {
    if (
      !metadata.bodyWhenArgumentsInvalid ||
      !(error instanceof RestError) ||
      error.status !== 400
    ) {
      throw error;
    }

    return { status: 200, body: { ...metadata.bodyWhenArgumentsInvalid, errors: error.body } };
  }
}

function responseBody(
  { wrapperKey, keyValueListKeys = [] }: ResponseBodyMetadata,
  value: ResultData,
): unknown {
  const body = keyValueListKeys.length ? { ...value } : value;

  for (const name of keyValueListKeys) {
    body[name] = Object.fromEntries(
      body[name].map((entry: { key: string; value: unknown }) => [entry.key, entry.value]),
    );
  }

  if (wrapperKey === undefined) return body;

  return body === null ? {} : { [wrapperKey]: body };
}

/**
 * Responds to GET of a list. Query parameters become the variables of one GraphQL operation, which
 * returns the rows of the requested page.
 */
async function handleList(
  endpoint: ResourceEndpoint,
  request: RestRequest,
  schema: GraphQLSchema,
): Promise<RestResponse> {
  const { view, fields } = endpoint;
  const { query, context, path } = request;
  const window = parsePageWindow(query, request.maxLimit);
  const { where, parametersToCheck } = parseFilters(
    view.filters,
    fields,
    query,
    context.request.languages,
    request.searchConditions,
  );

  // Filters by several ids are validated before the query: an unknown id does not make the result
  // empty if another id matches rows.
  if (
    parametersToCheck.some(
      ({ error, referencedIds }) => error !== undefined || referencedIds?.isList,
    )
  ) {
    await rejectInvalidFilters(parametersToCheck, endpoint, request);
  }

  const findResource = (typeName: string) =>
    (schema.getType(typeName) as GraphQLObjectType | undefined)?.extensions.resource;
  const variables = {
    where,
    orderBy: parseOrdering(fields, query, findResource),
    first: window.limit,
    offset: window.offset,
  };
  const data = await runOperation(endpoint.list, request, variables);

  // A filter by a single unknown id always gives an empty result, so its existence is checked only
  // if the result is empty.
  if (data.page.totalCount === 0) await rejectInvalidFilters(parametersToCheck, endpoint, request);

  return {
    status: 200,
    body: buildListResponse(
      context.request.baseUrl + path,
      query,
      window,
      data.page.totalCount,
      data.page.nodes,
    ),
  };
}

async function rejectInvalidFilters(
  parameters: ParsedFilters['parametersToCheck'],
  endpoint: ResourceEndpoint,
  request: RestRequest,
): Promise<void> {
  const referencedIdEntries = parameters.flatMap(({ referencedIds }) =>
    referencedIds ? [[referencedIds.fieldName, referencedIds.ids] as const] : [],
  );
  let referenceableIds: ReferenceableIds = {};

  if (referencedIdEntries.length) {
    const ids = Object.fromEntries(referencedIdEntries);

    referenceableIds = await queryReferenceableIds(endpoint, request, ids);
  }

  const errors = parameters.map(
    ({ key, error, referencedIds }) =>
      [
        key,
        error ?? referencedIds?.unknownIdMessage(referenceableIds[referencedIds.fieldName]!),
      ] as const,
  );

  throwIfInvalidFields(
    Object.fromEntries(
      errors.flatMap(([key, error]) => (error === undefined ? [] : [[key, [error]]])),
    ),
  );
}

export function createRouteHandler(schema: GraphQLSchema, endpoints: Endpoints) {
  const optionsHandler = new OptionsHandler(endpoints);

  return async (route: Route, request: RestRequest): Promise<RestResponse> => {
    const { method } = request;

    if (method === 'OPTIONS') {
      return { status: 200, body: await optionsHandler.describeRoute(route, request) };
    }

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
        if (method === 'POST') return handleWrite(route.endpoint, request);

        return handleList(route.endpoint, request, schema);
      case 'detail':
        if (method === 'PUT' || method === 'PATCH') {
          return handleWrite(route.endpoint, request, route.id);
        }

        if (method === 'DELETE') return handleDelete(route.endpoint, request, route.id);

        return handleDetail(route.endpoint, request, route.id);
    }
  };
}

async function handleDetail(
  endpoint: ResourceEndpoint,
  request: RestRequest,
  id: string,
): Promise<RestResponse> {
  const { row } = await runOperation(endpoint.detail, request, { id });

  return responseWithETag(endpoint, 200, row);
}

function apiRootBody(
  { apiRootResourceNames }: Endpoints,
  { context, query }: RestRequest,
  formatSuffix: string | undefined,
): Record<string, string> {
  const format = lastValueOf(query, 'format');
  const pathEnd = formatSuffix ? `.${formatSuffix}` : '/';
  const urlSuffix =
    format === undefined ? pathEnd : `${pathEnd}?format=${encodeURIComponent(format)}`;

  return Object.fromEntries(
    apiRootResourceNames.map((name) => [
      name,
      `${context.request.baseUrl}${API_BASE_PATH}/${name}${urlSuffix}`,
    ]),
  );
}

async function signIn(
  schema: GraphQLSchema,
  { login }: Endpoints,
  request: RestRequest,
): Promise<unknown> {
  const { argumentValidators } = schema.getMutationType()!.getFields().login!.extensions;
  const credentials = parseCredentials(await request.readBody(), argumentValidators);
  const data = await runOperation(login, request, credentials);
  const { token, errors } = data.login;

  if (errors.length) throw loginFailedError(errors[0].message);

  return { token };
}
