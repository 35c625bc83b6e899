/**
 * Creates one row of every owned type for a user, over GraphQL as the user would, with ids that
 * identify type and owner.
 */
import { fieldsOf, type Entity } from '../../src/engine/declare/fields';
import { allEntities, findEntity, resourceOf } from '../../src/engine/declare/registry';
import { sortByDependency } from '../../src/transfer/dump';
import type { Fitgraph } from './fitgraph';
import type { Person } from './person';
import { inputOf, PUBLIC_PARENTS, type Parents } from './sample-values';

export type OwnedRowIds = ReadonlyMap<Entity, number>;

/** Returns the owned types except the user, parents first. */
export const ownedTypes = (): Entity[] =>
  sortByDependency(new Map(allEntities().map((entity) => [entity.name, entity]))).filter(
    (entity) => resourceOf(entity)!.isOwned && entity !== findEntity('User'),
  );

/** An id that no row has. */
export const UNKNOWN = 2_000_000_000;

/**
 * Starts the id sequences of the tables far apart, so that an id in a response identifies the type
 * and owner of its row.
 */
export async function spreadIds(fitgraph: Fitgraph): Promise<void> {
  for (const [index, entity] of allEntities().entries()) {
    if (!resourceOf(entity)!.isOwned) continue;
    await fitgraph.sql(`SELECT setval(pg_get_serial_sequence($1, 'id'), $2)`, [
      `"${resourceOf(entity)!.table}"`,
      700_000_000 + index * 1_000_000,
    ]);
  }
}

/**
 * Returns the id for a relation: the user's own row or, for a public type, one of its first rows.
 */
export const parentsIn =
  (ownedRowIds: OwnedRowIds): Parents =>
  (field, number) => {
    const id = ownedRowIds.get(field.target!()) ?? 1 + ((number - 1) % PUBLIC_PARENTS);

    return field.relation!.isToMany ? [id] : id;
  };

/**
 * Creates one row of each of these owned types, which include the types of their parents, in this
 * order.
 */
export async function createOwnedRows(
  person: Person,
  types: readonly Entity[] = ownedTypes(),
): Promise<OwnedRowIds> {
  const ownedRowIds = new Map<Entity, number>();

  for (const entity of types) {
    const { createMutationName: createMutationName, rowQueryName: rowQueryName } =
      resourceOf(entity)!.metadata;

    if (createMutationName) {
      const document = `mutation ($input: ${entity.name}Input!) { made: ${createMutationName}(input: $input) { row: ${rowQueryName} { id } } }`;
      const { made } = await person.ask(document, {
        input: inputOf(entity, 1, parentsIn(ownedRowIds)),
      });

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
 * Creates a user with the parents of a row of this type, but without such a row, so that one can be
 * created whatever must be unique. A row that clients cannot create exists.
 */
export async function userWithParents(
  entity: Entity,
  fitgraph: Fitgraph,
  name: string,
): Promise<{ person: Person; ownedRowIds: OwnedRowIds }> {
  const person = await fitgraph.user(name);
  const needed = withAncestors(entity);

  if (resourceOf(entity)!.metadata.createMutationName) needed.delete(entity);
  const types = ownedTypes().filter((type) => needed.has(type));

  return { person, ownedRowIds: await createOwnedRows(person, types) };
}

const withAncestors = (entity: Entity): Set<Entity> =>
  new Set([entity, ...ownedParents(entity).flatMap(({ target }) => [...withAncestors(target!())])]);

/** Returns the fields that refer to another owned row and that clients may set. */
export const ownedParents = (entity: Entity) =>
  fieldsOf(entity).filter((field) => field.relation?.isOwned && !field.readOnly);
