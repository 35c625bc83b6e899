/**
 * Decorators of resources. `@Resource` declares a class of decorated fields as a table, a GraphQL
 * type and REST endpoints. `@Owner`, `@Ref`, `@Children` and others declare its relations:
 * references to a parent row, links to other rows through a link table, and child rows.
 */
import { Extensions, ObjectType, ID } from 'type-graphql';
import { Table, DataType } from 'sequelize-typescript';
import {
  type ApiName,
  COMPARABLE_KINDS,
  COMPARISON_OPERATORS,
  type ComparisonOperator,
  type FilterMetadata,
  type ResourceMetadata,
  type RestViewMetadata,
  type FieldMetadata,
} from '../../shared/metadata';
import {
  fieldOf,
  type Entity,
  registerChildRowsField,
  defineField,
  type FieldOptions,
  type Thunk,
  type NullableIf,
  type TypedDecorator,
} from './fields';
import { toSnakeCase } from '../../shared/casing';
import { lowerFirst, upperFirst, splitCamelCase, labelFor, nounOf } from './inflection';
import { Node } from './node';
import {
  registerResource,
  type ResourceOptions,
  CATALOGUE_SCOPE_GROUP,
  type RestViewOptions,
  type WriteOperation,
  resourceOf,
} from './registry';
import { addAuditFields, addPublicVersionField, VERSION_FIELD } from './audit-fields';
import type { EnumDefinition } from './choices';
import type { LinkTable } from './link-table';

function relationMetadata(
  target: Thunk,
  relationFieldName: string,
  isToMany: boolean,
): NonNullable<FieldMetadata['relation']> {
  return {
    isToMany,
    relationFieldName,
    get typeName() {
      return target().name;
    },
    get isOwned() {
      return resourceOf(target())?.isOwned ?? false;
    },
  };
}

/**
 * Declares a reference to a parent row. `workoutId` creates the column, the id field and the field
 * `workout` with the row.
 */
export const Ref = <const Nullable extends boolean = false>(
  target: Thunk,
  options: FieldOptions<Nullable> = {},
): TypedDecorator<NullableIf<number, Nullable>> => {
  return (prototype: object, name: string) => {
    const relationFieldName = String(name).replace(/Id$/, '');
    const description = options.description ?? `Id of the ${nounOf(relationFieldName)}.`;
    const graphqlDescription =
      options.graphqlDescription ??
      options.description ??
      `The \`id\` of \`${relationFieldName}\`.`;

    defineField('relation', () => ID, DataType.INTEGER, {
      ...options,
      description,
      graphqlDescription,
      target,
      relationFieldName,
      relation: relationMetadata(target, relationFieldName, false),
    })(prototype, name);
  };
};

/**
 * Declares the reference of an owned row to its owner, which the server sets on creation. GraphQL
 * omits it, because it returns only the viewer's own rows.
 */
export const Owner = (target: Thunk, options: FieldOptions = {}): TypedDecorator<number> =>
  Ref(target, {
    label: 'User',
    description: 'The `id` of the user whose row it is.',
    readOnly: true,
    exclusiveTo: 'rest',
    ...options,
  });

interface LinkOptions extends FieldOptions {
  assumedSize: number;

  /** Accepts an empty list. */
  allowBlank?: boolean;

  /** GraphQL field that returns the linked rows. */
  relationFieldName: string;
  link?: LinkTable;

  /** Enum that replaces the linked rows in GraphQL. Only REST returns the rows. */
  enum?: EnumDefinition;
}

/**
 * Declares an id set: ids of linked rows, stored in a link table or computed, in the default order
 * of their type.
 */
export const Links =
  (target: Thunk, options: LinkOptions): TypedDecorator<number[]> =>
  (prototype: object, name: string) => {
    const description =
      options.description ??
      `Ids of the ${nounOf(options.relationFieldName)}, in the default order of their type.`;
    const type = () => options.enum?.type ?? ID;

    defineField(
      'relation',
      type,
      undefined,
      {
        ...options,
        description,
        target,
        relation: relationMetadata(target, options.relationFieldName, true),
      },
      true,
    )(prototype, name);
  };

/**
 * Declares child rows. Connections paginate them; lists declare their typical number
 * (`assumedSize`).
 */
export const Children =
  (
    target: Thunk,
    referenceFieldName: string,
    options: (
      | { isConnection: true; assumedSize?: undefined }
      | { isConnection?: undefined; assumedSize: number }
    ) & {
      isSavedWithParent?: boolean;
      readOnly?: boolean;
      exclusiveTo?: ApiName;
      keyFieldName?: string;
      order?: string[];
      description?: string;
    },
  ): PropertyDecorator =>
  (prototype, propertyKey) => {
    const entity = prototype.constructor as Entity;
    const name = String(propertyKey);
    const childRowsField = {
      name,
      target,
      referenceFieldName,
      keyFieldName: options.keyFieldName ?? 'id',
      isConnection: options.isConnection ?? false,
      isSavedWithParent: options.isSavedWithParent ?? false,
      assumedSize: options.assumedSize,
      readOnly: options.readOnly ?? false,
      exclusiveTo: options.exclusiveTo,
      order: options.order ?? [],
      description: options.description ?? `${labelFor(name)} of this row.`,
    };

    registerChildRowsField(entity, childRowsField);
  };

