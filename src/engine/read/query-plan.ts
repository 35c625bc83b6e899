/**
 * Query planning: derives the columns to read from a selection set. Plans are cached by the field
 * nodes of cached documents. They include fields under `@skip` and `@include`, so that they are
 * valid for all variables.
 */
import type { GraphQLResolveInfo } from 'graphql';
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
} from '../declare/fields';
import { memoizePerEntity } from '../declare/memoize';
import { selectedFieldNodesByName, selectionCacheKey } from '../declare/selections';

type ApiContext = Pick<Context, 'api' | 'policies'>;
type ResolveInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>;

interface FieldRequirement {
  /**
   * Entity that has the field. A function, because its class may not be loaded when the requirement
   * is declared.
   */
  entity: Thunk;
  fieldName: string;
  requiredFieldNames: readonly string[];
}
const fieldRequirements: FieldRequirement[] = [];

/**
 * Makes compilation fail if the first parameter of a resolver (its `@Root()` row) has fields that
 * `@RequiresFields` does not declare. The id is always allowed.
 */
type ReadsOnlyDeclaredFields<
  Row,
  Resolver extends (...args: never[]) => unknown,
> = Row extends Parameters<Resolver>[0] ? unknown : ['undeclared field of the row'];

/**
 * Declares which fields of its row a custom resolver reads. The type of the resolver's first
 * parameter may contain no other fields. Without `fieldNames`, the resolver requires all fields,
 * for example because it returns the row itself.
 */
export const RequiresFields =
  <M, F extends keyof RowOf<M> & string = keyof RowOf<M> & string>(
    entity: () => Entity<M>,
    ...fieldNames: F[]
  ) =>
  <Resolver extends (...args: never[]) => unknown>(
    _target: object,
    propertyName: string,
    _descriptor: TypedPropertyDescriptor<Resolver> &
      ReadsOnlyDeclaredFields<RowFields<M, F | ('id' & keyof RowOf<M>)>, Resolver>,
  ): void => {
    fieldRequirements.push({ entity, fieldName: propertyName, requiredFieldNames: fieldNames });
  };

/**
 * Row fields that each GraphQL field depends on: key fields of relations, and what
 * `@RequiresFields` declares for custom resolvers.
 */
const requiredFieldsByName = memoizePerEntity((entity) => {
  const fieldDependencies = new Map<string, readonly string[]>();

  for (const { relation, relationFieldName, name } of fieldsOf(entity)) {
    if (relation) fieldDependencies.set(relationFieldName!, [name]);
  }

  for (const child of childRowsFieldsOf(entity)) {
    for (const name of [child.name, groupedFieldName(child)]) {
      fieldDependencies.set(name, [child.keyFieldName]);
    }
  }

  for (const { fieldName, requiredFieldNames } of fieldRequirements.filter(
    (requirement) => requirement.entity() === entity,
  )) {
    fieldDependencies.set(
      fieldName,
      requiredFieldNames.length ? requiredFieldNames : fieldsOf(entity).map(({ name }) => name),
    );
  }

  return fieldDependencies;
});

/**
 * Caches results of `create` by selection set, entity and API. One selection set below the query
 * `node` can apply to several types. HTML pages run the same documents as REST, but as the API
 * `graphql`, whose plans differ.
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

    if (!resultByEntity) {
      resultByEntity = new Map();
      resultsByApi[context.api].set(key, resultByEntity);
    }

    const cachedResult = resultByEntity.get(entity);

    if (cachedResult !== undefined) return cachedResult;

    const result = create(entity, info, context);

    resultByEntity.set(entity, result);
    return result;
  };
}

function collectRequiredFieldNames(entity: Entity, names: Iterable<string>): Set<string> {
  const fieldDependencies = requiredFieldsByName(entity);
  const fieldNames = new Set<string>();

  for (const name of names) {
    if (fieldsOf(entity).some((field) => field.name === name)) fieldNames.add(name);
    for (const requiredName of fieldDependencies.get(name) ?? []) fieldNames.add(requiredName);
  }

  return fieldNames;
}

/** Fields to read for a GraphQL field that returns rows. */
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
