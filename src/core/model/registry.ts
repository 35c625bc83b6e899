/**
 * Resource registry: the declared options of each resource, by its class. Resource files load in any order, so the registry must be read only after
 * all of them are loaded.
 */
import type {
  FilterMetadata,
  ScopeGroup,
  ApiName,
  ResourceMetadata,
  RestViewMetadata,
} from '../../contract/metadata';
import type { Context } from '../context';
import type { Entity } from './fields';
import type { FieldValues } from './hooks';

export interface CrossFieldRule {
  fields: readonly string[];
  message: string;
  /** Returns for each row whether it violates the rule. Called only with rows that have values in all fields of the rule. */
  violatedBy(rows: readonly FieldValues[], context: Context): boolean[] | Promise<boolean[]>;
}

export const OWNER_FIELD = { field: 'userId', column: 'user_id' } as const;

export type WriteOperation = 'create' | 'update' | 'remove';

export interface RestViewOptions extends Partial<Omit<RestViewMetadata, 'restName' | 'filters'>> {
  filters?: readonly (string | FilterMetadata)[];
}

/** A constraint on a boolean field: of the rows with the same parent row, the field is true in at most one. */
export interface UniqueFlagConstraint {
  flagFieldName: string;
  parentFieldName: string;
  /** Restricts the constraint to rows with the given column values. If absent, it applies to all rows. */
  rowFilter?: Readonly<Record<string, string>>;
}

export interface ResourceOptions extends RestViewOptions {
  /** Name of the resource in REST URLs, `/api/v2/<name>/`. If absent, the resource is available in GraphQL only. */
  restName?: string;
  description: string;
  /** Whether each row belongs to a user, whose id is in the column `ownerColumn`. */
  isOwned?: boolean;
  /**
   * Group of resources to which the scopes of access tokens apply. Only owned resources, and public ones to which users contribute rows, have a
   * group.
   */
  scopeGroup?: ScopeGroup;
  table?: string;
  /** Column that contains the id of the owner; `user_id` if absent. */
  ownerColumn?: string;
  /** Model name in data dumps of the reference service. */
  dumpModelName?: string;
  exclusiveTo?: ApiName;
  /**
   * Whether the resource has root queries; `'rest'` means in REST only. Rows of a resource without root queries are read through relations of other
   * rows. Defaults to true.
   */
  hasRootQueries?: boolean | 'rest';
  /**
   * Name of the mutation that updates the viewer's row of a resource with one row per user. It takes no id. GraphQL returns the row as a field of
   * `viewer`.
   */
  viewerMutationName?: string;
  /** Plural name in GraphQL; defaults to the singular with an appended `s`. */
  pluralName?: string;
  /** Fields of the default order; `-` marks a descending field. The id is added as the last criterion. */
  ordering?: readonly string[];
  /** GraphQL field paths whose values form the label of a row that has no name of its own. See `ResourceMetadata`. */
  labelFieldPaths?: readonly string[];
  distinguishingFieldPath?: string;
  uniqueFields?: readonly string[];
  /** Validation rules across fields, enforced in GraphQL only. REST enforces none, like the reference service. */
  crossFieldRules?: readonly CrossFieldRule[];
  /** A boolean field that is true in at most one row per parent row, which a database constraint enforces. */
  uniqueFlag?: UniqueFlagConstraint;
  /** Rows of a public resource with these column values are visible to everyone. Of its other rows, clients see only the ids, in references. */
  publishedColumnValues?: Readonly<Record<string, string>>;
  /**
   * Rows of a public resource with these column values are pending review. Their contributor (recorded in `<table>_contributor`) may change and
   * delete them.
   */
  pendingColumnValues?: Readonly<Record<string, string>>;
  /** Name of the reference to the parent row that determines visibility: anyone who can see the parent row can see this row. */
  visibilityParentFieldName?: string;
  /** Supported mutations; defaults to all for an owned resource and none for a public one. */
  writeOperations?: readonly WriteOperation[];
  /** Typical number of rows of a small public table, which GraphQL returns as a plain list. REST paginates it like any other. */
  lookupTableSize?: number;
  /** Whether to add bulk mutations. For resources with thousands of rows per user, which offline clients send together. */
  hasBulkMutations?: boolean;
  /** Whether the rows of a small public table are kept in memory. A database notification of a change makes the server read them again. */
  isCachedInMemory?: boolean;
  /**
   * Adds a field with statistics of groups of rows (`…Grouped`) to each list of the resource. Rows can be grouped by their own fields and by the
   * listed fields of referenced rows. Maps the name of a group key to the path of its field, such as `exercise.category`.
   */
  groupKeyPaths?: Readonly<Record<string, string>>;
  views?: Readonly<Record<string, RestViewOptions>>;
}

/** Options of a resource with defaults applied, and the public metadata of the resource. */
export interface RegisteredResource extends ResourceOptions {
  isOwned: boolean;
  ownerColumn: string;
  table: string;
  singularName: string;
  pluralName: string;
  writeOperations: readonly WriteOperation[];
  ordering: readonly string[];
  metadata: ResourceMetadata;
}

const resourcesByEntity = new Map<Entity, RegisteredResource>();

export const registerResource = (entity: Entity, resource: RegisteredResource): void =>
  void resourcesByEntity.set(entity, resource);

export const resourceOf = (entity: Entity): RegisteredResource | undefined =>
  resourcesByEntity.get(entity);
export const allEntities = (): Entity[] => [...resourcesByEntity.keys()];
export const findEntity = (name: string): Entity | undefined =>
  allEntities().find((entity) => entity.name === name);
