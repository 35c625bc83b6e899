/** Creates, updates and deletes rows, alone, as trees or in bulk, in one transaction and with a number of statements independent of the rows. */
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

/** Creates rows with their child rows and returns them without the child rows. */
export async function createRows(entity: Entity, inputs: readonly Placed[], argument: string, context: Context): Promise<Stored[]> {
  ownership(entity, context);
  if (inputs.length === 0) return [];
  limitRows(
    inputs.reduce((count, { input }) => count + rowsIn(entity, input), 0),
    argument,
  );
  const drafts = inputs.flatMap(({ input, path }) => draftsOf(entity, input, path));
  const draftsWithId = drafts.filter(({ above, whole }) => above && whole!.id != null);
  refuse(draftsWithId.map(({ path }) => ({ path: [...path, 'id'], ...invalidValue('A new row has no id yet.') })));
  const trustKeys = drafts.length === 1 && !hasPreWriteHooks(entity);
  const storedByDraft = await attempted(context, async (first) => {
    await validate(drafts, context, first && trustKeys);
    return insertDrafts(drafts, context);
  });
  context.loaders.clear();
  const rows = drafts.filter(({ above }) => !above).map((draft) => storedByDraft.get(draft)!);
  // Creating child rows may have changed the parent row, so only its id is returned.
  return drafts.length === 1 ? rows : rows.map(identified);
}

export const begin = async (entity: Entity, rows: readonly Begun[], { context, transaction }: Writing): Promise<void> =>
  hooksOf(entity).begin?.(rows, context, transaction);

/** A row whose hooks have run and may have to be undone. */
export interface Prepared {
  entity: Entity;
  values: Values;
}

