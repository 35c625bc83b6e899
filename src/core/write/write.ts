/**
 * Making, changing and deleting rows: one, a tree or many, all in one transaction and with a number of statements that does not grow
 * with the rows.
 */
import { ownership, writable } from '../access/access';
import { anyOf, binder, conditionOf } from '../access/conditions';
import type { Context } from '../context';
import { attempted } from './attempts';
import { changeOf, draftsOf, levelsOf, limitRows, rowsIn, withDefaults, type Draft } from './drafts';
import { refuse } from '../model/errors';
import type { Entity } from '../model/fields';
import { hooksOf, type Begun, type Written } from '../model/hooks';
import { invalidValue, type Path } from '../model/mistakes';
import { columnsOf, select } from '../sql/select';
import { deleteRows, identified, insertRows, updateRows, writeLinks, writesColumns, writesLinks, type Stored, type Writing } from './store';
import { resourceOf } from '../model/registry';
import { overtaken, ruledFields } from './rules';
import { demand, hold, idsOf, meansVersions, numbersOf, permit, type Named } from './named';
import { uniqueFields } from './unique';
import { validate, validateAgain } from './validation';
import type { Values } from '../model/hooks';

export interface Placed {
  input: Values;
  path: Path;
}

/** Answers the rows, without what was made below them. */
export async function createRows(entity: Entity, inputs: readonly Placed[], argument: string, context: Context): Promise<Stored[]> {
  ownership(entity, context);
  if (inputs.length === 0) return [];
  limitRows(
    inputs.reduce((count, { input }) => count + rowsIn(entity, input), 0),
    argument,
  );
  const drafts = inputs.flatMap(({ input, path }) => draftsOf(entity, input, path));
  const named = drafts.filter(({ above, whole }) => above && whole!.id != null);
  refuse(named.map(({ path }) => ({ path: [...path, 'id'], ...invalidValue('A new row has no id yet.') })));
  const trusting = drafts.length === 1 && !actsFirst(entity);
  const made = await attempted(context, async (first) => {
    await validate(drafts, context, first && trusting);
    return insertDrafts(drafts, context);
  });
  context.loaders.clear();
  const rows = drafts.filter(({ above }) => !above).map((draft) => made.get(draft)!);
  // What was made below a row may have changed it.
  return drafts.length === 1 ? rows : rows.map(identified);
}

export const begin = async (entity: Entity, rows: readonly Begun[], { context, transaction }: Writing): Promise<void> =>
  hooksOf(entity).begin?.(rows, context, transaction);

/** A row whose hooks have run before it was written. */
export interface Prepared {
  entity: Entity;
  values: Values;
}

/** What hooks did outside of the database goes when the transaction fails. */
export async function inTransaction<T>(
  entity: Entity,
  prepared: readonly Prepared[],
  context: Context,
  work: (writing: Writing) => Promise<T>,
): Promise<T> {
  const undo = async () => {
    for (const { entity, values } of prepared) await hooksOf(entity).undo?.(values, context);
  };
  try {
    const result = await context.session.transaction((transaction) => work({ context, transaction }), resourceOf(entity)!.table);
    context.session.undoing(undo);
    return result;
  } catch (error) {
    await undo();
    throw error;
  }
}

async function insertDrafts(drafts: readonly Draft[], context: Context): Promise<Map<Draft, Stored>> {
  const stored = new Map<Draft, Stored>();
  const prepared: Prepared[] = [];
  await inTransaction(drafts[0]!.entity, prepared, context, async (writing) => {
    const levels = levelsOf(drafts);
    for (const level of levels) await begin(level[0]!.entity, level, writing);
    for (const level of levels) await insertLevel(level, stored, prepared, writing);
  });
  return stored;
}

/** Makes new rows of one type, below rows that are `stored` already, and notes what was stored of them. */
export async function insertLevel(
  level: readonly Draft[],
  stored: Map<Draft, Stored>,
  prepared: Prepared[],
  writing: Writing,
): Promise<void> {
  const { entity } = level[0]!;
  const { context, transaction } = writing;
  const hooks = hooksOf(entity);
  const rows: Values[] = [];
  for (const { input, above } of level) {
    const values = withDefaults(entity, input, context);
    if (above) values[above.by] = stored.get(above.draft)!.id;
    hooks.complete?.(values, context);
    prepared.push({ entity, values });
    await hooks.before?.(values, context, transaction);
    rows.push(values);
  }
  const made = await insertRows(entity, rows, writing);
  level.forEach((draft, index) => stored.set(draft, made[index]!));
  const written = rows.map((values, index): Written => ({ id: made[index]!.id, values }));
  await writeLinks(entity, written, false, writing);
  await hooks.after?.(written, context, transaction);
}

