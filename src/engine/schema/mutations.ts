/** Create, update and delete mutations of a resource, for one row and for many. */
import { Arg, Ctx, ID, Int, Mutation, type ClassType, Field, ObjectType } from 'type-graphql';
import type { Context } from '../context';
import { partFields, type Entity } from '../declare/fields';
import {
  bulkChangeInputType,
  creationInputType,
  hasWritableFields,
  IF_VERSION_DESCRIPTION,
  patchInputType,
  RowVersion,
} from './inputs';
import { MAX_ROWS_PER_MUTATION } from '../declare/field-validation';
import { loadRowsById } from '../read/loaders';
import { addResolverMethod, type ResolverParameterDecorator } from '../declare/resolver-methods';
import {
  type InputPath,
  type InputIssue,
  InvalidInput,
  invalidValueIssue,
  throwIfInvalid,
} from '../declare/errors';
import { nounOf, upperFirst, withArticle } from '../declare/inflection';
import { ROW_ID_DESCRIPTION, nodeIdOf } from '../declare/node';
import {
  runWrite,
  createPayloadType,
  type PayloadConstructor,
  InputError,
  TYPICAL_ISSUE_COUNT,
} from './payload';
import { resourceOf, type FieldValues } from '../declare/registry';
import { hasRequiredFields } from '../read/query-plan';
import { readViewerRowId, readRowById } from '../read/rows';
import type { StoredRow } from '../write/statements';
import { mergeRow } from '../write/merge';
import { isMergeable } from '../write/references';
import { inputHasParts, saveRowWithParts } from '../write/nested-write';
import { creatableChildFields } from '../write/drafts';
import type { RowReference } from '../write/row-references';
import {
  executeUpdates,
  createRows,
  executeDeletions,
  type Deletion,
  type RowChange,
} from '../write/write';
import { ListSize } from '../declare/field-extensions';

const TYPICAL_DELETED_ROW_COUNT = 1;

@ObjectType({
  description:
    'The deleted rows, in the order of the input. Caches can evict them by `deletedNodeIds`.',
  simpleResolvers: true,
})
class DeletePayload {
  @ListSize(TYPICAL_DELETED_ROW_COUNT)
  @Field(() => [ID], {
    description: 'The `id`s of the deleted rows; empty if nothing was deleted.',
  })
  readonly deletedIds: readonly number[];

  @ListSize(TYPICAL_DELETED_ROW_COUNT)
  @Field(() => [ID], { description: 'The `nodeId`s of the deleted rows.' })
  readonly deletedNodeIds: readonly string[];

  @Field(() => Int, {
    description:
      'Number of logs, sessions and diary entries that were deleted with the rows to which they belonged.',
  })
  readonly deletedHistoryCount: number;

  @ListSize(TYPICAL_ISSUE_COUNT)
  @Field(() => [InputError], {
    description:
      'One error for each row that was not found, had another version, or has a history and no `deleteHistory`. If there are any, nothing was deleted.',
  })
  readonly errors: readonly InputIssue[];

  constructor(entity: Entity, { ids, historyCount }: Deletion, invalidInput?: InvalidInput) {
    this.deletedIds = ids;
    this.deletedHistoryCount = historyCount;
    this.deletedNodeIds = ids.map((id) => nodeIdOf(entity.name, id));
    this.errors = invalidInput?.issues ?? [];
  }
}

/** Runs a deletion. Validation issues become errors of its payload. */
async function runDeletion(
  entity: Entity,
  deleteRows: () => Promise<Deletion>,
): Promise<DeletePayload> {
  try {
    return new DeletePayload(entity, await deleteRows());
  } catch (error) {
    if (error instanceof InvalidInput) {
      return new DeletePayload(entity, { ids: [], historyCount: 0 }, error);
    }

    throw error;
  }
}

const ROW_MUTATION_EXTENSIONS = { onlyWritesRows: true };
const PARTS_IN_BULK_MESSAGE =
  'Parts are written with one row at a time. Update the row by itself, or its parts.';
const BULK_WRITE_NOTE = `All or nothing, at most ${MAX_ROWS_PER_MUTATION} rows.`;