/** Runs `work` in a transaction. If the transaction fails, side effects of hooks outside of the database are undone. */
export async function inTransaction<T>(
  entity: Entity,
  preparedRows: readonly Prepared[],
  context: Context,
  work: (writing: Writing) => Promise<T>,
): Promise<T> {
  const undo = async () => {
    for (const { entity, values } of preparedRows) await hooksOf(entity).undo?.(values, context);
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
  const storedByDraft = new Map<Draft, Stored>();
  const preparedRows: Prepared[] = [];
  await inTransaction(drafts[0]!.entity, preparedRows, context, async (writing) => {
    const levels = levelsOf(drafts);
    for (const level of levels) await begin(level[0]!.entity, level, writing);
    for (const level of levels) await insertLevel(level, storedByDraft, preparedRows, writing);
  });
  return storedByDraft;
}

/** Inserts new rows of one entity whose parent rows are in `storedByDraft`, and adds the inserted rows to it. */
export async function insertLevel(
  level: readonly Draft[],
  storedByDraft: Map<Draft, Stored>,
  preparedRows: Prepared[],
  writing: Writing,
): Promise<void> {
  const { entity } = level[0]!;
  const { context, transaction } = writing;
  const hooks = hooksOf(entity);
  const rows: Values[] = [];
  for (const { input, above } of level) {
    const values = withDefaults(entity, input, context);
    if (above) values[above.by] = storedByDraft.get(above.draft)!.id;
    hooks.complete?.(values, context);
    preparedRows.push({ entity, values });
    await hooks.before?.(values, context, transaction);
    rows.push(values);
  }
  const insertedRows = await insertRows(entity, rows, writing);
  level.forEach((draft, index) => storedByDraft.set(draft, insertedRows[index]!));
  const writtenRows = rows.map((values, index): Written => ({ id: insertedRows[index]!.id, values }));
  await writeLinks(entity, writtenRows, false, writing);
  await hooks.after?.(writtenRows, context, transaction);
}

/** Updates existing rows of one entity and returns those written; see `updateRows` for `onlyChanged`. */
export async function updateLevel(
  entity: Entity,
  rows: readonly Written[],
  preparedRows: Prepared[],
  writing: Writing,
  onlyChanged = false,
): Promise<Stored[]> {
  const { context, transaction } = writing;
  const hooks = hooksOf(entity);
  for (const { id, values } of rows) {
    hooks.complete?.(values, context, id);
    preparedRows.push({ entity, values });
    await hooks.before?.(values, context, transaction, id);
  }
  const updatedRows = await updateRows(entity, rows, writing, onlyChanged);
  await writeLinks(entity, rows, true, writing);
  await hooks.after?.(rows, context, transaction);
  return updatedRows;
}

export interface Change extends Placed, Named {}

/** Updates rows and returns them in the order of the changes. */
export async function changeRows(entity: Entity, changes: readonly Change[], argument: string, context: Context): Promise<Stored[]> {
  ownership(entity, context);
  limitRows(changes.length, argument);
  const ids = numbersOf(entity, changes);
  if (ids.length === 0) return [];
  const drafts = changes.map(({ input, path }, index) => changeOf(entity, ids[index]!, input, path));
  const fieldsOfRules = ruledFields(entity, drafts, context);
  const comparedNames = [...comparedFields(entity, drafts), ...fieldsOfRules];
  await permit(entity, changes, ids, context);
  // Reads the rows first, unless a plain update is all that happens, which reports missing rows itself.
  const readsFirst = comparedNames.length > 0 || !isPlainUpdate(entity, drafts);
  // A single row needs a lock only if links are replaced, which takes several statements, or if rules or versions must hold for its current values.
  const locksFirst = ids.length > 1 || fieldsOfRules.length > 0 || writesLinks(entity, drafts) || meansVersions(changes);
  const storedRows = await attempted(context, async (first) => {
    const readCurrentRows = async () => {
      const currentRows = await readWritableRows(entity, ids, comparedNames, context);
      demand(entity, changes, ids, currentRows.keys());
      for (const draft of drafts) draft.held = currentRows.get(draft.id!);
    };
    if (readsFirst) await readCurrentRows();
    await validate(drafts, context, first && !readsFirst && !locksFirst).catch(async (error) => {
      if (!readsFirst) await readCurrentRows();
      throw error;
    });
    const preparedRows: Prepared[] = [];
    return inTransaction(entity, preparedRows, context, async (writing) => {
      await begin(entity, drafts, writing);
      if (locksFirst) {
        const rows = await hold(entity, changes, ids, 'NO_KEY_UPDATE', writing, fieldsOfRules);
        await validateAgain(overtaken(drafts, rows, fieldsOfRules), context);
      }
      const rows = drafts.map(({ id, input }): Written => ({ id: id!, values: { ...input } }));
      const updatedRows = await updateLevel(entity, rows, preparedRows, writing);
      demand(entity, changes, ids, idsOf(updatedRows));
      return updatedRows;
    });
  });
  context.loaders.clear();
  return ids.length === 1 ? storedRows : ids.map((id) => ({ id }));
}

/** Unique fields whose current values are needed, because a change sets only some of them. */
function comparedFields(entity: Entity, drafts: readonly Draft[]): string[] {
  const names = uniqueFields(entity).map(({ name }) => name);
  const isPartial = ({ input }: Draft) => names.some((name) => name in input) && !names.every((name) => name in input);
  return drafts.some(isPartial) ? names : [];
}

/** Whether hooks of the resource run before rows are written. */
const hasPreWriteHooks = (entity: Entity): boolean => {
  const { begin, before } = hooksOf(entity);
  return Boolean(begin ?? before);
};

/** Whether the write consists of an update of the rows' own columns only. */
const isPlainUpdate = (entity: Entity, drafts: readonly Draft[]): boolean =>
  !hasPreWriteHooks(entity) && !writesLinks(entity, drafts) && drafts.every(({ input }) => writesColumns(entity, input));

/** Reads the given fields of those rows that the viewer may write. */
async function readWritableRows(entity: Entity, ids: readonly number[], fields: readonly string[], context: Context) {
  const { bind, values } = binder();
  const columns = columnsOf(entity, fields, context.api);
  const where = conditionOf([anyOf('id', ids), ...writable(entity, context)], 't', bind);
  const rows = await context.session.query(select({ columns, where }), values);
  return new Map(rows.map((row) => [row.id as number, row]));
}

/** Deletes rows and returns their ids. */
export async function removeRows(entity: Entity, references: readonly Named[], argument: string, context: Context): Promise<number[]> {
  ownership(entity, context);
  limitRows(references.length, argument);
  const ids = numbersOf(entity, references);
  if (ids.length === 0) return [];
  await permit(entity, references, ids, context);
  await attempted(context, () =>
    context.session.transaction(async (transaction) => {
      const writing: Writing = { context, transaction };
      await begin(
        entity,
        ids.map((id) => ({ id })),
        writing,
      );
      if (ids.length > 1 || meansVersions(references)) await hold(entity, references, ids, 'UPDATE', writing);
      // Several rows are locked and therefore exist; a single one may be missing.
      if ((await deleteRows(entity, ids, writing)) < ids.length) demand(entity, references, ids, []);
    }, resourceOf(entity)!.table),
  );
  context.loaders.clear();
  return ids;
}
