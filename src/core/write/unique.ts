/** Which rows of a write would be a second one where there may be one only, such as two weights of a day. */
import { scope } from '../access/access';
import { OWNER } from '../model/registry';
import { binder, whereOf } from '../access/conditions';
import type { Context } from '../context';
import { withDefaults, type Draft } from './drafts';
import { fieldOf, sqlType, type Entity, type FieldMeta } from '../model/fields';
import { from } from '../sql/expressions';
import { resourceOf } from '../model/registry';

/** The fields whose values must differ among the rows of one owner. */
export const uniqueFields = (entity: Entity): FieldMeta[] =>
  (resourceOf(entity)!.unique ?? []).filter((name) => name !== OWNER.field).map((name) => fieldOf(entity, name));

/** Django REST framework's message. It names only fields that the API of the request shows, by their names in that API. */
export function uniqueMessage(entity: Entity, api: Context['api']): string {
  const isVisible = ({ hidden, only = api }: FieldMeta) => only === api && !(api === 'rest' && hidden);
  const nameIn = ({ rest, object, name }: FieldMeta) => (api === 'rest' ? rest : (object ?? name));
  const fields = (resourceOf(entity)!.unique ?? []).map((name) => fieldOf(entity, name)).filter(isVisible);
  const names = fields.map(nameIn).sort();
  return names.length === 1 ? `The field ${names[0]} must be unique.` : `The fields ${names.join(', ')} must make a unique set.`;
}

/** The rows of one type that would be doubles, each with the id of the stored row that is in its way; undefined for another row of the same write. */
export async function clashing(entity: Entity, drafts: readonly Draft[], context: Context): Promise<Map<Draft, number | undefined>> {
  const fields = uniqueFields(entity);
  const clashes = new Map<Draft, number | undefined>();
  const keys = new Map<string, Draft>();
  const rows: { draft: Draft; key: unknown[] }[] = [];
  for (const draft of drafts) {
    if (draft.id !== undefined && !fields.some(({ name }) => name in draft.input)) continue;
    const values = draft.id === undefined ? withDefaults(entity, draft.input, context) : { ...draft.held, ...draft.input };
    const key = fields.map(({ name }) => values[name]);
    // Without all of its values a row is no one's double, or wrong for another reason.
    if (key.some((value) => value == null)) continue;
    const text = JSON.stringify(key);
    if (keys.has(text)) clashes.set(draft, undefined);
    else keys.set(text, draft);
    rows.push({ draft, key });
  }
  if (rows.length === 0) return clashes;
  const { bind, values } = binder();
  const lists = fields.map((field, index) => `${bind(rows.map(({ key }) => key[index]))}::${sqlType(field)}[]`);
  const columns = fields.map(({ column }) => `"${column}"`);
  const same = columns.map((column) => `t.${column} = k.${column}`).join(' AND ');
  // What the rows of this write hold now does not matter: it is about to change.
  const others = (alias: string) => `${alias}."id" <> ALL(${bind(rows.flatMap(({ draft }) => draft.id ?? []))}::int[])`;
  const found = await context.session.query(
    `SELECT k."place", t."id" ${from(entity)} JOIN unnest(${lists.join(', ')}) WITH ORDINALITY AS k(${columns.join(', ')}, "place") ON ${same}${whereOf([...scope(entity, context), others], 't', bind)}`,
    values,
  );
  for (const { place, id } of found) clashes.set(rows[place - 1]!.draft, id as number);
  return clashes;
}