export function addMutations(target: ClassType, entity: Entity): void {
  const { metadata, singularName, viewerMutationName } = resourceOf(entity)!;

  if (metadata.createMutationName || metadata.updateMutationName || viewerMutationName) {
    const Payload = createPayloadType<StoredRow>({
      isBulk: false,
      name: `${entity.name}Payload`,
      description: `The written ${nounOf(entity.name)}, or the errors in the input.`,
      rowsFieldName: singularName,
      rowsFieldType: () => entity,
      readRows({ id, row }, context, info) {
        if (row && hasRequiredFields(entity, row, info, context)) return row;

        return readRowById(entity, id, context, info);
      },
    });

    if (metadata.createMutationName) {
      addCreateMutation(target, entity, metadata.createMutationName, Payload);
    }

    if (metadata.updateMutationName) {
      addUpdateMutation(target, entity, metadata.updateMutationName, Payload);
    }

    if (isMergeable(entity)) addMergeMutation(target, entity, Payload);
    if (viewerMutationName) addViewerUpdateMutation(target, entity, viewerMutationName, Payload);
  }

  if (metadata.deleteMutationName) addDeleteMutation(target, entity, metadata.deleteMutationName);
  if (metadata.bulkCreateMutationName) addBulkMutations(target, entity);
}

const rowMutationDecorator = (
  Payload: ClassType,
  name: string,
  description: string,
): MethodDecorator => Mutation(() => Payload, { nullable: true, name, description });

const nounPhrase = (entity: Entity) => withArticle(nounOf(entity.name));

/** Sentence for descriptions: who may change or delete rows of a public resource. */
function permissionNote(entity: Entity): string {
  const { isOwned, pendingColumnValues } = resourceOf(entity)!;

  if (isOwned) return '';
  if (!pendingColumnValues) return ' Only for curators.';

  return ' Only for curators, and for the user who made the contribution while its review is pending.';
}

function creationNote(entity: Entity): string {
  const { isOwned, pendingColumnValues } = resourceOf(entity)!;

  if (isOwned) return '';

  return pendingColumnValues
    ? ' Pending review, unless the viewer is a curator.'
    : ' Only for curators.';
}

function addCreateMutation(
  target: ClassType,
  entity: Entity,
  name: string,
  Payload: PayloadConstructor<StoredRow>,
): void {
  const inputDecorators: ResolverParameterDecorator[] = [];

  if (hasWritableFields(entity)) {
    const CreationInput = creationInputType(entity);

    inputDecorators.push(Arg('input', () => CreationInput, { description: 'The values.' }));
  }

  let childRowsNote = '';

  if (creatableChildFields(entity).length) {
    childRowsNote = ` and the child rows of the input, all or nothing, at most ${MAX_ROWS_PER_MUTATION} rows`;
  }

  addResolverMethod(
    target,
    'create',
    (context: Context, input: FieldValues = {}) =>
      runWrite(
        Payload,
        async () => (await createRows(entity, [{ input, path: ['input'] }], 'input', context))[0]!,
      ),
    [Ctx(), ...inputDecorators],
    rowMutationDecorator(
      Payload,
      name,
      `Creates ${nounPhrase(entity)}${childRowsNote}. Absent fields have their default values.${creationNote(entity)}`,
    ),
    ROW_MUTATION_EXTENSIONS,
  );
}

function addUpdateMutation(
  target: ClassType,
  entity: Entity,
  name: string,
  Payload: PayloadConstructor<StoredRow>,
): void {
  const PatchInput = patchInputType(entity);
  let partsNote = '';

  if (partFields(entity).length) {
    partsNote = `, optionally with its parts, all or nothing, at most ${MAX_ROWS_PER_MUTATION} rows`;
  }

  addResolverMethod(
    target,
    'update',
    (id: string, input: FieldValues, context: Context, ifVersion?: string | null) =>
      runWrite(Payload, async () => {
        const change = rowChange({ id, input, ifVersion });

        if (inputHasParts(entity, input)) {
          return saveRowWithParts(entity, change, context);
        }

        const [updatedRow] = await executeUpdates(entity, [change], 'input', context);

        return updatedRow!;
      }),
    [
      ID_ARGUMENT_DECORATOR,
      Arg('input', () => PatchInput, { description: 'The values to change.' }),
      Ctx(),
      VERSION_ARGUMENT_DECORATOR,
    ],
    rowMutationDecorator(
      Payload,
      name,
      `Updates ${nounPhrase(entity)}${partsNote}. Absent fields stay unchanged.${permissionNote(entity)}`,
    ),
    {
      ...(resourceOf(entity)!.viewerMutationName && { exclusiveTo: 'rest' }),
      ...ROW_MUTATION_EXTENSIONS,
    },
  );
}

