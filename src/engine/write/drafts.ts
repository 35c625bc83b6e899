/**
 * Drafts: the rows of a mutation before they are written, with their paths in the input. Trees of
 * rows are flattened, parents first.
 */
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import {
  invalidArgumentError,
  IssueCode,
  throwIfInvalid,
  validationIssue,
  type InputPath,
} from '../declare/errors';
import {
  childRowsFieldsOf,
  fieldOf,
  fieldsOf,
  positionFieldOf,
  type ChildRowsField,
  type Entity,
  type EntityField,
} from '../declare/fields';
import { MAX_ROWS_PER_MUTATION } from '../declare/field-validation';
import { resolveRowId } from '../declare/node';
import { resourceOf, type FieldValues } from '../declare/registry';
import { groupBy } from '../../shared/multimap';
import type { StoredRow } from './statements';

export interface RowDraft {
  readonly entity: Entity;
  readonly path: InputPath;

  /** The values to write, without child rows. */
  readonly input: FieldValues;

  /** Id of an existing row. New rows have none. */
  id?: number;

  /**
   * Complete input of the row with its child rows. An existing part of the parent row has an `id`.
   */
  readonly inputWithChildRows?: FieldValues;

  /** Parent row, if the same mutation writes it, and the field that references it. */
  readonly parent?: { readonly draft: RowDraft; readonly referenceFieldName: string };

  /** Number of ancestors of the row in the input. */
  readonly depth: number;

  /** Stored values of an existing row, with which the write compares the new ones. */
  currentValues?: Row;

  /** The written row. */
  storedRow?: StoredRow;
}

/**
 * Child relations whose rows can be created together with their parent row: owned rows and parts
 * that reference it by id.
 */
export const creatableChildFields = (entity: Entity): readonly ChildRowsField[] =>
  childRowsFieldsOf(entity).filter(
    ({ target, referenceFieldName, keyFieldName, readOnly, isSavedWithParent }) => {
      const { isOwned, metadata } = resourceOf(target())!;

      return (
        (isSavedWithParent ||
          (isOwned && resourceOf(entity)!.isOwned && metadata.createMutationName !== undefined)) &&
        !readOnly &&
        keyFieldName === 'id' &&
        !fieldOf(target(), referenceFieldName).readOnly
      );
    },
  );

/** Replaces global ids (`nodeId`) by numeric ids. Invalid ids remain for validation to report. */
function resolveNodeIds({ target }: EntityField, value: unknown): unknown {
  if (!target || value == null) return value;
  const toNumericId = (id: unknown) => String(resolveRowId(target().name, id) ?? id);

  return Array.isArray(value) ? value.map(toNumericId) : toNumericId(value);
}

const writableValues = (entity: Entity, input: FieldValues): FieldValues =>
  Object.fromEntries(
    fieldsOf(entity)
      .filter(({ name, readOnly }) => !readOnly && input[name] !== undefined)
      .map((field) => [field.name, resolveNodeIds(field, input[field.name])]),
  );

const childInputs = (input: FieldValues, { name }: ChildRowsField) =>
  (input[name] ?? []) as FieldValues[];

/** Counts the rows of an input, including child rows. */
export const countInputRows = (entity: Entity, input: FieldValues): number =>
  creatableChildFields(entity).reduce(
    (count, child) =>
      childInputs(input, child).reduce(
        (sum, childInput) => sum + countInputRows(child.target(), childInput),
        count,
      ),
    1,
  );

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
    withPositions(child.target(), childInputs(input, child), [...path, child.name]).flatMap(
      (values, index) =>
        createDrafts(child.target(), values, [...path, child.name, String(index)], {
          draft,
          referenceFieldName: child.referenceFieldName,
        }),
    ),
  );

  return [draft, ...childDrafts];
}

/**
 * Gives rows without positions their places in the list. A position that may be null is absent only
 * if it is undefined.
 */
function withPositions(
  entity: Entity,
  inputs: readonly FieldValues[],
  path: InputPath,
): readonly FieldValues[] {
  const field = positionFieldOf(entity);

  if (!field) return inputs;
  const { name, allowNull } = field;
  const hasPosition = inputs.map(
    ({ [name]: position }) => position !== undefined && (position !== null || allowNull),
  );

  if (!hasPosition.includes(true)) {
    return inputs.map((input, index) => ({ ...input, [name]: index + 1 }));
  }

  throwIfInvalid(
    hasPosition.flatMap((isGiven, index) =>
      isGiven
        ? []
        : {
            path: [...path, String(index), name],
            ...validationIssue(IssueCode.REQUIRED, 'Other rows of the list have a position.'),
          },
    ),
  );

  return inputs;
}

/**
 * Creates the draft of an update. Its id is set later, because an invalid id must not prevent the
 * validation of values.
 */
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
  if (count > MAX_ROWS_PER_MUTATION) {
    throw invalidArgumentError(
      argumentName,
      `A mutation can write at most ${MAX_ROWS_PER_MUTATION} rows; this one has ${count}.`,
    );
  }
}

/**
 * Groups drafts that one statement can write: drafts of the same entity at the same depth of the
 * input. Groups of parent rows come first.
 */
export const groupDraftsByStatement = (drafts: readonly RowDraft[]): RowDraft[][] =>
  [...groupBy(drafts, ({ depth, entity }) => `${depth} ${entity.name}`).values()].sort(
    ([a], [b]) => a!.depth - b!.depth,
  );

export function withDefaults(
  entity: Entity,
  input: FieldValues,
  { api, timeZone }: Pick<Context, 'api' | 'timeZone'>,
): FieldValues {
  const defaultOf = (field: EntityField): unknown => {
    if (field.defaultExclusiveTo && field.defaultExclusiveTo !== api) return null;

    return typeof field.default === 'function' ? field.default(timeZone) : field.default;
  };

  const values: FieldValues = { ...input };

  for (const field of fieldsOf(entity)) {
    if (values[field.name] !== undefined) continue;
    if (field.hasDefault) values[field.name] = defaultOf(field);
    else if (field.graphqlAllowBlank && !field.allowNull && !field.link) values[field.name] = '';
  }

  return values;
}
