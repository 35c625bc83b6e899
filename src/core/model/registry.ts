/**
 * Resource registry: the declared options of each resource, by its class. Resource files load in any order, so it must be read only after all are
 * loaded.
 */
import type { FilterMetadata, ScopeGroup, InterfaceName, ResourceMetadata, ViewMetadata } from '../../contract/metadata';
import type { Context } from '../context';
import type { Entity } from './fields';
import type { FieldValues } from './hooks';

/** A validation rule across several fields of a row. */
export interface FieldRule {
  fields: readonly string[];
  message: string;
  /** Returns for each row whether it breaks the rule. Called only with rows that have a value for each of the fields. */
  broken(rows: readonly FieldValues[], context: Context): boolean[] | Promise<boolean[]>;
}

export const OWNER_FIELD = { field: 'userId', column: 'user_id' } as const;

export type WriteOperation = 'create' | 'update' | 'remove';

export interface ViewOptions extends Partial<Omit<ViewMetadata, 'rest' | 'filters'>> {
  filters?: readonly (string | FilterMetadata)[];
}

/** A constraint on a boolean field: at most one of the rows with the same parent row may have it set. */
export interface SingleFlagConstraint {
  /** The boolean field. */
  flag: string;
  /** The field that references the parent row. */
  parentField: string;
  /** Restricts the constraint to rows with these column values. If absent, it applies to all rows. */
  among?: Readonly<Record<string, string>>;
}

export interface ResourceOptions extends ViewOptions {
  /** Name in the URL, `/api/v2/<rest>/`. If absent, the resource is available in GraphQL only. */
  rest?: string;
  description: string;
  /** Whether rows belong to a user and have the column `user_id`. */
  owned?: boolean;
  /** Scope group of access tokens that covers the resource: owned resources, and public ones to which users contribute rows. */
  group?: ScopeGroup;
  table?: string;
  /** Column that holds the owner; `user_id` if absent. */
  owner?: string;
  /** Model name in data dumps of the reference service. */
  dump?: string;
  /** Restricts the resource to one interface. */
  only?: InterfaceName;
  /** Whether rows have root queries; `'rest'` means in REST only. Rows without root queries are reached through relations. Defaults to true. */
  queries?: boolean | 'rest';
  /** Name of the mutation that updates the viewer's only row, without an id. GraphQL returns the row as a field of `viewer`. */
  mine?: string;
  /** Plural name in GraphQL; defaults to the singular with an appended `s`. */
  plural?: string;
  /** Fields of the default order; `-` marks a descending field. The id is added as the last criterion. */
  ordering?: readonly string[];
  /** GraphQL field paths whose values label a row without a name of its own. See `ResourceMetadata`. */
  names?: readonly string[];
  apart?: string;
  unique?: readonly string[];
  /** Validation rules across fields, enforced in GraphQL only. REST enforces none, like the reference service. */
  rules?: readonly FieldRule[];
  /** A flag that at most one row per parent row may have; a database constraint enforces it. */
  single?: SingleFlagConstraint;
  /** Column values that make a row of a public resource visible to everyone. Of other rows, references expose only the id. */
  visible?: Readonly<Record<string, string>>;
  /** Column values of public rows pending review. Their contributor, recorded in `<table>_contributor`, may change and delete them. */
  contributed?: Readonly<Record<string, string>>;
  /** Name of the reference to the parent row that determines visibility: who can see the parent row can see this row. */
  visibleWith?: string;
  /** Supported mutations; defaults to all for an owned resource and none for a public one. */
  writes?: readonly WriteOperation[];
  /** Typical number of rows of a small public table, which GraphQL returns as a plain list. REST paginates it like any other. */
  dictionary?: number;
  /** Whether to add bulk mutations, for resources with thousands of rows per user, which offline clients send together. */
  bulk?: boolean;
  /** Whether a small public table is kept in memory. A database notification refreshes it. */
  inMemory?: boolean;
  /**
   * Keeps the names of a large public table in memory for search. `name` is the searched field; `kind` is the field that restricts searches (the
   * language).
   */
  namesInMemory?: { name: string; kind: string };
  /**
   * Adds statistics fields (`…Grouped`) next to the lists. Rows are grouped by their own fields and by these named paths, such as
   * `exercise.category`.
   */
  grouped?: Readonly<Record<string, string>>;
  views?: Readonly<Record<string, ViewOptions>>;
}

/** Options of a resource, with defaults applied, and its public metadata. */
export interface ResourceMeta extends ResourceOptions {
  owned: boolean;
  owner: string;
  table: string;
  one: string;
  many: string;
  writes: readonly WriteOperation[];
  ordering: readonly string[];
  metadata: ResourceMetadata;
}

const resourcesByEntity = new Map<Entity, ResourceMeta>();

export const registerResource = (entity: Entity, resource: ResourceMeta): void => void resourcesByEntity.set(entity, resource);

export const resourceOf = (entity: Entity): ResourceMeta | undefined => resourcesByEntity.get(entity);
export const allEntities = (): Entity[] => [...resourcesByEntity.keys()];
export const findEntity = (name: string): Entity | undefined => allEntities().find((entity) => entity.name === name);