/** Converts a declared filter to metadata: `date__gte` becomes a comparison of the field `date`. */
function toFilterMetadata(filter: string | FilterMetadata): FilterMetadata {
  if (typeof filter !== 'string') return filter;
  const [field = '', operator] = filter.split('__') as [string?, ComparisonOperator?];

  return operator ? { field, operator } : { field };
}

/**
 * Rejects declared comparison filters (`date__gte`) whose values REST cannot parse. Resources of
 * the reference service may declare none, because it ignores comparisons.
 */
function checkFilterDeclarations(entity: Entity, views: readonly RestViewMetadata[]): void {
  for (const { restName, filters, inReference } of views) {
    for (const { field, operator } of filters) {
      if (!operator) continue;
      const filter = `${entity.name}: the filter \`${field}__${operator}\` of the REST resource \`${restName}\``;

      if (inReference) {
        throw new Error(
          `${filter} is ignored by the reference. Declare comparisons for resources without \`inReference\`.`,
        );
      }

      if (!COMPARISON_OPERATORS.includes(operator)) {
        throw new Error(`${filter} must end in one of ${COMPARISON_OPERATORS.join(', ')}.`);
      }

      const { kind } = fieldOf(entity, field);

      if (!COMPARABLE_KINDS.includes(kind)) {
        throw new Error(
          `${filter} compares values of the kind ${kind}. Only ${COMPARABLE_KINDS.join(', ')} can be compared.`,
        );
      }
    }
  }
}

/**
 * Rejects REST filters by `id`, because their database index would have the same name as the unique
 * index (user_id, id) of every owned table.
 */
function rejectIdFilters({ name }: Entity, views: readonly RestViewMetadata[]): void {
  for (const { restName, filters } of views) {
    if (filters.some(({ field }) => field === 'id')) {
      throw new Error(
        `${name}: \`filters\` of the REST resource \`${restName}\` may not name the field \`id\`. Remove it: one row is served at ${restName}/<id>/.`,
      );
    }
  }
}

export function Resource(options: ResourceOptions) {
  return (entity: Entity): void => {
    const singularName = lowerFirst(entity.name);
    const isOwned = options.isOwned ?? false;
    const { writeOperations = ['create', 'update', 'remove'] } = options;
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
      routes: view.routes ?? (isOwned && writeOperations.length === 3 ? 'all' : 'read'),
    });
    const { filters, title, inReference, routes, permittedMethods, graphqlSelection } = options;
    const views: RestViewMetadata[] = [];

    if (options.restName) {
      const mainView = { filters, title, inReference, routes, permittedMethods, graphqlSelection };

      views.push(viewMetadata(options.restName, mainView));

      for (const [restName, view] of Object.entries(options.views ?? {})) {
        views.push(viewMetadata(restName, { routes: 'read', ...view }));
      }
    }

    const hasUpdateMutation = !options.viewerMutationName || options.restName;
    const metadata: ResourceMetadata = {
      isOwned,
      exclusiveTo: options.exclusiveTo,
      scopeGroup: options.scopeGroup,
      ordering: options.ordering ?? [],
      lookupTableSize: options.lookupTableSize,
      labelFieldPaths: options.labelFieldPaths,
      historyFieldNames: options.historyFieldNames,
      distinguishingFieldPath: options.distinguishingFieldPath,
      rowQueryName: singularName,
      listQueryName: pluralName,
      createMutationName: singleRowMutationName('create'),
      updateMutationName: hasUpdateMutation ? singleRowMutationName('update') : undefined,
      deleteMutationName: singleRowMutationName('remove'),
      bulkCreateMutationName: bulkMutationName('create'),
      bulkUpdateMutationName: bulkMutationName('update'),
      bulkDeleteMutationName: bulkMutationName('remove'),
      ...(isOwned && { versionFieldName: VERSION_FIELD }),
      views,
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
      scopeGroup: options.scopeGroup ?? (isOwned ? undefined : CATALOGUE_SCOPE_GROUP),
      ordering: options.ordering ?? [],
      lookupTableSize: options.lookupTableSize,
      writeOperations,
      metadata,
    });
    if (isOwned) addAuditFields(entity);
    else if (writeOperations.length) addPublicVersionField(entity);
    Table({ tableName: table, timestamps: false, underscored: true })(entity);
    ObjectType({ description: options.description, simpleResolvers: true, implements: Node })(
      entity,
    );
    Extensions({ resource: metadata })(entity);
  };
}
