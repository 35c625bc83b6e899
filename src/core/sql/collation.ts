/** Collation of strings in ORDER BY: Unicode rules for public strings in GraphQL, byte order otherwise. */
import type { TextOrder } from '../model/policies';
import type { Entity, EntityField } from '../model/fields';
import { resourceOf } from '../model/registry';

/** Returns the COLLATE clause of a field; empty if its values are sorted by their bytes, as are all strings in owned resources. */
export const collateClause = (
  entity: Entity,
  { kind }: Pick<EntityField, 'kind'>,
  textOrder: TextOrder,
): '' | ' COLLATE "reader"' =>
  textOrder === 'unicode' && kind === 'string' && !resourceOf(entity)!.isOwned
    ? ' COLLATE "reader"'
    : '';