/** Adds the update mutation of a resource with one row per user. It takes no id. */
function addViewerUpdateMutation(
  target: ClassType,
  entity: Entity,
  name: string,
  Payload: PayloadConstructor<StoredRow>,
): void {
  const PatchInput = patchInputType(entity);

  addResolverMethod(
    target,
    'updateMine',
    (input: FieldValues, context: Context, ifVersion?: string | null) =>
      runWrite(Payload, async () => {
        const id = String(await readViewerRowId(entity, context));
        const change = rowChange({ id, input, ifVersion });
        const [updatedRow] = await executeUpdates(entity, [change], 'input', context);

        return updatedRow!;
      }),
    [
      Arg('input', () => PatchInput, { description: 'The values to change.' }),
      Ctx(),
      VERSION_ARGUMENT_DECORATOR,
    ],
    rowMutationDecorator(
      Payload,
      name,
      `Updates the viewer's ${nounOf(entity.name)}. Absent fields stay unchanged.`,
    ),
    ROW_MUTATION_EXTENSIONS,
  );
}

function addMergeMutation(
  target: ClassType,
  entity: Entity,
  Payload: PayloadConstructor<StoredRow>,
): void {
  const { pluralName } = resourceOf(entity)!;
  const noun = nounOf(entity.name);
  const reference = (name: string, id: string): RowReference => ({ id, idPath: [name] });

  addResolverMethod(
    target,
    'merge',
    (from: string, into: string, context: Context) =>
      runWrite(Payload, () =>
        mergeRow(entity, reference('from', from), reference('into', into), context),
      ),
    [
      Arg('from', () => ID, { description: `The ${noun} that is retired.` }),
      Arg('into', () => ID, { description: `The ${noun} that replaces it.` }),
      Ctx(),
    ],
    rowMutationDecorator(
      Payload,
      `merge${upperFirst(pluralName)}`,
      `Merges ${nounPhrase(entity)} into another one, to which all rows of all users refer afterwards. Parts that the other one lacks move to it. Only for curators.`,
    ),
    ROW_MUTATION_EXTENSIONS,
  );
}

function addDeleteMutation(target: ClassType, entity: Entity, name: string): void {
  const description = `Deletes ${nounPhrase(entity)} and all rows below it.${permissionNote(entity)}`;
  const { historyFieldNames } = resourceOf(entity)!;
  const historyArguments = historyFieldNames
    ? [
        Arg('deleteHistory', () => Boolean, {
          nullable: true,
          description: `Whether its history (${historyFieldNames.join(', ')}) may be deleted with it. Otherwise a row with a history is not deleted (HAS_HISTORY).`,
        }),
      ]
    : [];

  addResolverMethod(
    target,
    'remove',
    (id: string, context: Context, ifVersion?: string | null, deleteHistory?: boolean | null) =>
      runDeletion(entity, () =>
        executeDeletions(
          entity,
          [rowReference({ id, ifVersion })],
          'id',
          context,
          deleteHistory ?? false,
        ),
      ),
    [ID_ARGUMENT_DECORATOR, Ctx(), VERSION_ARGUMENT_DECORATOR, ...historyArguments],
    rowMutationDecorator(DeletePayload, name, description),
    ROW_MUTATION_EXTENSIONS,
  );
}

const ID_ARGUMENT_DECORATOR = Arg('id', () => ID, { description: ROW_ID_DESCRIPTION });

