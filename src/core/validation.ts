/** What must hold before a write: limits of every value, parents that are the viewer's, references that exist. */
import type { ValidationError } from 'sequelize';
import { scope } from './access';
import { anyOf, binder, whereOf } from './conditions';
import type { Context } from './context';
import { foreignParent, InvalidValues, WHOLE, type FieldErrors } from './errors';
import { fieldOf, fieldsOf, type Entity, type FieldMeta } from './fields';
import { parseId } from './ids';
import { from } from './plan';
import { resourceOf } from './resource';

export type Values = Record<string, unknown>;

/** Of these ids, those that a row of the viewer may refer to: any row of a public resource, one's own of an owned one. */
export async function knownIds(entity: Entity, ids: readonly unknown[], context: Context): Promise<number[]> {
  const numbers = [...new Set(ids.map(parseId).filter((id): id is number => id !== undefined))];
  const conditions = scope(entity, context);
  if (numbers.length === 0) return [];
  if (resourceOf(entity)!.inMemory) return numbers.filter((id) => context.reference.get(entity, id) !== null);
  const { bind, values } = binder();
  const rows = await context.session.query(
    `SELECT t."id" ${from(entity)}${whereOf([anyOf('id', numbers), ...conditions], 't', bind)}`,
    values,
  );
  return rows.map((row) => row.id as number);
}

/** Throws what is wrong with the input of a write; `required` is false for an update. */
export async function validate(entity: Entity, input: Values, required: boolean, context: Context): Promise<void> {
  const errors: FieldErrors = {};
  const add = (field: FieldMeta, messages: string[]) => {
    if (messages.length) errors[field.name] = [...(errors[field.name] ?? []), ...messages];
  };
  const lookups: Promise<void>[] = [];
  for (const field of fieldsOf(entity)) {
    if (field.readOnly) continue;
    const value = input[field.name];
    if (value === undefined) {
      if (required && !field.null && !field.hasDefault && !field.blank) add(field, ['This field is required.']);
    } else if (value === null) {
      if (!field.null) add(field, ['This field may not be null.']);
    } else if (field.relation) {
      lookups.push(checkReference(field, value, context, (messages) => add(field, messages)));
    } else {
      const messages = field.check(value);
      add(field, messages);
      if (!messages.length && field.inspect) lookups.push(field.inspect(value).then((further) => add(field, further)));
    }
  }
  await Promise.all(lookups);
  if (Object.keys(errors).length) throw new InvalidValues(inOrder(entity, errors));
}

async function checkReference(field: FieldMeta, value: unknown, context: Context, add: (messages: string[]) => void): Promise<void> {
  const ids = Array.isArray(value) ? value : [value];
  if (ids.length === 0) return add(['This list may not be empty.']);
  const known = await knownIds(field.target!(), ids, context);
  const missing = ids.find((id) => !known.includes(Number(id)));
  if (missing === undefined) return;
  if (field.relation!.owned) throw foreignParent();
  add([`Invalid pk "${missing}" - object does not exist.`]);
}

const inOrder = (entity: Entity, errors: FieldErrors): FieldErrors =>
  Object.fromEntries(
    fieldsOf(entity)
      .filter((field) => errors[field.name])
      .map((field) => [field.name, errors[field.name]!]),
  );

/** What the database refused, as the errors that the caller can mend. Anything else is thrown on as it is. */
export function refused(entity: Entity, error: unknown): never {
  const name = (error as ValidationError)?.name;
  if (name === 'SequelizeUniqueConstraintError') {
    const names = (resourceOf(entity)!.unique ?? []).map((field) => fieldOf(entity, field).rest).sort();
    throw new InvalidValues({ [WHOLE]: [`The fields ${names.join(', ')} must make a unique set.`] });
  }
  // The parent was deleted between its check and the write.
  if (name === 'SequelizeForeignKeyConstraintError') throw foreignParent();
  throw error;
}
