/** Derives the REST endpoints from the GraphQL schema: their paths and the GraphQL operations behind them. Runs once at startup. */
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
} from '../contract/metadata';
import { toSnakeCase } from '../contract/casing';
import { LOGIN_MUTATION as LOGIN } from './dialect/login';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the shape depends on the selection of the operation
export type ResultData = any;

/** Runs a prepared GraphQL operation. `context` is the context of the resolvers, which the REST code only passes on. */
export type RunOperation = (
  context: object,
  variables?: Record<string, unknown>,
) => Promise<ExecutionResult<ResultData>>;
export type PrepareOperation<Prepared = RunOperation> = (document: string) => Prepared;
/** An executable operation together with its GraphQL source (shown on HTML pages). */
export type RestOperation = RunOperation & { readonly document: string };

/** A GraphQL field with its own REST path: an action of a row, or a standalone endpoint, which belongs to no row (such as a search). */
export interface GraphQLFieldEndpoint<Metadata extends ResponseBodyMetadata> {
  metadata: Metadata;
  field: GraphQLField<unknown, unknown>;
  operation: RestOperation;
}

/** A REST resource: the rows of a GraphQL type in one representation (view). A type can have several views, each with a REST name. */
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
   * Reads a row's version. Present only if the resource uses optimistic locking: `update` and `remove` then take `ifVersion`, and responses with a
   * single row include its version.
   */
  versionQuery?: RestOperation;
  /** Operation that returns which of the given row ids exist, by the name of the relation. The key `self` is for ids of rows of the endpoint itself. */
  referenceableIdsQuery: RestOperation;
  relations: readonly FieldMetadata[];
  actions: ReadonlyMap<string, GraphQLFieldEndpoint<ActionMetadata>>;
}

export interface Endpoints {
  resources: ReadonlyMap<string, ResourceEndpoint>;
  /** Endpoints that belong to no row, such as searches, by path. */
  standaloneEndpoints: ReadonlyMap<string, GraphQLFieldEndpoint<EndpointMetadata>>;
  login: RestOperation;
  /** Resource names in the order of the API root. */
  apiRootResourceNames: readonly string[];
}

export const fieldMetadataOf = (type: GraphQLObjectType): FieldMetadata[] =>
  Object.values(type.getFields()).flatMap(({ extensions }) => extensions.field ?? []);

/** Returns the GraphQL selection for the REST representation of a type. Aliases give fields their REST names; relations are represented by ids. */
export function restSelectionOf(type: GraphQLObjectType): string {
  const visibleFields = Object.values(type.getFields()).filter(({ extensions }) =>
    type.extensions.resource
      ? extensions.field && !extensions.field.hiddenInRest
      : !extensions.action,
  );
  return visibleFields
    .map(({ name, type: fieldType, extensions }) => {
      const key = extensions.field?.restKey ?? toSnakeCase(name);
      return `${key === name ? key : `${key}: ${name}`}${nestedSelection(fieldType)}`;
    })
    .join(' ');
}

/** Returns the GraphQL selection set for a field of this type; an empty string for scalars and enums, which have none. */
function nestedSelection(type: GraphQLOutputType, selection?: string): string {
  const namedType = getNamedType(type);
  return isLeafType(namedType)
    ? ''
    : ` { ${selection ?? restSelectionOf(namedType as GraphQLObjectType)} }`;
}

/**
 * Returns the name of the GraphQL fragment that selects the fields of an endpoint. Other endpoints spread it to nest such rows, for example
 * `...exercisecategory`.
 */
export const fragmentName = (restName: string) => restName.replaceAll('-', '_');

/** Appends the definitions of all fragments that the document uses, directly or through other fragments. */
function withFragments(document: string, fragments: ReadonlyMap<string, string>): string {
  const documentParts = new Set([document]);
  for (const definition of documentParts)
    for (const [, name] of definition.matchAll(/\.\.\.(\w+)/g))
      documentParts.add(fragments.get(name!)!);
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
        selection: view.graphqlSelection ?? restSelectionOf(type),
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
    .map(({ view }) => view)
    .filter((view) => view.isListedInApiRoot ?? true)
    .sort(
      (a, b) =>
        (a.apiRootPosition ?? Infinity) - (b.apiRootPosition ?? Infinity) ||
        (a.restName < b.restName ? -1 : 1),
    );
  return {
    resources: new Map(
      resourceViews.map((resourceView) => [
        resourceView.view.restName,
        buildResourceEndpoint(resourceView, prepareRestOperation),
      ]),
    ),
    standaloneEndpoints: new Map(standaloneEndpointEntries),
    login: prepareRestOperation(LOGIN),
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
  const [versionVariable, versionArgument] = versionFieldName
    ? [', $ifVersion: String', ', ifVersion: $ifVersion']
    : ['', ''];
  // The row version is the last field of the selection. It is sent in the ETag header and removed from the response body.
  const rowSelection = `{ ${selection} ${versionFieldName ?? ''} }`;
  const payloadSelection = `{ row: ${rowQueryName} ${rowSelection} errors { path message } }`;
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
      `query ${parenthesize(referenceTargets.map(({ key }) => `$${key}: [ID!]!`))} { ${referenceTargets.map(({ key, type: targetTypeName }) => `${key}: referenceableIds(type: "${targetTypeName}", ids: $${key})`).join(' ')} }`,
    ),
    actions: new Map(
      Object.values(type.getFields()).flatMap((field) => {
        const metadata = field.extensions.action;
        return metadata
          ? [
              [
                metadata.name,
                prepareGraphQLFieldEndpoint(metadata, field, prepareRestOperation, rowQueryName),
              ] as const,
            ]
          : [];
      }),
    ),
  };
}

const parenthesize = (items: readonly string[]) => (items.length ? `(${items.join(', ')})` : '');

/** Prepares the query for a field with its own REST path. For an action of a row, `objectFieldName` is the root field that returns the row. */
function prepareGraphQLFieldEndpoint<Metadata extends ResponseBodyMetadata>(
  metadata: Metadata,
  field: GraphQLField<unknown, unknown>,
  prepareRestOperation: PrepareOperation<RestOperation>,
  objectFieldName?: string,
): GraphQLFieldEndpoint<Metadata> {
  const { name, args, type } = field;
  const variables = args.map((argument) => `$${argument.name}: ${String(argument.type)}`);
  const value = `${name}${parenthesize(args.map((argument) => `${argument.name}: $${argument.name}`))}${nestedSelection(type, metadata.graphqlSelection)}`;
  const operation = objectFieldName
    ? prepareRestOperation(
        `query ${parenthesize(['$self: ID!', ...variables])} { row: ${objectFieldName}(id: $self) { action: ${value} } }`,
      )
    : prepareRestOperation(`query ${parenthesize(variables)} { result: ${value} }`);
  return { metadata, field, operation };
}
