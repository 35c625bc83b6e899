/**
 * Query planning: derives the columns to read from a selection set. Plans are cached by the field nodes of cached documents. They include fields
 * under `@skip` and `@include`, so that they are valid for all variables.
 */
import type { FieldNode, FragmentDefinitionNode, GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import { columnSet, type SelectedColumns } from '../sql/select';
import type { Context } from '../context';
import {
  childRowsFieldsOf,
  fieldsOf,
  groupedFieldName,
  type Entity,
  type RowFields,
  type RowOf,
  type Thunk,
} from '../model/fields';
import { memoizePerEntity } from '../model/memoize';
import { isExcludedByDirective, visitFields } from '../model/selections';

type FieldNodes = readonly FieldNode[];
type ApiContext = Pick<Context, 'api' | 'policies'>;
type ResolveInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

interface FieldRequirement {
  /** Returns the entity that has the field. This is a function, because the class of the entity may not be loaded when the requirement is declared. */
  entity: Thunk;
  fieldName: string;
  requiredFieldNames: readonly string[];
}
const fieldRequirements: FieldRequirement[] = [];

/**
 * Type that makes compilation fail if the first parameter of a resolver (its `@Root()` row) has fields that `@RequiresFields` does not declare. The id is
 * always allowed.
 */
type ReadsOnlyDeclaredFields<
  Row,
  Resolver extends (...args: never[]) => unknown,
> = Row extends Parameters<Resolver>[0] ? unknown : ['undeclared field of the row'];

/**
 * Declares which fields of its row a custom resolver reads. The type of the resolver's first parameter may have no other fields. Without `columns`,
 * all fields are declared, for resolvers that return the row itself.
 */
export const RequiresFields =
  <M, F extends keyof RowOf<M> & string = keyof RowOf<M> & string>(
    entity: () => Entity<M>,
    ...columns: F[]
  ) =>
  <Resolver extends (...args: never[]) => unknown>(
    _target: object,
    propertyName: string,
    _descriptor: TypedPropertyDescriptor<Resolver> &
      ReadsOnlyDeclaredFields<RowFields<M, F | ('id' & keyof RowOf<M>)>, Resolver>,
  ): void => {
    fieldRequirements.push({ entity, fieldName: propertyName, requiredFieldNames: columns });
  };

/**
 * Returns the fields of the row that each GraphQL field depends on: for relations their key fields, for custom resolvers the fields that `@RequiresFields`
 * declares.
 */
const requiredFieldsByName = memoizePerEntity((entity) => {
  const fieldDependencies = new Map<string, readonly string[]>();
  for (const { relation, objectFieldName, name } of fieldsOf(entity))
    if (relation) fieldDependencies.set(objectFieldName!, [name]);
  for (const child of childRowsFieldsOf(entity))
    for (const name of [child.name, groupedFieldName(child)])
      fieldDependencies.set(name, [child.keyFieldName]);
  for (const { fieldName, requiredFieldNames } of fieldRequirements.filter(
    (requirement) => requirement.entity() === entity,
  ))
    fieldDependencies.set(
      fieldName,
      requiredFieldNames.length ? requiredFieldNames : fieldsOf(entity).map(({ name }) => name),
    );
  return fieldDependencies;
});

/**
 * Returns the object by which results for a selection set are cached: its field node. If a document selects the field more than once, this is the
 * array of field nodes, which is new in each execution, so that nothing is reused.
 */
export const selectionCacheKey = (nodes: FieldNodes): object =>
  nodes.length === 1 ? nodes[0]! : nodes;

/**
 * Returns a version of `create` that caches its results by selection set, entity and API: by entity, because one selection set below the field `node`
 * can apply to rows of several types; by API, because HTML pages run documents of REST as the API `graphql`, and plans differ between APIs.
 */
export function cacheBySelection<T>(
  create: (entity: Entity, info: ResolveInfo, context: ApiContext) => T,
) {
  const resultsByApi = {
    graphql: new WeakMap<object, Map<Entity, T>>(),
    rest: new WeakMap<object, Map<Entity, T>>(),
  };
  return (entity: Entity, info: ResolveInfo, context: ApiContext): T => {
    const key = selectionCacheKey(info.fieldNodes);
    let resultByEntity = resultsByApi[context.api].get(key);
    if (!resultByEntity) resultsByApi[context.api].set(key, (resultByEntity = new Map()));
    let result = resultByEntity.get(entity);
    if (result === undefined) resultByEntity.set(entity, (result = create(entity, info, context)));
    return result;
  };
}

/**
 * Returns the subfields of the given nodes of a document: by field name, the nodes that select it. Visits each fragment once, however often it is spread.
 * Without `variables`, the result also contains fields that `@skip` or `@include` may exclude, so that it is valid for all variables.
 */
export function selectedFieldNodesByName(
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
  fragments: Record<string, FragmentDefinitionNode>,
  variables?: Readonly<Record<string, unknown>>,
): Map<string, FieldNode[]> {
  const nodesByName = new Map<string, FieldNode[]>();
  visitFields(
    nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
    undefined,
    {
      findFragment: (name) => fragments[name],
      narrowToTypeCondition: () => undefined,
      ...(variables && { isSkipped: (selection) => isExcludedByDirective(selection, variables) }),
      visitField(node) {
        const nodesOfName = nodesByName.get(node.name.value);
        if (nodesOfName) nodesOfName.push(node);
        else nodesByName.set(node.name.value, [node]);
      },
    },
  );
  return nodesByName;
}

function collectRequiredFieldNames(entity: Entity, names: Iterable<string>): Set<string> {
  const fieldDependencies = requiredFieldsByName(entity);
  const fieldNames = new Set<string>();
  for (const name of names) {
    if (fieldsOf(entity).some((field) => field.name === name)) fieldNames.add(name);
    for (const column of fieldDependencies.get(name) ?? []) fieldNames.add(column);
  }
  return fieldNames;
}

/** Returns the fields to read for a GraphQL field that returns a row or a list of rows. */
export const requiredRowFieldNames = (entity: Entity, info: ResolveInfo): Set<string> =>
  collectRequiredFieldNames(
    entity,
    selectedFieldNodesByName(info.fieldNodes, info.fragments).keys(),
  );

export const requiredRowColumns = cacheBySelection((entity, info, { policies }) =>
  columnSet(entity, requiredRowFieldNames(entity, info), policies.textOrder),
);

export const hasRequiredFields = (
  entity: Entity,
  row: Row,
  info: ResolveInfo,
  context: ApiContext,
): boolean => requiredRowColumns(entity, info, context).fieldNames.every((name) => name in row);

/** Query plan of a connection: the columns and results that its selection set needs. */
export interface ConnectionPlan {
  columns: SelectedColumns;
  needsRows: boolean;
  needsEdges: boolean;
  needsTotalCount: boolean;
  needsHasNextPage: boolean;
  needsHasPreviousPage: boolean;
  needsCursors: boolean;
}

export const connectionPlan = cacheBySelection((entity, info, { policies }): ConnectionPlan => {
  const connectionFields = selectedFieldNodesByName(info.fieldNodes, info.fragments);
  const edgeFields = selectedFieldNodesByName(connectionFields.get('edges') ?? [], info.fragments);
  const pageInfoFields = selectedFieldNodesByName(
    connectionFields.get('pageInfo') ?? [],
    info.fragments,
  );
  const nodes = [...(connectionFields.get('nodes') ?? []), ...(edgeFields.get('node') ?? [])];
  return {
    columns: columnSet(
      entity,
      collectRequiredFieldNames(entity, selectedFieldNodesByName(nodes, info.fragments).keys()),
      policies.textOrder,
    ),
    needsRows:
      connectionFields.has('nodes') ||
      connectionFields.has('edges') ||
      connectionFields.has('pageInfo'),
    needsEdges: connectionFields.has('edges'),
    needsTotalCount: connectionFields.has('totalCount'),
    needsHasNextPage: pageInfoFields.has('hasNextPage'),
    needsHasPreviousPage: pageInfoFields.has('hasPreviousPage'),
    needsCursors:
      edgeFields.has('cursor') ||
      pageInfoFields.has('startCursor') ||
      pageInfoFields.has('endCursor'),
  };
});