/** Argument for optimistic locking. */
const VERSION_ARGUMENT_DECORATOR = Arg('ifVersion', () => String, {
  nullable: true,
  description: IF_VERSION_DESCRIPTION,
});

/**
 * Creates a reference to a row that a mutation updates or deletes. `basePath` locates the row in
 * the arguments of a bulk mutation.
 */
const rowReference = ({ id, ifVersion }: RowVersion, ...basePath: InputPath): RowReference => ({
  id,
  idPath: [...basePath, 'id'],
  ...(ifVersion != null && {
    expectedVersion: { value: ifVersion, path: [...basePath, 'ifVersion'] },
  }),
});

const rowChange = (
  { input, ...row }: RowVersion & { input: FieldValues },
  ...basePath: InputPath
): RowChange => ({
  ...rowReference(row, ...basePath),
  input,
  path: [...basePath, 'input'],
});

function addBulkMutations(target: ClassType, entity: Entity): void {
  const { metadata, pluralName } = resourceOf(entity)!;
  const pluralNoun = nounOf(pluralName);
  const Payload = createPayloadType<number[]>({
    isBulk: true,
    name: `${upperFirst(pluralName)}Payload`,
    description: `The written ${pluralNoun}, in the order of the input, or the errors in the input.`,
    rowsFieldName: pluralName,
    rowsFieldType: () => [entity],
    readRows: (ids, context, info) => loadRowsById(entity, ids, context, info),
  });
  const idsOf = (rows: readonly StoredRow[]) => rows.map(({ id }) => id);
  const CreationInput = creationInputType(entity);
  const BulkChangeInput = bulkChangeInputType(entity);

  addResolverMethod(
    target,
    'createMany',
    (inputs: FieldValues[], context: Context) => {
      const rowsWithPaths = inputs.map((input, index) => ({
        input,
        path: ['inputs', String(index)],
      }));

      return runWrite(Payload, async () =>
        idsOf(await createRows(entity, rowsWithPaths, 'inputs', context)),
      );
    },
    [Arg('inputs', () => [CreationInput], { description: 'The values of each row.' }), Ctx()],
    rowMutationDecorator(
      Payload,
      metadata.bulkCreateMutationName!,
      `Creates ${pluralNoun}. ${BULK_WRITE_NOTE}${creationNote(entity)}`,
    ),
    ROW_MUTATION_EXTENSIONS,
  );
  addResolverMethod(
    target,
    'updateMany',
    (changes: (RowVersion & { input: FieldValues })[], context: Context) => {
      const rowChanges = changes.map((change, index) =>
        rowChange(change, 'changes', String(index)),
      );

      return runWrite(Payload, async () => {
        throwIfInvalid(
          rowChanges
            .filter(({ input }) => inputHasParts(entity, input))
            .map(({ path }) => ({ path, ...invalidValueIssue(PARTS_IN_BULK_MESSAGE) })),
        );

        return idsOf(await executeUpdates(entity, rowChanges, 'changes', context));
      });
    },
    [
      Arg('changes', () => [BulkChangeInput], {
        description: 'The changes of each row. A row may occur only once.',
      }),
      Ctx(),
    ],
    rowMutationDecorator(
      Payload,
      metadata.bulkUpdateMutationName!,
      `Updates ${pluralNoun}. ${BULK_WRITE_NOTE}${permissionNote(entity)}`,
    ),
    ROW_MUTATION_EXTENSIONS,
  );
  addResolverMethod(
    target,
    'removeMany',
    (rows: RowVersion[], context: Context) => {
      const rowReferences = rows.map((row, index) => rowReference(row, 'rows', String(index)));

      return runDeletion(entity, () => executeDeletions(entity, rowReferences, 'rows', context));
    },
    [
      Arg('rows', () => [RowVersion], {
        description: 'The rows to delete. A row may occur only once.',
      }),
      Ctx(),
    ],
    rowMutationDecorator(
      DeletePayload,
      metadata.bulkDeleteMutationName!,
      `Deletes ${pluralNoun} and all rows below them. ${BULK_WRITE_NOTE}${permissionNote(entity)}`,
    ),
    ROW_MUTATION_EXTENSIONS,
  );
}
