/** The `@Resource` class decorator: declares a class of decorated fields as a table, a GraphQL type and REST endpoints. */
import { Extensions, ObjectType } from 'type-graphql';
import { Table } from 'sequelize-typescript';
import {
  COMPARABLE_KINDS,
  COMPARISON_OPERATORS,
  type ComparisonOperator,
  type FilterMetadata,
  type ResourceMetadata,
  type RestViewMetadata,
} from '../../contract/metadata';
import { fieldOf, type Entity } from './fields';
import { toSnakeCase } from '../../contract/casing';
import { lowerFirst, upperFirst, splitCamelCase } from './inflection';
import { Node } from './node';
import {
  registerResource,
  type ResourceOptions,
  type RestViewOptions,
  type WriteOperation,
} from './registry';
import { addAuditFields, VERSION_FIELD } from './auditfields';

/** Converts a declared filter to metadata. `date__gte` becomes a comparison of the field `date`. */
function toFilterMetadata(filter: string | FilterMetadata): FilterMetadata {
  if (typeof filter !== 'string') return filter;
  const [field = '', operator] = filter.split('__') as [string?, ComparisonOperator?];
  return operator ? { field, operator } : { field };
}

/**
 * Validates the comparison filters that resources declare, such as `date__gte`. REST must be able to parse their values. Resources of the reference
 * service (those with an `apiRootPosition` in its API root) may declare none, because the reference service ignores comparisons.
 */
function checkFilterDeclarations(entity: Entity, views: readonly RestViewMetadata[]): void {
  for (const { restName, filters, apiRootPosition } of views)
    for (const { field, operator } of filters) {
      if (!operator) continue;
      const filter = `${entity.name}: the filter \`${field}__${operator}\` of the REST resource \`${restName}\``;
      if (apiRootPosition !== undefined)
        throw new Error(
          `${filter} is ignored by the reference. Declare comparisons for resources without \`apiRootPosition\`.`,
        );
      if (!COMPARISON_OPERATORS.includes(operator))
        throw new Error(`${filter} must end in one of ${COMPARISON_OPERATORS.join(', ')}.`);
      const { kind } = fieldOf(entity, field);
      if (!COMPARABLE_KINDS.includes(kind))
        throw new Error(
          `${filter} compares values of the kind ${kind}. Only ${COMPARABLE_KINDS.join(', ')} can be compared.`,
        );
    }
}

/** Rejects REST filters by `id`, because their database index would have the same name as the unique index (user_id, id) of every owned table. */
function rejectIdFilters({ name }: Entity, views: readonly RestViewMetadata[]): void {
  for (const { restName, filters } of views)
    if (filters.some(({ field }) => field === 'id'))
      throw new Error(
        `${name}: \`filters\` of the REST resource \`${restName}\` may not name the field \`id\`. Remove it: one row is served at ${restName}/<id>/.`,
      );
}

export function Resource(options: ResourceOptions) {
  return (entity: Entity): void => {
    const singularName = lowerFirst(entity.name);
    const isOwned = options.isOwned ?? false;
    const writeOperations =
      options.writeOperations ?? (isOwned ? (['create', 'update', 'remove'] as const) : []);
    const pluralName = options.pluralName ?? `${singularName}s`;
    const mutationName = (operation: WriteOperation, name: string) =>
      `${operation === 'remove' ? 'delete' : operation}${name}`;
    const singleRowMutationName = (operation: WriteOperation) =>
      writeOperations.includes(operation) ? mutationName(operation, entity.name) : undefined;
    const bulkMutationName = (operation: WriteOperation) =>
      options.hasBulkMutations ? mutationName(operation, upperFirst(pluralName)) : undefined;
    const viewMetadata = (restName: string, view: RestViewOptions): RestViewMetadata => ({
      ...view,
      restName,
      title: view.title ?? splitCamelCase(entity.name),
      description: view.description ?? options.description,
      filters: (view.filters ?? []).map(toFilterMetadata),
      routes: view.routes ?? (writeOperations.length === 3 ? 'all' : 'read'),
    });
    const {
      filters,
      title,
      apiRootPosition,
      isListedInApiRoot,
      routes,
      permittedMethods,
      graphqlSelection,
    } = options;
    const metadata: ResourceMetadata = {
      isOwned,
      exclusiveTo: options.exclusiveTo,
      scopeGroup: options.scopeGroup,
      ordering: options.ordering ?? [],
      lookupTableSize: options.lookupTableSize,
      labelFieldPaths: options.labelFieldPaths,
      distinguishingFieldPath: options.distinguishingFieldPath,
      rowQueryName: singularName,
      listQueryName: pluralName,
      createMutationName: singleRowMutationName('create'),
      updateMutationName:
        options.viewerMutationName && !options.restName
          ? undefined
          : singleRowMutationName('update'),
      deleteMutationName: singleRowMutationName('remove'),
      bulkCreateMutationName: bulkMutationName('create'),
      bulkUpdateMutationName: bulkMutationName('update'),
      bulkDeleteMutationName: bulkMutationName('remove'),
      ...(isOwned && { versionFieldName: VERSION_FIELD }),
      views: options.restName
        ? [
            viewMetadata(options.restName, {
              filters,
              title,
              apiRootPosition,
              isListedInApiRoot,
              routes,
              permittedMethods,
              graphqlSelection,
            }),
            ...Object.entries(options.views ?? {}).map(([restName, view]) =>
              viewMetadata(restName, { routes: 'read', ...view }),
            ),
          ]
        : [],
    };
    rejectIdFilters(entity, metadata.views);
    checkFilterDeclarations(entity, metadata.views);
    const table = options.table ?? toSnakeCase(lowerFirst(entity.name));
    registerResource(entity, {
      ...options,
      isOwned,
      ownerColumn: options.ownerColumn ?? 'user_id',
      table,
      singularName,
      pluralName,
      ordering: options.ordering ?? [],
      lookupTableSize: options.lookupTableSize,
      writeOperations,
      metadata,
    });
    if (isOwned) addAuditFields(entity);
    Table({ tableName: table, timestamps: false, underscored: true })(entity);
    ObjectType({ description: options.description, simpleResolvers: true, implements: Node })(
      entity,
    );
    Extensions({ resource: metadata })(entity);
  };
}
