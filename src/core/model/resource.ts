/** Makes a class of decorated fields a table, a GraphQL type and REST endpoints. */
import { Extensions, ObjectType } from 'type-graphql';
import { Table } from 'sequelize-typescript';
import type { FilterFact, ResourceFact, ViewFact } from '../../contract/facts';
import type { Entity } from './fields';
import { snake } from '../../contract/casing';
import { lowerFirst, upperFirst, words } from './inflection';
import { Node } from './node';
import { register, type ResourceOptions, type ViewOptions, type Write } from './registry';
import { stamp, VERSION } from './stamps';

const filterFact = (filter: string | FilterFact): FilterFact => (typeof filter === 'string' ? { field: filter } : filter);

/** The index for such a filter would have the name of the unique index of every owned table, (user_id, id). */
function checkFilters({ name }: Entity, views: readonly ViewFact[]): void {
  for (const { rest, filters } of views)
    if (filters.some(({ field }) => field === 'id'))
      throw new Error(
        `${name}: \`filters\` of the REST resource \`${rest}\` may not name the field \`id\`. Remove it: one row is served at ${rest}/<id>/.`,
      );
}

export function Resource(options: ResourceOptions) {
  return (entity: Entity): void => {
    const one = lowerFirst(entity.name);
    const owned = options.owned ?? false;
    const writes = options.writes ?? (owned ? (['create', 'update', 'remove'] as const) : []);
    const many = options.plural ?? `${one}s`;
    const named = (write: Write, name: string) => `${write === 'remove' ? 'delete' : write}${name}`;
    const can = (write: Write) => (writes.includes(write) ? named(write, entity.name) : undefined);
    const canMany = (write: Write) => (options.bulk ? named(write, upperFirst(many)) : undefined);
    const view = (rest: string, o: ViewOptions): ViewFact => ({
      ...o,
      rest,
      title: o.title ?? words(entity.name),
      description: o.description ?? options.description,
      filters: (o.filters ?? []).map(filterFact),
      routes: o.routes ?? (writes.length === 3 ? 'all' : 'read'),
    });
    const { filters, title, position, listed, routes, permits, selection } = options;
    const fact: ResourceFact = {
      owned,
      only: options.only,
      group: options.group,
      ordering: options.ordering ?? [],
      dictionary: options.dictionary,
      names: options.names,
      apart: options.apart,
      one,
      many,
      create: can('create'),
      update: options.mine && !options.rest ? undefined : can('update'),
      remove: can('remove'),
      createMany: canMany('create'),
      updateMany: canMany('update'),
      removeMany: canMany('remove'),
      ...(owned && { version: VERSION }),
      views: options.rest
        ? [
            view(options.rest, { filters, title, position, listed, routes, permits, selection }),
            ...Object.entries(options.views ?? {}).map(([rest, o]) => view(rest, { routes: 'read', ...o })),
          ]
        : [],
    };
    checkFilters(entity, fact.views);
    const table = options.table ?? snake(lowerFirst(entity.name));
    register(entity, {
      ...options,
      owned,
      owner: options.owner ?? 'user_id',
      table,
      one,
      many,
      ordering: options.ordering ?? [],
      dictionary: options.dictionary,
      writes,
      fact,
    });
    if (owned) stamp(entity);
    Table({ tableName: table, timestamps: false, underscored: true })(entity);
    ObjectType({ description: options.description, simpleResolvers: true, implements: Node })(entity);
    Extensions({ resource: fact })(entity);
  };
}
