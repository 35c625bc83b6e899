/**
 * Derives the REST endpoints from the GraphQL schema: their paths and the GraphQL operations behind
 * them. Runs once at startup.
 */
import {
  getNamedType,
  isLeafType,
  isObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import type { ExecutionResult, GraphQLField, GraphQLOutputType } from 'graphql';
import type {
  ActionMetadata,
  ResponseBodyMetadata,
  EndpointMetadata,
  FieldMetadata,
  ResourceMetadata,
  RestViewMetadata,
} from '../shared/metadata';
import { toSnakeCase } from '../shared/casing';
import { LOGIN_MUTATION } from './drf/login';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the shape depends on the selection of the operation
export type ResultData = any;

/** Runs a prepared GraphQL operation. `context` is passed on to the resolvers. */
export type RunOperation = (
  context: object,
  variables?: Record<string, unknown>,
) => Promise<ExecutionResult<ResultData>>;
export type PrepareOperation<Prepared = RunOperation> = (document: string) => Prepared;

/** An executable operation together with its GraphQL source (shown on HTML pages). */
export type RestOperation = RunOperation & { readonly document: string };

/**
 * A GraphQL field with its own REST path: an action of a row, or a standalone endpoint such as a
 * search.
 */
export interface GraphQLFieldEndpoint<Metadata extends ResponseBodyMetadata> {
  metadata: Metadata;
  field: GraphQLField<unknown, unknown>;
  operation: RestOperation;
}

/**
 * A REST resource: the rows of a GraphQL type in one representation (view). A type can have several
 * views.
 */
export interface ResourceEndpoint {
  view: RestViewMetadata;
  resource: ResourceMetadata;
  type: GraphQLObjectType;
  fields: readonly FieldMetadata[];
  selection: string;
  list: RestOperation;
  detail: RestOperation;
  create?: RestOperation;
  update?: RestOperation;
  remove?: RestOperation;

  /**
   * Reads a row's version, for resources with optimistic locking. Their `update` and `remove` take
   * `ifVersion`, and responses with a single row include its version.
   */
  versionQuery?: RestOperation;

  /**
   * Finds which of the given row ids exist and may be used by the client, by relation name. The key
   * `self` is for ids of the endpoint's own rows.
   */
  referenceableIdsQuery: RestOperation;
  relations: readonly FieldMetadata[];
  actions: ReadonlyMap<string, GraphQLFieldEndpoint<ActionMetadata>>;
}

export interface Endpoints {
  resources: ReadonlyMap<string, ResourceEndpoint>;

  /** Endpoints without a row, such as searches, by path. */
  standaloneEndpoints: ReadonlyMap<string, GraphQLFieldEndpoint<EndpointMetadata>>;
  login: RestOperation;

  /** Resource names in the order of the API root. */
  apiRootResourceNames: readonly string[];
}

export const fieldMetadataOf = (type: GraphQLObjectType): FieldMetadata[] =>
  Object.values(type.getFields()).flatMap(({ extensions }) => extensions.field ?? []);

/**
 * GraphQL selection of the fields that REST shows for a type. Aliases give fields their REST names;
 * relations are represented by ids.
 */
export function restSelection(type: GraphQLObjectType): string {
  const visibleFields = Object.values(type.getFields()).filter(({ extensions }) => {
    if (type.extensions.resource) return extensions.field && !extensions.field.hiddenInRest;

    return !extensions.action;
  });

  return visibleFields
    .map(({ name, type: fieldType, extensions }) => {
      const key = extensions.field?.restKey ?? toSnakeCase(name);

      return `${key === name ? key : `${key}: ${name}`}${fieldSelection(fieldType)}`;
    })
    .join(' ');
}

/** Selection set of a field of this type; empty for scalars and enums. */
export function fieldSelection(type: GraphQLOutputType, selection?: string): string {
  const namedType = getNamedType(type);

  if (isLeafType(namedType)) return '';

  return ` { ${selection ?? restSelection(namedType as GraphQLObjectType)} }`;
}

/**
 * Name of the GraphQL fragment with the fields of an endpoint. Other endpoints spread it to nest
 * such rows (`...exercisecategory`).
 */
export const fragmentName = (restName: string) => restName.replaceAll('-', '_');

/**
 * Appends the definitions of all fragments that a document uses, directly or through other
 * fragments.
 */
function withFragments(document: string, fragments: ReadonlyMap<string, string>): string {
  const documentParts = new Set([document]);

  for (const definition of documentParts) {
    for (const [, name] of definition.matchAll(/\.\.\.(\w+)/g)) {
      documentParts.add(fragments.get(name!)!);
    }
  }

  return [...documentParts].join('\n');
}

export function deriveEndpoints(
  schema: GraphQLSchema,
  prepareOperation: PrepareOperation,
): Endpoints {
  const resourceViews = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      (type.extensions.resource?.views ?? []).map((view) => ({
        type,
        view,
        selection: view.graphqlSelection ?? restSelection(type),
      })),
    );
  const fragments = new Map(
    resourceViews.map(({ type, view, selection }) => {
      const name = fragmentName(view.restName);

      return [name, `fragment ${name} on ${type.name} { ${selection} }`];
    }),
  );

  const prepareRestOperation: PrepareOperation<RestOperation> = (operationText) => {
    const document = withFragments(operationText, fragments);

    return Object.assign(prepareOperation(document), { document });
  };

  const standaloneEndpointEntries = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap(
    (field) => {
      const metadata = field.extensions.endpoint;
      const endpoint =
        metadata && prepareGraphQLFieldEndpoint(metadata, field, prepareRestOperation);

      return endpoint?.metadata.paths.map((path) => [path, endpoint] as const) ?? [];
    },
  );
  const apiRootViews = resourceViews
    .map(({ view: { restName, inReference } }) => ({
      restName,
      position: inReference ? inReference.apiRootPosition : Infinity,
    }))
    .filter(({ position }) => position !== undefined)
    .sort((a, b) => a.position! - b.position! || (a.restName < b.restName ? -1 : 1));

  return {
    resources: new Map(
      resourceViews.map((resourceView) => [
        resourceView.view.restName,
        buildResourceEndpoint(resourceView, prepareRestOperation),
      ]),
    ),
    standaloneEndpoints: new Map(standaloneEndpointEntries),
    login: prepareRestOperation(LOGIN_MUTATION),
    apiRootResourceNames: apiRootViews.map(({ restName }) => restName),
  };
}

