/** Rows that a mutation updates or deletes: checks that they exist, are writable and have the expected row versions (optimistic locking). */
import type { Row } from '../../database/rows';
import { contributors, visible, writable } from '../access/access';
import { anyOf, binder, conditionOf, type Condition } from '../access/conditions';
import type { Context } from '../context';
import { forbidden, InvalidInput, noSuch, refuse } from '../model/errors';
import type { Entity } from '../model/fields';
import { invalidValue, mistake, MistakeCode, type InputMistake, type Path } from '../model/mistakes';
import { rowIdOf, wrongType } from '../model/node';
import { VERSION } from '../model/stamps';
import { columnsOf, select } from '../sql/select';
import { lockRows, type Strength, type Writing } from './store';

/** A row to be updated or deleted, as referenced in the input. */
export interface Named {
  id: string;
  /** Path of the id in the input. */
  at: Path;
  /** Expected version and its path in the input; absent: any version. */
  version?: { meant: string; at: Path };
}

const notFoundIssue = (entity: Entity, { id, at }: Named): InputMistake => ({
  path: at,
  ...noSuch(entity.name, id),
});

/** Parses the ids. Throws for invalid ids and for rows that occur twice. */
export function numbersOf(entity: Entity, references: readonly Named[]): number[] {
  const seenIds = new Set<number | undefined>();
  const mistakes: InputMistake[] = [];
  const ids = references.map((one) => {
    const { id, at: path } = one;
    const rowId = rowIdOf(entity.name, id);
    if (rowId === undefined) {
      const typeMessage = wrongType(entity.name, id);
      mistakes.push(typeMessage ? { path, ...invalidValue(typeMessage) } : notFoundIssue(entity, one));
    } else if (seenIds.has(rowId)) mistakes.push({ path, ...invalidValue(`The id ${rowId} is there more than once.`) });
    seenIds.add(rowId);
    return rowId!;
  });
  refuse(mistakes);
  return ids;
}

export const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id as number);

/** Throws NOT_FOUND issues for missing rows. */
export function demand(entity: Entity, references: readonly Named[], ids: readonly number[], found: Iterable<number>): void {
  const foundIds = new Set(found);
  refuse(references.filter((_, index) => !foundIds.has(ids[index]!)).map((one) => notFoundIssue(entity, one)));
}

/** Throws FORBIDDEN if the viewer can see a public row but not change it; NOT_FOUND would hide nothing. */
export async function permit(entity: Entity, references: readonly Named[], ids: readonly number[], context: Context): Promise<void> {
  if (!contributors(entity)) return;
  const findIds = async (conditions: readonly Condition[]) => {
    const { bind, values } = binder();
    const where = conditionOf([anyOf('id', ids), ...conditions], 't', bind);
    return idsOf(await context.session.query(select({ columns: columnsOf(entity, [], context.api), where }), values));
  };
  demand(entity, references, ids, await findIds(visible(entity, context)));
  if ((await findIds(writable(entity, context))).length < ids.length) throw forbidden();
}

const STALE_VERSION_ISSUE = mistake(MistakeCode.CONFLICT, 'The row has another version now.');

/** Throws for rows whose version has changed. The rows are locked, so the result holds until the transaction ends. */
function requireVersions(references: readonly Named[], ids: readonly number[], rows: readonly Row[]): void {
  const versions = new Map(rows.map((row) => [row.id as number, row[VERSION] as string]));
  const staleRows = references.flatMap(({ version }, index) => {
    const id = ids[index]!;
    return version && version.meant !== versions.get(id) ? [{ id, at: version.at }] : [];
  });
  if (staleRows.length)
    throw new InvalidInput(
      staleRows.map(({ at }) => ({ path: at, ...STALE_VERSION_ISSUE })),
      staleRows.map(({ id }) => id),
    );
}

export const meansVersions = (references: readonly Named[]): boolean => references.some(({ version }) => version);

/** Locks the rows and returns them with the given fields. Throws if any is missing or has an unexpected version. */
export async function hold(
  entity: Entity,
  references: readonly Named[],
  ids: readonly number[],
  strength: Strength,
  writing: Writing,
  fields: readonly string[] = [],
): Promise<Row[]> {
  const rows = await lockRows(entity, ids, strength, writing, meansVersions(references) ? [...fields, VERSION] : fields);
  demand(entity, references, ids, idsOf(rows));
  // On a version conflict the response includes the current rows, and not those that this request loaded before.
  writing.context.loaders.clear();
  requireVersions(references, ids, rows);
  return rows;
}
