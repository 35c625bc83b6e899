/** Payload types of create and update mutations: the written rows, or validation issues. */
import {
  Ctx,
  Field,
  FieldResolver,
  Info,
  ObjectType,
  Resolver,
  Root,
  type ClassType,
} from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import { InvalidInput, IssueCode, type InputIssue } from '../declare/errors';
import { listSizeExtensions, ListSize } from '../declare/field-extensions';
import { Node } from '../declare/node';
import { loadRowsById } from '../read/loaders';
import { addResolverMethod } from '../declare/resolver-methods';
import { findEntity } from '../declare/registry';

/** Typical number of elements in the path of an input error, for cost estimates. */
const TYPICAL_PATH_LENGTH = 3;

@ObjectType({ description: 'An error in the input of a mutation.', simpleResolvers: true })
export class InputError implements InputIssue {
  @ListSize(TYPICAL_PATH_LENGTH)
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

@Resolver(() => InputError)
export class InputErrorResolver {
  @FieldResolver(() => Node, {
    nullable: true,
    description: 'The current row that caused CONFLICT or NOT_UNIQUE.',
  })
  async conflict(
    @Root() { conflict }: InputIssue,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<Row | null> {
    if (!conflict) return null;
    const { typeName, id } = conflict;
    const [row] = await loadRowsById(findEntity(typeName)!, [id], context, info);

    return row ? { ...row, __typename: typeName } : null;
  }
}

/** Typical number of errors of a write, for cost estimates. */
export const TYPICAL_ISSUE_COUNT = 1;
const TYPICAL_BULK_ROW_COUNT = 10;

interface PayloadOptions<T> {
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
export function createPayloadType<T>(options: PayloadOptions<T>): ClassType {
  const { isBulk, name, description, rowsFieldName, rowsFieldType, readRows } = options;
  const Payload = { [name]: class {} }[name]!;

  addResolverMethod(
    Payload,
    rowsFieldName,
    function (this: { mutationResult?: T }, context: Context, info: GraphQLResolveInfo) {
      const { mutationResult } = this;

      return mutationResult === undefined ? null : readRows(mutationResult, context, info);
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
  ObjectType(name, { description, simpleResolvers: true })(Payload);
  return Payload;
}

/**
 * Runs a write that returns the fields of its payload. Validation issues become its errors, besides
 * the fields of `emptyResult`.
 */
export async function runPayloadWrite<T extends object>(
  write: () => Promise<T>,
  emptyResult?: T,
): Promise<object> {
  try {
    return { ...(await write()), errors: [] };
  } catch (error) {
    if (error instanceof InvalidInput) return { ...emptyResult, errors: error.issues };
    throw error;
  }
}

/** Runs a write whose payload is a type of `createPayloadType`, which reads the written rows. */
export const runWrite = (write: () => Promise<unknown>): Promise<object> =>
  runPayloadWrite(async () => ({ mutationResult: await write() }));
