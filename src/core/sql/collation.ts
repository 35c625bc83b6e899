/** Collation of texts in ORDER BY, which differs between the interfaces. */
import type { TextOrder } from '../model/policies';
import type { Entity, FieldMeta } from '../model/fields';
import { resourceOf } from '../model/registry';

/** The collation of a field. Texts of owned resources are always sorted by their bytes. */
export const collateClause = (entity: Entity, { kind }: Pick<FieldMeta, 'kind'>, textOrder: TextOrder): '' | ' COLLATE "reader"' =>
  textOrder === 'unicode' && kind === 'string' && !resourceOf(entity)!.owned ? ' COLLATE "reader"' : '';