function buildResourceEndpoint(
  { type, view, selection }: Pick<ResourceEndpoint, 'type' | 'view' | 'selection'>,
  prepareRestOperation: PrepareOperation<RestOperation>,
): ResourceEndpoint {
  const { name } = type;
  const resource = type.extensions.resource!;
  const { rowQueryName, listQueryName } = resource;
  // If a GraphQL type has several REST views, only the first view supports writes.
  const {
    createMutationName,
    updateMutationName,
    deleteMutationName,
    versionFieldName,
  }: Partial<ResourceMetadata> = view === resource.views[0] ? resource : {};
  const fields = fieldMetadataOf(type);
  const relations = fields.filter(({ relation }) => relation);
  const referenceTargets = [
    { key: 'self', type: name },
    ...relations.map((field) => ({ key: field.name, type: field.relation!.typeName })),
  ];
  const versionVariable = versionFieldName ? ', $ifVersion: String' : '';
  const versionArgument = versionFieldName ? ', ifVersion: $ifVersion' : '';
  // The row version is the last field of the selection. It is sent in the ETag header and removed
  // from the response body.
  const rowSelection = `{ ${selection} ${versionFieldName ?? ''} }`;
  const payloadSelection = `{ row: ${rowQueryName} ${rowSelection} errors { path message } }`;

  const targetVariables = referenceTargets.map(({ key }) => `$${key}: [ID!]!`);
  const targetQueries = referenceTargets.map(
    ({ key, type: targetTypeName }) =>
      `${key}: referenceableIds(type: "${targetTypeName}", ids: $${key})`,
  );

  return {
    view,
    resource,
    type,
    fields,
    selection,
    relations,
    list: prepareRestOperation(
      `query ($where: ${name}Where, $orderBy: [${name}Order!], $first: Int, $offset: Int) { page: ${listQueryName}(where: $where, orderBy: $orderBy, first: $first, offset: $offset) { totalCount nodes { ${selection} } } }`,
    ),
    detail: prepareRestOperation(
      `query ($id: ID!) { row: ${rowQueryName}(id: $id) ${rowSelection} }`,
    ),
    ...(versionFieldName && {
      versionQuery: prepareRestOperation(
        `query ($id: ID!) { row: ${rowQueryName}(id: $id) { ${versionFieldName} } }`,
      ),
    }),
    ...(createMutationName && {
      create: prepareRestOperation(
        `mutation ($input: ${name}Input!) { answer: ${createMutationName}(input: $input) ${payloadSelection} }`,
      ),
    }),
    ...(updateMutationName && {
      update: prepareRestOperation(
        `mutation ($id: ID!, $input: ${name}Patch!${versionVariable}) { answer: ${updateMutationName}(id: $id, input: $input${versionArgument}) ${payloadSelection} }`,
      ),
    }),
    ...(deleteMutationName && {
      remove: prepareRestOperation(
        `mutation ($id: ID!${versionVariable}) { answer: ${deleteMutationName}(id: $id${versionArgument}) { errors { path } } }`,
      ),
    }),
    referenceableIdsQuery: prepareRestOperation(
      `query ${parenthesize(targetVariables)} { ${targetQueries.join(' ')} }`,
    ),
    actions: new Map(
      Object.values(type.getFields()).flatMap((field) => {
        const metadata = field.extensions.action;

        if (!metadata) return [];
        const endpoint = prepareGraphQLFieldEndpoint(
          metadata,
          field,
          prepareRestOperation,
          rowQueryName,
        );

        return [[metadata.name, endpoint] as const];
      }),
    ),
  };
}

const parenthesize = (items: readonly string[]) => (items.length ? `(${items.join(', ')})` : '');

/**
 * Prepares the query for a field with its own REST path. An action's field belongs to the row that
 * the root field `rowQueryName` returns.
 */
function prepareGraphQLFieldEndpoint<Metadata extends ResponseBodyMetadata>(
  metadata: Metadata,
  field: GraphQLField<unknown, unknown>,
  prepareRestOperation: PrepareOperation<RestOperation>,
  rowQueryName?: string,
): GraphQLFieldEndpoint<Metadata> {
  const { name, args, type } = field;
  const variables = args.map((argument) => `$${argument.name}: ${String(argument.type)}`);
  const argumentValues = args.map((argument) => `${argument.name}: $${argument.name}`);
  const value = `${name}${parenthesize(argumentValues)}${fieldSelection(type, metadata.graphqlSelection)}`;
  let document = `query ${parenthesize(variables)} { result: ${value} }`;

  if (rowQueryName) {
    document = `query ${parenthesize(['$self: ID!', ...variables])} { row: ${rowQueryName}(id: $self) { action: ${value} } }`;
  }

  const operation = prepareRestOperation(document);

  return { metadata, field, operation };
}
