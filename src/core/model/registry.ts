/** What was said of each resource, by its class. Files are loaded in any order, so it is asked for once all are. */
import type { FilterFact, Group, Only, ResourceFact, ViewFact } from '../../contract/facts';
import type { Context } from '../context';
import type { Entity } from './fields';
import type { Values } from './hooks';

/** A rule between the fields of one row. */
export interface Rule {
  fields: readonly string[];
  message: string;
  /** Of rows that have a value for each of the fields: whether each breaks the rule. */
  broken(rows: readonly Values[], context: Context): boolean[] | Promise<boolean[]>;
}

/** The name of the owner's field and column, on every owned table. */
export const OWNER = { field: 'userId', column: 'user_id' } as const;

export type Write = 'create' | 'update' | 'remove';

export interface ViewOptions extends Partial<Omit<ViewFact, 'rest' | 'filters'>> {
  filters?: readonly (string | FilterFact)[];
}

export interface Single {
  flag: string;
  /** The field that says whose it is. */
  of: string;
  /** Columns with the values of the rows that count; absent: all count. */
  among?: Readonly<Record<string, string>>;
}

export interface ResourceOptions extends ViewOptions {
  /** Name in the URL, `/api/v2/<rest>/`; absent: GraphQL only. */
  rest?: string;
  description: string;
  /** Rows belong to a user and carry `userId`. */
  owned?: boolean;
  /** Of an owned resource, and of a public one whose rows can be added: what tokens call that it belongs to. */
  group?: Group;
  table?: string;
  /** The column that holds the owner of an owned row. */
  owner?: string;
  /** Model name in the reference service's data dumps. */
  dump?: string;
  /** The one interface that has such rows. */
  only?: Only;
  /** False: reached through relations only; `'rest'`: only REST lists and looks up rows. */
  queries?: boolean | 'rest';
  /** Each user has one row, which GraphQL shows below `viewer` and changes by this mutation, without an id. */
  mine?: string;
  /** Plural in GraphQL, where adding an s is not right. */
  plural?: string;
  /** Default order, `-` before a field that runs downwards; the id always decides last. */
  ordering?: readonly string[];
  /** Paths of fields in GraphQL, which are what people call a row that has no name of its own. See `ResourceFact`. */
  names?: readonly string[];
  apart?: string;
  unique?: readonly string[];
  /** What must hold between the fields of a row that GraphQL writes; REST stores what it always did. */
  rules?: readonly Rule[];
  /** A flag that one row at most has of those that belong to the same one; the database holds to it. */
  single?: Single;
  /** What everybody sees of a public resource, by column. References show nothing of the other rows but their ids. */
  visible?: Readonly<Record<string, string>>;
  /**
   * Of a public resource: what rows hold, by column, as long as whoever added them may change and delete them. Who that is stands in the
   * table `<table>_contributor`.
   */
  contributed?: Readonly<Record<string, string>>;
  /** The reference to the row that this one is part of: it is seen by whoever sees that one. */
  visibleWith?: string;
  /** Absent: all of an owned resource, none of a public one. */
  writes?: readonly Write[];
  /** Of a public resource: a few rows, of which GraphQL lists all at once. REST has pages of them as of others. */
  dictionary?: boolean;
  /** One mutation may also write many rows: those of which a user has thousands, as offline clients send them. */
  bulk?: boolean;
  /** Small and public: kept in memory, refreshed when the database says so. */
  inMemory?: boolean;
  /** Large and public, and searched by name: the fields of what is in memory of it, a name and the id by which it is chosen. */
  namesInMemory?: { name: string; kind: string };
  /**
   * Has statistics of groups: `…Grouped` beside its lists. Keys of groups are its own fields and sets of ids, and by these names those of
   * other rows: references, then the key there, as in `exercise.category`.
   */
  grouped?: Readonly<Record<string, string>>;
  /** Further REST names. */
  views?: Readonly<Record<string, ViewOptions>>;
}

export interface ResourceMeta extends ResourceOptions {
  owned: boolean;
  owner: string;
  table: string;
  one: string;
  many: string;
  writes: readonly Write[];
  ordering: readonly string[];
  fact: ResourceFact;
}

const resources = new Map<Entity, ResourceMeta>();

export const register = (entity: Entity, resource: ResourceMeta): void => void resources.set(entity, resource);

export const resourceOf = (entity: Entity): ResourceMeta | undefined => resources.get(entity);
export const entities = (): Entity[] => [...resources.keys()];
export const entityNamed = (name: string): Entity | undefined => entities().find((entity) => entity.name === name);
