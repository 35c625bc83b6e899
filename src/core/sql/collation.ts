/** By which rules an interface orders texts. */
import type { Context } from '../context';
import type { Entity, FieldMeta } from '../model/fields';
import { resourceOf } from '../model/registry';

export type Api = Context['api'];

/**
 * Texts of the catalogue stand where a reader looks for them, "Äpfel" beside "Apfel", by the collation of migration 0052. REST has them by
 * their bytes, as its clients know them, and so are texts that users write for themselves.
 */
export const collation = (entity: Entity, { kind }: Pick<FieldMeta, 'kind'>, api: Api): '' | ' COLLATE "reader"' =>
  api === 'graphql' && kind === 'string' && !resourceOf(entity)!.owned ? ' COLLATE "reader"' : '';
