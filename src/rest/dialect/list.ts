/** Handles GET of a list. Query parameters become the variables of one GraphQL operation, which returns the rows of the requested page. */
import type { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { queryReferenceableIds, runOperation } from '../operations';
import type { ResourceEndpoint } from '../endpoints';
import { throwIfInvalid } from '../errors';
import type { RestResponse, RestRequest } from '../request';
import { parseFilters, parseOrdering, type ParsedFilters } from './filters';
import { buildListResponse, parsePageWindow } from './pagination';

export async function handleList(
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
    context.requestInfo.languages,
  );
  // Filters by several ids are validated before the query: an unknown id does not make the result empty if another id matches rows.
  if (
    parametersToCheck.some(
      ({ error, referencedIds }) => error !== undefined || referencedIds?.isList,
    )
  )
    await rejectInvalidFilters(parametersToCheck, endpoint, request);
  const findResource = (typeName: string) =>
    (schema.getType(typeName) as GraphQLObjectType | undefined)?.extensions.resource;
  const variables = {
    where,
    orderBy: parseOrdering(fields, query, findResource),
    first: window.limit,
    offset: window.offset,
  };
  const data = await runOperation(endpoint.list, request, variables);
  // A filter by a single unknown id always gives an empty result, so its existence is checked only if the result is empty.
  if (data.page.totalCount === 0) await rejectInvalidFilters(parametersToCheck, endpoint, request);
  return {
    status: 200,
    body: buildListResponse(
      context.requestInfo.baseUrl + path,
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
  const referenceableIds = referencedIdEntries.length
    ? await queryReferenceableIds(endpoint, request, Object.fromEntries(referencedIdEntries))
    : {};
  const errors = parameters.map(
    ({ key, error, referencedIds }) =>
      [
        key,
        error ?? referencedIds?.unknownIdMessage(referenceableIds[referencedIds.fieldName]!),
      ] as const,
  );
  throwIfInvalid(
    Object.fromEntries(
      errors.flatMap(([key, error]) => (error === undefined ? [] : [[key, [error]]])),
    ),
  );
}
