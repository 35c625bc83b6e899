/** Resource registry: the declared options of each resource, by its class. Files load in any order, so read it only when all resources are loaded. */
import type { FilterMetadata, ScopeGroup, InterfaceName, ResourceMetadata, ViewMetadata } from '../../contract/metadata';
import type { Context } from '../context';
import type { Entity } from './fields';
import type { FieldValues } from './hooks';

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

export interface SingleFlagConstraint {
  flag: string;
  /** The field that references the parent row. */
  of: string;
  /** Restricts the constraint to rows with these column values; absent: all rows count. */
  among?: Readonly<Record<string, string>>;
}

export interface ResourceOptions extends ViewOptions {
  /** Name in the URL, `/api/v2/<rest>/`; absent: the resource is available in GraphQL only. */
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
  /** Restricts the resource to one API. */
  only?: InterfaceName;
  /** Which APIs have root queries for the rows. False: rows are reached through relations only; `'rest'`: only REST lists rows and looks them up. */
  queries?: boolean | 'rest';
  /** Mutation that updates the viewer's single row, without an id. GraphQL returns the row as a field of `viewer`. */
  mine?: string;
  /** Plural name in GraphQL, if it is not the name with an s. */
  plural?: string;
  /** Fields of the default order; `-` marks a descending field. The id is always the last criterion. */
  ordering?: readonly string[];
  /** GraphQL field paths whose values label a row that has no name of its own. See `ResourceMetadata`. */
  names?: readonly string[];
  apart?: string;
  unique?: readonly string[];
  /** Validation rules across fields, enforced in GraphQL only. REST accepts whatever its recorded contract accepts. */
  rules?: readonly FieldRule[];
  /** A flag that at most one row per parent row may have; a database constraint enforces it. */
  single?: SingleFlagConstraint;
  /** Column values that make a row of a public resource visible to everyone. References to other rows expose only their ids. */
  visible?: Readonly<Record<string, string>>;
  /** Column values of a public row while its contributor, recorded in `<table>_contributor`, may still change and delete it. */
  contributed?: Readonly<Record<string, string>>;
  /** Reference to the parent row that determines visibility: this row is visible to those who can see the parent row. */
  visibleWith?: string;
  /** Supported mutations; absent: all for an owned resource, none for a public one. */
  writes?: readonly WriteOperation[];
  /** Small public table that GraphQL returns as a plain list: its typical number of rows. REST paginates it like any other. */
  dictionary?: number;
  /** Adds bulk mutations, for resources with thousands of rows per user that offline clients send together. */
  bulk?: boolean;
  /** Keeps a small public table in memory; a database notification refreshes it. */
  inMemory?: boolean;
  /** Keeps names of a large public table in memory for search. `name` is the searched field, `kind` the field that narrows it (the language). */
  namesInMemory?: { name: string; kind: string };
  /** Adds statistics fields (`…Grouped`) beside the lists. Rows are grouped by own fields and by these named paths, such as `exercise.category`. */
  grouped?: Readonly<Record<string, string>>;
  views?: Readonly<Record<string, ViewOptions>>;
}

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