/** Changes rows of one type that are there. Answers those that it has written; see `updateRows`. */
export async function updateLevel(
  entity: Entity,
  rows: readonly Written[],
  prepared: Prepared[],
  writing: Writing,
  onlyChanged = false,
): Promise<Stored[]> {
  const { context, transaction } = writing;
  const hooks = hooksOf(entity);
  for (const { id, values } of rows) {
    hooks.complete?.(values, context, id);
    prepared.push({ entity, values });
    await hooks.before?.(values, context, transaction, id);
  }
  const changed = await updateRows(entity, rows, writing, onlyChanged);
  await writeLinks(entity, rows, true, writing);
  await hooks.after?.(rows, context, transaction);
  return changed;
}

export interface Change extends Placed, Named {}

/** Answers the rows, in the order of the changes. */
export async function changeRows(entity: Entity, changes: readonly Change[], argument: string, context: Context): Promise<Stored[]> {
  ownership(entity, context);
  limitRows(changes.length, argument);
  const ids = numbersOf(entity, changes);
  if (ids.length === 0) return [];
  const drafts = changes.map(({ input, path }, index) => changeOf(entity, ids[index]!, input, path));
  const ruled = ruledFields(entity, drafts, context);
  const compared = [...comparedFields(entity, drafts), ...ruled];
  await permit(entity, changes, ids, context);
  // Else the update tells whether the rows are there, and before it nothing happens.
  const looks = compared.length > 0 || !isPlain(entity, drafts);
  // One row alone cannot be locked in a wrong order, but its links are replaced one write after the other, and rules hold for what it holds now.
  const holds = ids.length > 1 || ruled.length > 0 || writesLinks(entity, drafts) || meansVersions(changes);
  const stored = await attempted(context, async (first) => {
    const look = async () => {
      const held = await heldRows(entity, ids, compared, context);
      demand(entity, changes, ids, held.keys());
      for (const draft of drafts) draft.held = held.get(draft.id!);
    };
    if (looks) await look();
    await validate(drafts, context, first && !looks && !holds).catch(async (error) => {
      if (!looks) await look();
      throw error;
    });
    const prepared: Prepared[] = [];
    return inTransaction(entity, prepared, context, async (writing) => {
      await begin(entity, drafts, writing);
      if (holds) {
        const rows = await hold(entity, changes, ids, 'NO_KEY_UPDATE', writing, ruled);
        await validateAgain(overtaken(drafts, rows, ruled), context);
      }
      const rows = drafts.map(({ id, input }): Written => ({ id: id!, values: { ...input } }));
      const changed = await updateLevel(entity, rows, prepared, writing);
      demand(entity, changes, ids, idsOf(changed));
      return changed;
    });
  });
  context.loaders.clear();
  return ids.length === 1 ? stored : ids.map((id) => ({ id }));
}

/** What rows hold now matters where a change says only a part of what must be unique. */
function comparedFields(entity: Entity, drafts: readonly Draft[]): string[] {
  const names = uniqueFields(entity).map(({ name }) => name);
  const isPart = ({ input }: Draft) => names.some((name) => name in input) && !names.every((name) => name in input);
  return drafts.some(isPart) ? names : [];
}

/** Whether a resource does anything of its own before rows are written. */
const actsFirst = (entity: Entity): boolean => {
  const { begin, before } = hooksOf(entity);
  return Boolean(begin ?? before);
};

/** Whether the rows are updated and nothing is done beside that. */
const isPlain = (entity: Entity, drafts: readonly Draft[]): boolean =>
  !actsFirst(entity) && !writesLinks(entity, drafts) && drafts.every(({ input }) => writesColumns(entity, input));

/** Of these rows those that are the viewer's, with these fields. */
async function heldRows(entity: Entity, ids: readonly number[], fields: readonly string[], context: Context) {
  const { bind, values } = binder();
  const columns = columnsOf(entity, fields, context.api);
  const where = conditionOf([anyOf('id', ids), ...writable(entity, context)], 't', bind);
  const rows = await context.session.query(select({ columns, where }), values);
  return new Map(rows.map((row) => [row.id as number, row]));
}

/** Answers the ids. */
export async function removeRows(entity: Entity, named: readonly Named[], argument: string, context: Context): Promise<number[]> {
  ownership(entity, context);
  limitRows(named.length, argument);
  const ids = numbersOf(entity, named);
  if (ids.length === 0) return [];
  await permit(entity, named, ids, context);
  await attempted(context, () =>
    context.session.transaction(async (transaction) => {
      const writing: Writing = { context, transaction };
      await begin(
        entity,
        ids.map((id) => ({ id })),
        writing,
      );
      if (ids.length > 1 || meansVersions(named)) await hold(entity, named, ids, 'UPDATE', writing);
      // Of several all are held.
      if ((await deleteRows(entity, ids, writing)) < ids.length) demand(entity, named, ids, []);
    }, resourceOf(entity)!.table),
  );
  context.loaders.clear();
  return ids;
}
