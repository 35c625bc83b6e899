/** What deletions answer: both ids of what was deleted, or the rows as they are because they have other versions than were meant. */
import { Field, ID, ObjectType, type ClassType } from 'type-graphql';
import { OtherVersion } from '../model/errors';
import type { Entity } from '../model/fields';
import { nodeIdOf } from '../model/node';
import { FieldError, showConflicts, versionErrors } from './payload';
import { resourceOf } from '../model/registry';

export type Deletion = ClassType & (new (ids: readonly number[], clash?: OtherVersion) => object);

/** What both kinds have of rows with other versions than were meant; rows of public types have none. */
class Clash {
  readonly clashing: readonly number[];
  readonly fieldErrors: readonly FieldError[];

  constructor(clash: OtherVersion | undefined) {
    this.clashing = clash?.ids ?? [];
    this.fieldErrors = clash ? versionErrors(clash) : [];
  }
}

function showClashes(Payload: ClassType, entity: Entity, many: boolean): void {
  showConflicts(Payload, entity, many);
  if (!resourceOf(entity)!.owned) return;
  Field(() => [FieldError], { description: 'CONFLICT for each row that has another version than was meant; then nothing was deleted.' })(
    Payload.prototype,
    'fieldErrors',
  );
}

/** `XDeletion`. */
export function deletionOf(entity: Entity): Deletion {
  const name = `${entity.name}Deletion`;
  const Deletion = {
    [name]: class extends Clash {
      readonly deletedId: number | null;
      readonly deletedNodeId: string | null;

      constructor([id]: readonly number[], clash?: OtherVersion) {
        super(clash);
        this.deletedId = id ?? null;
        this.deletedNodeId = id === undefined ? null : nodeIdOf(entity.name, id);
      }
    },
  }[name]!;
  const shown = (field: string, id: string) =>
    Field(() => ID, { nullable: true, description: `What its \`${id}\` was; null if it was not deleted.` })(Deletion.prototype, field);
  shown('deletedId', 'id');
  shown('deletedNodeId', 'nodeId');
  showClashes(Deletion, entity, false);
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
    [name]: class extends Clash {
      readonly deletedNodeIds: readonly string[];

      constructor(
        readonly deletedIds: readonly number[],
        clash?: OtherVersion,
      ) {
        super(clash);
        this.deletedNodeIds = deletedIds.map((id) => nodeIdOf(entity.name, id));
      }
    },
  }[name]!;
  const shown = (field: string, id: string) =>
    Field(() => [ID], { description: `What their \`${id}\`s were; none if there are conflicts.` })(Deletions.prototype, field);
  shown('deletedIds', 'id');
  shown('deletedNodeIds', 'nodeId');
  showClashes(Deletions, entity, true);
  ObjectType(name, { description: 'Rows that were deleted, in the order in which they were named.', simpleResolvers: true })(Deletions);
  return Deletions;
}

export async function deleted(Payload: Deletion, remove: () => Promise<number[]>): Promise<object> {
  try {
    return new Payload(await remove());
  } catch (error) {
    if (error instanceof OtherVersion) return new Payload([], error);
    throw error;
  }
}
