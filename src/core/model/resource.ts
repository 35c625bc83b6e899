/** Makes a class of decorated fields a table, a GraphQL type and REST endpoints. */
import { Extensions, ObjectType } from 'type-graphql';
import { Table } from 'sequelize-typescript';
import type { FilterFact, Group, ResourceFact, ViewFact } from '../../contract/facts';
import type { Entity } from './fields';
import { lowerFirst, snake, upperFirst, words } from './names';
import { Node } from './node';
import type { Context } from '../context';
import type { Values } from './hooks';
import { stamp, VERSION } from './stamps';

/** A rule between the fields of one row. */
export interface Rule {
  fields: readonly string[];
  message: string;
  /** Of rows that have a value for each of the fields: whether each breaks the rule. */
  broken(rows: readonly Values[], context: Context): boolean[] | Promise<boolean[]>;
}

/** The name of the owner's field and column, on every owned table. */
export const OWNER = { field: 'userId', column: 'user_id' } as const;

type Write = 'create' | 'update' | 'remove';

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
  /** False: reached through relations only. */
  queries?: boolean;
  /** Plural in GraphQL, where adding an s is not right. */
  plural?: string;
  /** Default order, `-` before a field that runs downwards; the id always decides last. */
  ordering?: readonly string[];
  /** Paths of fields in GraphQL, which are what people call a row that has no name of its own. */
  names?: readonly string[];
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
  /** Small and public: kept in memory, refreshed when the database says so. */
  inMemory?: boolean;
  /** Large and public, and searched by name: the fields of what is in memory of it, a name and the id by which it is chosen. */
  namesInMemory?: { name: string; kind: string };
  /** Further REST names. */
  views?: Readonly<Record<string, ViewOptions>>;
}

export interface Resource extends ResourceOptions {
  owned: boolean;
  owner: string;
  table: string;
  one: string;
  many: string;
  writes: readonly Write[];
  ordering: readonly string[];
  fact: ResourceFact;
}

const resources = new Map<Entity, Resource>();

export const resourceOf = (entity: Entity): Resource | undefined => resources.get(entity);
export const entities = (): Entity[] => [...resources.keys()];
export const entityNamed = (name: string): Entity | undefined => entities().find((entity) => entity.name === name);

const filterFact = (filter: string | FilterFact): FilterFact => (typeof filter === 'string' ? { field: filter } : filter);

export function Resource(options: ResourceOptions) {
  return (entity: Entity): void => {
    const one = lowerFirst(entity.name);
    const owned = options.owned ?? false;
    const writes = options.writes ?? (owned ? (['create', 'update', 'remove'] as const) : []);
    const many = options.plural ?? `${one}s`;
    const named = (write: Write, name: string) => `${write === 'remove' ? 'delete' : write}${name}`;
    const can = (write: Write) => (writes.includes(write) ? named(write, entity.name) : undefined);
    const canMany = (write: Write) => (owned && writes.length === 3 ? named(write, upperFirst(many)) : undefined);
    const view = (rest: string, o: ViewOptions): ViewFact => ({
      ...o,
      rest,
      title: o.title ?? words(entity.name),
      description: o.description ?? options.description,
      filters: (o.filters ?? []).map(filterFact),
      routes: o.routes ?? (writes.length === 3 ? 'all' : 'read'),
    });
    const { filters, title, position, routes, permits, selection } = options;
    const fact: ResourceFact = {
      owned,
      group: options.group,
      ordering: options.ordering ?? [],
      names: options.names,
      one,
      many,
      create: can('create'),
      update: can('update'),
      remove: can('remove'),
      createMany: canMany('create'),
      updateMany: canMany('update'),
      removeMany: canMany('remove'),
      ...(owned && { version: VERSION }),
      views: options.rest
        ? [
            view(options.rest, { filters, title, position, routes, permits, selection }),
            ...Object.entries(options.views ?? {}).map(([rest, o]) => view(rest, { routes: 'read', ...o })),
          ]
        : [],
    };
    const table = options.table ?? snake(lowerFirst(entity.name));
    resources.set(entity, {
      ...options,
      owned,
      owner: options.owner ?? 'user_id',
      table,
      one,
      many,
      ordering: options.ordering ?? [],
      writes,
      fact,
    });
    if (owned) stamp(entity);
    Table({ tableName: table, timestamps: false, underscored: true })(entity);
    ObjectType({ description: options.description, simpleResolvers: true, implements: Node })(entity);
    Extensions({ resource: fact })(entity);
  };
}
