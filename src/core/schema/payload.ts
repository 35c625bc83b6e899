/** Payload types of create and update mutations: the written rows, or validation issues. */
import { Ctx, Field, Info, ObjectType, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { InvalidInput } from '../model/errors';
import type { Entity } from '../model/fields';
import { listSizeExtensions, ListSize } from '../model/fieldextensions';
import { loadRowsById } from '../read/loaders';
import { addResolverMethod } from '../model/resolvermethods';
import { IssueCode, type InputIssue } from '../model/validationissues';
import { resourceOf } from '../model/registry';

@ObjectType({ description: 'An error in the input of a mutation.', simpleResolvers: true })
export class InputError implements InputIssue {
  @ListSize(3)
  @Field(() => [String], {
    description:
      'Path of the invalid value, starting at the argument, e.g. `["input", "days", "1", "description"]`. `["input"]` is the row as a whole, `[]` all arguments together.',
  })
  declare readonly path: readonly string[];

  @Field(() => IssueCode, { description: 'The kind of the error.' })
  declare readonly code: IssueCode;

  @Field(() => String, { description: 'Human-readable message.' })
  declare readonly message: string;
}

/** Typical number of errors and of conflicts of a write, for cost estimates. */
export const TYPICAL_ISSUE_COUNT = 1;
const TYPICAL_BULK_ROW_COUNT = 10;

/**
 * Adds the field `conflict` (one row) or `conflicts` (many), with the stored rows that prevented the write, to payloads of owned rows. Public rows
 * have no versions.
 */
function addConflictField(Payload: ClassType, entity: Entity, isBulk: boolean): void {
  if (!resourceOf(entity)!.isOwned) return;
  const [name, rows, type] = isBulk
    ? ['conflicts', 'rows', () => [entity]]
    : ['conflict', 'row', () => entity];
  addResolverMethod(
    Payload,
    name,
    async function (
      this: { conflictingIds: readonly number[] },
      context: Context,
      info: GraphQLResolveInfo,
    ) {
      const conflictingRows = await loadRowsById(entity, this.conflictingIds, context, info);
      return isBulk ? conflictingRows : (conflictingRows[0] ?? null);
    },
    [Ctx(), Info()],
    Field(type, {
      nullable: !isBulk,
      description: `The current ${rows} that caused CONFLICT or NOT_UNIQUE.`,
    }),
    isBulk ? listSizeExtensions(TYPICAL_ISSUE_COUNT) : undefined,
  );
}

/** Constructor of a payload from the written value, or from null and the validation issues. */
export type PayloadConstructor<T> = ClassType &
  (new (
    mutationResult: T | null,
    errors: readonly InputIssue[],
    conflictingIds?: readonly number[],
  ) => object);

interface PayloadOptions<T> {
  entity: Entity;
  isBulk: boolean;
  name: string;
  description: string;
  rowsFieldName: string;
  rowsFieldType: () => object;
  readRows(
    mutationResult: T,
    context: Context,
    info: GraphQLResolveInfo,
  ): Promise<Row | Row[]> | Row | Row[];
}

/** Creates a payload type. Its resolver reads the written rows with the selected columns. */
export function createPayloadType<T>(options: PayloadOptions<T>): PayloadConstructor<T> {
  const { entity, isBulk, name, description, rowsFieldName, rowsFieldType, readRows } = options;
  const Payload = {
    [name]: class {
      constructor(
        readonly mutationResult: T | null,
        readonly errors: readonly InputIssue[],
        readonly conflictingIds: readonly number[] = [],
      ) {}
    },
  }[name]!;
  addResolverMethod(
    Payload,
    rowsFieldName,
    function (this: { mutationResult: T | null }, context: Context, info: GraphQLResolveInfo) {
      return this.mutationResult === null ? null : readRows(this.mutationResult, context, info);
    },
    [Ctx(), Info()],
    Field(rowsFieldType, {
      nullable: true,
      description: 'The stored values; null if there are errors.',
    }),
    isBulk ? listSizeExtensions(TYPICAL_BULK_ROW_COUNT) : undefined,
  );
  Field(() => [InputError], {
    description: 'All errors in the input. If there are any, nothing was written.',
  })(Payload.prototype, 'errors');
  ListSize(TYPICAL_ISSUE_COUNT)(Payload.prototype, 'errors');
  addConflictField(Payload, entity, isBulk);
  ObjectType(name, { description, simpleResolvers: true })(Payload);
  return Payload as PayloadConstructor<T>;
}

/** Runs a write and returns its payload; validation issues become its errors. */
export async function runWrite<T>(
  Payload: PayloadConstructor<T>,
  write: () => Promise<T>,
): Promise<object> {
  try {
    return new Payload(await write(), []);
  } catch (error) {
    if (error instanceof InvalidInput) return new Payload(null, error.issues, error.conflictingIds);
    throw error;
  }
}
