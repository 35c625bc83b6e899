/** Collation of strings in ORDER BY, which differs between the interfaces. */
import type { TextOrder } from '../model/policies';
import type { Entity, EntityField } from '../model/fields';
import { resourceOf } from '../model/registry';

/** Returns the COLLATE clause of a field; empty if it is sorted by its bytes, as all strings in owned resources are. */
export const collateClause = (entity: Entity, { kind }: Pick<EntityField, 'kind'>, textOrder: TextOrder): '' | ' COLLATE "reader"' =>
  textOrder === 'unicode' && kind === 'string' && !resourceOf(entity)!.isOwned ? ' COLLATE "reader"' : '';
