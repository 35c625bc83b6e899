/** Drafts: the rows of a mutation before they are written, each with its path in the input. Trees of rows are flattened, parents before children. */
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { invalidArgumentError } from '../model/errors';
import {
  childRowsFieldsOf,
  fieldOf,
  fieldsOf,
  type ChildRowsField,
  type Entity,
  type EntityField,
} from '../model/fields';
import { MAX_ROWS_PER_MUTATION } from '../model/fieldvalidation';
import type { InputPath } from '../model/validationissues';
import { resolveRowId } from '../model/node';
import { resourceOf } from '../model/registry';
import type { FieldValues } from '../model/hooks';

export interface RowDraft {
  readonly entity: Entity;
  readonly path: InputPath;
  /** The values to write, without child rows. */
  readonly input: FieldValues;
  /** Id of an existing row; absent for a new one. */
  id?: number;
  /** Complete input of the row, with its child rows. If the row is an existing part of its parent row, the input contains its `id`. */
  readonly inputWithChildRows?: FieldValues;
  /** Draft of the parent row, if it is written by the same mutation, and the field that references it. */
  readonly parent?: { readonly draft: RowDraft; readonly referenceFieldName: string };
  /** Number of ancestors of the row in the input. */
  readonly depth: number;
  /** Stored values of an existing row in the fields that the write compares. */
  currentValues?: Row;
}

/** Returns the child relations whose rows can be created together with their parent row: owned child rows that reference the parent row by its id. */
export const creatableChildFields = (entity: Entity): readonly ChildRowsField[] =>
  childRowsFieldsOf(entity).filter(({ target, referenceFieldName, keyFieldName, readOnly }) => {
    const { isOwned, metadata } = resourceOf(target())!;
    return (
      isOwned &&
      !readOnly &&
      metadata.createMutationName !== undefined &&
      keyFieldName === 'id' &&
      !fieldOf(target(), referenceFieldName).readOnly
    );
  });

/** Replaces global ids (`nodeId`) in a reference by numeric ids. Invalid ids remain unchanged, so that validation reports them. */
function resolveNodeIds({ target }: EntityField, value: unknown): unknown {
  if (!target || value == null) return value;
  const toNumericId = (id: unknown) => String(resolveRowId(target().name, id) ?? id);
  return Array.isArray(value) ? value.map(toNumericId) : toNumericId(value);
}

const writableValues = (entity: Entity, input: FieldValues): FieldValues =>
  Object.fromEntries(
    fieldsOf(entity).flatMap((field) =>
      field.readOnly || input[field.name] === undefined
        ? []
        : [[field.name, resolveNodeIds(field, input[field.name])]],
    ),
  );

const childInputs = (input: FieldValues, { name }: ChildRowsField) =>
  (input[name] ?? []) as FieldValues[];

/** Returns the number of rows of an input, including child rows. */
export const countInputRows = (entity: Entity, input: FieldValues): number =>
  creatableChildFields(entity).reduce(
    (count, child) =>
      childInputs(input, child).reduce(
        (sum, childInput) => sum + countInputRows(child.target(), childInput),
        count,
      ),
    1,
  );

/** Creates the drafts of a row and of its child rows. */
export function createDrafts(
  entity: Entity,
  input: FieldValues,
  path: InputPath,
  parent?: RowDraft['parent'],
): RowDraft[] {
  const draft: RowDraft = {
    entity,
    path,
    input: writableValues(entity, input),
    inputWithChildRows: input,
    parent,
    depth: parent ? parent.draft.depth + 1 : 0,
  };
  const childDrafts = creatableChildFields(entity).flatMap((child) =>
    childInputs(input, child).flatMap((values, index) =>
      createDrafts(child.target(), values, [...path, child.name, String(index)], {
        draft,
        referenceFieldName: child.referenceFieldName,
      }),
    ),
  );
  return [draft, ...childDrafts];
}

/** Creates the draft of an update. Its id is set later, because an invalid id must not prevent the validation of values. */
export const createUpdateDraft = (
  entity: Entity,
  input: FieldValues,
  path: InputPath,
): RowDraft => ({
  entity,
  path,
  input: writableValues(entity, input),
  depth: 0,
});

export function rejectTooManyRows(count: number, argumentName: string): void {
  if (count > MAX_ROWS_PER_MUTATION)
    throw invalidArgumentError(
      argumentName,
      `A mutation can write at most ${MAX_ROWS_PER_MUTATION} rows; this one has ${count}.`,
    );
}

/**
 * Groups drafts so that one statement can write each group: drafts of one entity at the same depth of the input. Groups of parent rows come first.
 */
export function groupDraftsByDepthAndEntity(drafts: readonly RowDraft[]): RowDraft[][] {
  const draftsByGroupKey = new Map<string, RowDraft[]>();
  for (const draft of drafts) {
    const groupKey = `${draft.depth} ${draft.entity.name}`;
    draftsByGroupKey.set(groupKey, [...(draftsByGroupKey.get(groupKey) ?? []), draft]);
  }
  return [...draftsByGroupKey.values()].sort(([a], [b]) => a!.depth - b!.depth);
}

export function withDefaults(
  entity: Entity,
  input: FieldValues,
  { policies, services: { timeZone } }: Pick<Context, 'services' | 'policies'>,
): FieldValues {
  const values: FieldValues = { ...input };
  for (const field of fieldsOf(entity))
    if (field.hasDefault && values[field.name] === undefined)
      if (field.defaultsToProfileUnit && !policies.assumesProfileUnits) values[field.name] = null;
      else
        values[field.name] =
          typeof field.default === 'function' ? field.default(timeZone) : field.default;
    else if (field.allowBlank && !field.allowNull && values[field.name] === undefined)
      values[field.name] = '';
  return values;
}
