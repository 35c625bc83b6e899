/** Rows that a mutation names in order to change or delete them: whether they are there, may be written, and have the versions that are meant. */
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

/** A row to be changed or deleted, as it was named. */
export interface Named {
  id: string;
  /** Place of the id. */
  at: Path;
  /** The version that is meant, and its place; absent: whatever it is now. */
  version?: { meant: string; at: Path };
}

const notFound = (entity: Entity, { id, at }: Named): InputMistake => ({
  path: at,
  ...noSuch(entity.name, id),
});

/** The ids as numbers. Throws for what cannot be the id of such a row, and for rows that are named twice. */
export function numbersOf(entity: Entity, named: readonly Named[]): number[] {
  const seen = new Set<number | undefined>();
  const mistakes: InputMistake[] = [];
  const numbers = named.map((one) => {
    const { id, at: path } = one;
    const number = rowIdOf(entity.name, id);
    if (number === undefined) {
      const ofOther = wrongType(entity.name, id);
      mistakes.push(ofOther ? { path, ...invalidValue(ofOther) } : notFound(entity, one));
    } else if (seen.has(number)) mistakes.push({ path, ...invalidValue(`The id ${number} is there more than once.`) });
    seen.add(number);
    return number!;
  });
  refuse(mistakes);
  return numbers;
}

export const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id as number);

/** Throws for the rows that are not there. */
export function demand(entity: Entity, named: readonly Named[], numbers: readonly number[], found: Iterable<number>): void {
  const there = new Set(found);
  refuse(named.filter((_, index) => !there.has(numbers[index]!)).map((one) => notFound(entity, one)));
}

/** Of what everybody sees, a row that the viewer may not write is no secret: FORBIDDEN instead of NOT_FOUND. */
export async function permit(entity: Entity, named: readonly Named[], ids: readonly number[], context: Context): Promise<void> {
  if (!contributors(entity)) return;
  const found = async (conditions: readonly Condition[]) => {
    const { bind, values } = binder();
    const where = conditionOf([anyOf('id', ids), ...conditions], 't', bind);
    return idsOf(await context.session.query(select({ columns: columnsOf(entity, [], context.api), where }), values));
  };
  demand(entity, named, ids, await found(visible(entity, context)));
  if ((await found(writable(entity, context))).length < ids.length) throw forbidden();
}

const OTHER_VERSION = mistake(MistakeCode.CONFLICT, 'The row has another version now.');

/** Throws for the rows that have other versions now. They are locked, so that it stays true until the transaction ends. */
function demandVersions(named: readonly Named[], numbers: readonly number[], rows: readonly Row[]): void {
  const versions = new Map(rows.map((row) => [row.id as number, row[VERSION] as string]));
  const other = named.flatMap(({ version }, index) => {
    const id = numbers[index]!;
    return version && version.meant !== versions.get(id) ? [{ id, at: version.at }] : [];
  });
  if (other.length)
    throw new InvalidInput(
      other.map(({ at }) => ({ path: at, ...OTHER_VERSION })),
      other.map(({ id }) => id),
    );
}

export const meansVersions = (named: readonly Named[]): boolean => named.some(({ version }) => version);

/** Locks the rows, which must all be there and have the versions that are meant. Answers them with these fields. */
export async function hold(
  entity: Entity,
  named: readonly Named[],
  ids: readonly number[],
  strength: Strength,
  writing: Writing,
  fields: readonly string[] = [],
): Promise<Row[]> {
  const rows = await lockRows(entity, ids, strength, writing, meansVersions(named) ? [...fields, VERSION] : fields);
  demand(entity, named, ids, idsOf(rows));
  // Whoever means another version is shown the rows as they are, not as this request read them before.
  writing.context.loaders.clear();
  demandVersions(named, ids, rows);
  return rows;
}
