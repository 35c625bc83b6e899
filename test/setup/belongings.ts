/** Creates one row of every owned type for a user, over GraphQL as the user would, with ids that identify type and owner. */
import { fieldsOf, type Entity } from '../../src/core/model/fields';
import { allEntities, findEntity, resourceOf } from '../../src/core/model/registry';
import { sortByDependency } from '../../src/transfer/dump';
import type { Fitgraph } from './fitgraph';
import type { Person } from './person';
import { inputOf, PUBLIC_PARENTS, type Parents } from './samples';

export type OwnedRowIds = ReadonlyMap<Entity, number>;

/** Returns the owned types except the user, parents first. */
export const ownedTypes = (): Entity[] =>
  sortByDependency(new Map(allEntities().map((entity) => [entity.name, entity]))).filter(
    (entity) => resourceOf(entity)!.isOwned && entity !== findEntity('User'),
  );

/** An id that no row has. */
export const UNKNOWN = 2_000_000_000;

/** Starts the id sequences of the tables far apart, so that an id in a response identifies the type and owner of its row. */
export async function spreadIds(fitgraph: Fitgraph): Promise<void> {
  for (const [index, entity] of allEntities().entries()) {
    if (!resourceOf(entity)!.isOwned) continue;
    await fitgraph.sql(`SELECT setval(pg_get_serial_sequence($1, 'id'), $2)`, [
      `"${resourceOf(entity)!.table}"`,
      700_000_000 + index * 1_000_000,
    ]);
  }
}

/** Returns the id for a relation: the user's own row or, for a public type, one of its first rows. */
export const parentsIn =
  (ownedRowIds: OwnedRowIds): Parents =>
  (field, number) => {
    const id = ownedRowIds.get(field.target!()) ?? 1 + ((number - 1) % PUBLIC_PARENTS);
    return field.relation!.isToMany ? [id] : id;
  };

export async function createOwnedRows(person: Person): Promise<OwnedRowIds> {
  const ownedRowIds = new Map<Entity, number>();
  for (const entity of ownedTypes()) {
    const { createMutation, rowQuery } = resourceOf(entity)!.metadata;
    if (createMutation) {
      const document = `mutation ($input: ${entity.name}Input!) { made: ${createMutation}(input: $input) { row: ${rowQuery} { id } } }`;
      const { made } = await person.ask(document, { input: inputOf(entity, 1, parentsIn(ownedRowIds)) });
      ownedRowIds.set(entity, Number(made.row.id));
    } else {
      // A profile is created together with its user.
      const { viewer } = await person.ask(`{ viewer { row: profile { id } } }`);
      ownedRowIds.set(entity, Number(viewer.row.id));
    }
  }
  return ownedRowIds;
}

/**
 * Creates a user with one row of every owned type except this one, so that a row of it can be created whatever must be unique. Types that clients
 * cannot create keep their row.
 */
export async function userWithout(entity: Entity, fitgraph: Fitgraph, name: string): Promise<{ person: Person; ownedRowIds: OwnedRowIds }> {
  const person = await fitgraph.user(name);
  const ownedRowIds = await createOwnedRows(person);
  const { deleteMutation } = resourceOf(entity)!.metadata;
  if (deleteMutation)
    await person.ask(`mutation ($id: ID!) { ${deleteMutation}(id: $id) { deletedIds } }`, { id: ownedRowIds.get(entity) });
  return { person, ownedRowIds };
}

/** Returns the fields that refer to another owned row and that clients may set. */
export const ownedParents = (entity: Entity) => fieldsOf(entity).filter((field) => field.relation?.isOwned && !field.readOnly);
