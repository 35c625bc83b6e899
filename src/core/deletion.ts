/** What deletions answer: both ids of what was deleted, or the rows as they are because they have other versions than were meant. */
import { Field, ID, ObjectType, type ClassType } from 'type-graphql';
import { OtherVersion } from './errors';
import type { Entity } from './fields';
import { nodeIdOf } from './node';
import { showConflicts } from './payload';

export type Deletion = ClassType & (new (ids: readonly number[], clashing?: readonly number[]) => object);

/** `XDeletion`. */
export function deletionOf(entity: Entity): Deletion {
  const name = `${entity.name}Deletion`;
  const Deletion = {
    [name]: class {
      readonly deletedId: number | null;
      readonly deletedNodeId: string | null;

      constructor(
        [id]: readonly number[],
        readonly clashing: readonly number[] = [],
      ) {
        this.deletedId = id ?? null;
        this.deletedNodeId = id === undefined ? null : nodeIdOf(entity.name, id);
      }
    },
  }[name]!;
  const shown = (field: string, id: string) =>
    Field(() => ID, { nullable: true, description: `What its \`${id}\` was; null if it was not deleted.` })(Deletion.prototype, field);
  shown('deletedId', 'id');
  shown('deletedNodeId', 'nodeId');
  showConflicts(Deletion, entity, false);
  ObjectType(name, {
    description: 'A row that was deleted. Caches find what is to be dropped by its `deletedNodeId`.',
    simpleResolvers: true,
  })(Deletion);
  return Deletion;
}

/** `XsDeletion`, of the name of many rows. */
export function deletionsOf(entity: Entity, plural: string): Deletion {
  const name = `${plural}Deletion`;
  const Deletions = {
    [name]: class {
      readonly deletedNodeIds: readonly string[];

      constructor(
        readonly deletedIds: readonly number[],
        readonly clashing: readonly number[] = [],
      ) {
        this.deletedNodeIds = deletedIds.map((id) => nodeIdOf(entity.name, id));
      }
    },
  }[name]!;
  const shown = (field: string, id: string) =>
    Field(() => [ID], { description: `What their \`${id}\`s were; none if there are conflicts.` })(Deletions.prototype, field);
  shown('deletedIds', 'id');
  shown('deletedNodeIds', 'nodeId');
  showConflicts(Deletions, entity, true);
  ObjectType(name, { description: 'Rows that were deleted, in the order in which they were named.', simpleResolvers: true })(Deletions);
  return Deletions;
}

/** The payload of a deletion. */
export async function deleted(Payload: Deletion, remove: () => Promise<number[]>): Promise<object> {
  try {
    return new Payload(await remove());
  } catch (error) {
    if (error instanceof OtherVersion) return new Payload([], error.ids);
    throw error;
  }
}
