/**
 * Saving a row with its parts, such as a plan with its meals: of a list that is given, rows with an id are changed, others are made, and those
 * that it leaves out are deleted. Rows that change in nothing are not written. All of it is one transaction, with a number of statements that does not grow with the rows.
 */
import type { Row } from '../../database/rows';
import { ownership } from '../access/access';
import type { Context } from '../context';
import { fieldsOf, partsOf, type ChildMeta, type Entity } from '../model/fields';
import type { Values } from '../model/hooks';
import { attempted } from './attempts';
import { draftsOf, levelsOf, limitRows, rowsIn, type Draft } from './drafts';
import { ruledFields } from './rules';
import { deleteRows, lockParts, type Stored, type Writing } from './store';
import { validate } from './validation';
import { demand, hold, numbersOf } from './named';
import { begin, insertLevel, inTransaction, updateLevel, type Change, type Prepared } from './write';

export const hasParts = (entity: Entity, input: Values): boolean => partsOf(entity).some(({ name }) => input[name] != null);

/** A stored part, and the row that it is part of. */
interface Part {
  readonly entity: Entity;
  readonly child: ChildMeta;
  readonly row: Row;
  readonly above: { readonly entity: Entity; readonly id: number };
}

/** Names of the fields that are sets of ids, kept in tables of their own. */
const linksOf = (entity: Entity): string[] => fieldsOf(entity).flatMap(({ name, link, readOnly }) => (link && !readOnly ? [name] : []));

const keyOf = ({ name }: Entity, id: unknown): string => `${name} ${String(id)}`;

/** Answers the row, without its parts. */
export async function saveTree(entity: Entity, change: Change, argument: string, context: Context): Promise<Stored> {
  ownership(entity, context);
  limitRows(rowsIn(entity, change.input), argument);
  const [id] = numbersOf(entity, [change]) as [number];
  await attempted(context, () => {
    const prepared: Prepared[] = [];
    return inTransaction(entity, prepared, context, (writing) => save(entity, id, change, prepared, writing));
  });
  context.loaders.clear();
  return { id };
}

async function save(entity: Entity, id: number, change: Change, prepared: Prepared[], writing: Writing): Promise<void> {
  const { context } = writing;
  const drafts = draftsOf(entity, change.input, change.path);
  const root = drafts[0]!;
  root.id = id;
  const levels = levelsOf(drafts);
  for (const level of levels) await begin(level[0]!.entity, level, writing);
  [root.held] = await hold(entity, [change], [id], 'UPDATE', writing, [...ruledFields(entity, [root], context), ...linksOf(entity)]);
  const parts = await partsBelow(entity, [id], drafts, writing);
  findStored(drafts, parts);
  await validate(drafts, context);
  const stored = new Map<Draft, Stored>();
  for (const level of levels) await writeLevel(level, stored, prepared, writing);
  for (const [target, ids] of leftOut(drafts, parts)) await deleteRows(target, ids, writing);
}

/** Locks all parts of rows that are locked, from the top: until the transaction ends no other write changes or deletes any, or adds more. */
async function partsBelow(entity: Entity, ids: readonly number[], drafts: readonly Draft[], writing: Writing): Promise<Part[]> {
  const found: Part[] = [];
  for (const child of ids.length ? partsOf(entity) : []) {
    const target = child.target();
    const ruled = ruledFields(
      target,
      drafts.filter((draft) => draft.entity === target),
      writing.context,
    );
    const rows = await lockParts(child, ids, writing, [...ruled, ...linksOf(target)]);
    const below = await partsBelow(
      target,
      rows.map((row) => row.id as number),
      drafts,
      writing,
    );
    found.push(...rows.map((row): Part => ({ entity: target, child, row, above: { entity, id: row[child.by] as number } })), ...below);
  }
  return found;
}

/** Finds the stored parts that the input names; throws for ids of other rows. */
function findStored(drafts: readonly Draft[], parts: readonly Part[]): void {
  const rows = new Map(parts.map(({ entity, row }) => [keyOf(entity, row.id), row]));
  for (const entity of new Set(drafts.map((draft) => draft.entity))) {
    const named = drafts.filter((draft) => draft.entity === entity && draft.above && draft.whole!.id != null);
    const names = named.map(({ path, whole }) => ({ id: whole!.id as string, at: [...path, 'id'] }));
    const ids = numbersOf(entity, names);
    const there = parts.filter((part) => part.entity === entity).map(({ row }) => row.id as number);
    demand(entity, names, ids, there);
    named.forEach((draft, index) => {
      draft.id = ids[index]!;
      draft.held = rows.get(keyOf(entity, draft.id));
    });
  }
}

/** Without the sets of ids that the row has already. */
function withoutSameLinks(entity: Entity, input: Values, held: Row | undefined): Values {
  const isSame = (name: string) => {
    const ids = (list: unknown) => (list as unknown[]).map(Number).sort((a, b) => a - b);
    return ids(input[name]).join() === ids(held?.[name] ?? []).join();
  };
  const same = linksOf(entity).filter((name) => input[name] !== undefined && isSame(name));
  return Object.fromEntries(Object.entries(input).filter(([name]) => !same.includes(name)));
}

/** Rows of one type: those that are there may have moved to another row of the tree. */
async function writeLevel(level: readonly Draft[], stored: Map<Draft, Stored>, prepared: Prepared[], writing: Writing): Promise<void> {
  const made = level.filter(({ id }) => id === undefined);
  if (made.length) await insertLevel(made, stored, prepared, writing);
  const changed = level.flatMap((draft) => {
    const { id, input, held, above } = draft;
    if (id === undefined) return [];
    stored.set(draft, { id });
    const values = withoutSameLinks(draft.entity, input, held);
    return [{ id, values: { ...values, ...(above && { [above.by]: stored.get(above.draft)!.id }) } }];
  });
  if (changed.length) await updateLevel(level[0]!.entity, changed, prepared, writing, true);
}

/** The stored parts that a given list does not name, by type. What is below them goes with them. */
function leftOut(drafts: readonly Draft[], parts: readonly Part[]): Map<Entity, number[]> {
  const written = new Map(drafts.map((draft) => [keyOf(draft.entity, draft.id), draft]));
  const removed = new Map<Entity, number[]>();
  for (const { entity, child, row, above } of parts) {
    const list = written.get(keyOf(above.entity, above.id))?.whole?.[child.name];
    if (list == null || written.has(keyOf(entity, row.id))) continue;
    removed.set(entity, [...(removed.get(entity) ?? []), row.id as number]);
  }
  return removed;
}
