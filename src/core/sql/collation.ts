/** Collation of texts in ORDER BY, which differs between the APIs. */
import type { Context } from '../context';
import type { Entity, FieldMeta } from '../model/fields';
import { resourceOf } from '../model/registry';

export type Api = Context['api'];

/**
 * GraphQL sorts texts of public resources by Unicode rules ("Äpfel" next to "Apfel", migration 0052). REST, as its clients expect, and owned
 * resources in both APIs sort texts by their bytes.
 */
export const collateClause = (entity: Entity, { kind }: Pick<FieldMeta, 'kind'>, api: Api): '' | ' COLLATE "reader"' =>
  api === 'graphql' && kind === 'string' && !resourceOf(entity)!.owned ? ' COLLATE "reader"' : '';
