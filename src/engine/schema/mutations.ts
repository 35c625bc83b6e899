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
  invalidValueIssue,
  throwIfInvalid,
} from '../declare/errors';
import { nounOf, upperFirst, withArticle } from '../declare/inflection';
import { ROW_ID_DESCRIPTION, nodeIdOf } from '../declare/node';
import {
  createPayloadType,
  InputError,
  runWrite,
  runPayloadWrite,
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
import { executeUpdates, createRows, executeDeletions, type RowChange } from '../write/write';
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
  declare readonly deletedIds: readonly number[];

  @ListSize(TYPICAL_DELETED_ROW_COUNT)
  @Field(() => [ID], { description: 'The `nodeId`s of the deleted rows.' })
  declare readonly deletedNodeIds: readonly string[];

  @Field(() => Int, {
    description:
      'Number of logs, sessions and diary entries that were deleted with the rows to which they belonged.',
  })
  declare readonly deletedHistoryCount: number;

  @ListSize(TYPICAL_ISSUE_COUNT)
  @Field(() => [InputError], {
    description:
      'One error for each row that was not found, is in use, had another version, or has a history and no `deleteHistory`. If there are any, nothing was deleted.',
  })
  declare readonly errors: readonly InputIssue[];
}

/** Runs a deletion. Validation issues become errors of its payload. */
const runDeletion = (...[entity, ...args]: Parameters<typeof executeDeletions>): Promise<object> =>
  runPayloadWrite(
    async () => {
      const { ids, historyCount } = await executeDeletions(entity, ...args);

      return {
        deletedIds: ids,
        deletedNodeIds: ids.map((id) => nodeIdOf(entity.name, id)),
        deletedHistoryCount: historyCount,
      };
    },
    { deletedIds: [], deletedNodeIds: [], deletedHistoryCount: 0 },
  );

const PARTS_IN_BULK_MESSAGE =
  'Parts are written with one row at a time. Update the row by itself, or its parts.';
const BULK_WRITE_NOTE = `All or nothing, at most ${MAX_ROWS_PER_MUTATION} rows.`;

/** Sentence for descriptions: who may write rows of a public resource. */
function curatorNote(entity: Entity, contributionNote: string): string {
  const { isOwned, pendingColumnValues } = resourceOf(entity)!;

  if (isOwned) return '';

  return pendingColumnValues ? contributionNote : ' Only for curators.';
}

const creationNote = (entity: Entity) =>
  curatorNote(entity, ' Pending review, unless the viewer is a curator.');
const changeNote = (entity: Entity) =>
  curatorNote(
    entity,
    ' Only for curators, and for the user who made the contribution while its review is pending.',
  );

type Add = (
  method: string,
  Payload: ClassType,
  name: string,
  description: string,
  parameters: readonly ResolverParameterDecorator[],
  body: (...args: never[]) => unknown,
  extensions?: object,
) => void;

export function addMutations(target: ClassType, entity: Entity): void {
  const { bulkCreateMutationName, createMutationName, deleteMutationName, updateMutationName } =
    resourceOf(entity)!.metadata;

  const add: Add = (method, Payload, name, description, parameters, body, extensions = {}) =>
    addResolverMethod(
      target,
      method,
      body,
      parameters,
      Mutation(() => Payload, { nullable: true, name, description }),
      { onlyWritesRows: true, ...extensions },
    );

  if (createMutationName ?? updateMutationName ?? resourceOf(entity)!.viewerMutationName) {
    addRowMutations(entity, add);
  }

  if (deleteMutationName) addDeleteMutation(entity, deleteMutationName, add);
  if (bulkCreateMutationName) addBulkMutations(entity, add);
}

const nounPhrase = (entity: Entity) => withArticle(nounOf(entity.name));

function addRowMutations(entity: Entity, add: Add): void {
  const { metadata, pluralName, singularName, viewerMutationName } = resourceOf(entity)!;
  const noun = nounOf(entity.name);
  const Payload = createPayloadType<StoredRow>({
    isBulk: false,
    name: `${entity.name}Payload`,
    description: `The written ${noun}, or the errors in the input.`,
    rowsFieldName: singularName,
    rowsFieldType: () => entity,
    readRows({ id, row }, context, info) {
      if (row && hasRequiredFields(entity, row, info, context)) return row;

      return readRowById(entity, id, context, info);
    },
  });
  const rowsNote = `, all or nothing, at most ${MAX_ROWS_PER_MUTATION} rows`;

  if (metadata.createMutationName) {
    const inputParameters: ResolverParameterDecorator[] = [];

    if (hasWritableFields(entity)) {
      const CreationInput = creationInputType(entity);

      inputParameters.push(Arg('input', () => CreationInput, { description: 'The values.' }));
    }

    const childRowsNote = creatableChildFields(entity).length
      ? ` and the child rows of the input${rowsNote}`
      : '';

    add(
      'create',
      Payload,
      metadata.createMutationName,
      `Creates ${nounPhrase(entity)}${childRowsNote}. Absent fields have their default values.${creationNote(entity)}`,
      [Ctx(), ...inputParameters],
      (context: Context, input: FieldValues = {}) =>
        runWrite(async () => {
          const rows = [{ input, path: ['input'] }];

          return (await createRows(entity, rows, 'input', context))[0]!;
        }),
    );
  }

  if (metadata.updateMutationName ?? viewerMutationName) {
    const PatchInput = patchInputType(entity);
    const parameters = [
      Arg('input', () => PatchInput, { description: 'The values to change.' }),
      Ctx(),
      VERSION_ARGUMENT_DECORATOR,
    ];

    const save = async (row: RowVersion, input: FieldValues, context: Context) => {
      const change = rowChange({ ...row, input });

      if (inputHasParts(entity, input)) return saveRowWithParts(entity, change, context);

      return (await executeUpdates(entity, [change], 'input', context))[0]!;
    };

    if (metadata.updateMutationName) {
      const partsNote = partFields(entity).length ? `, optionally with its parts${rowsNote}` : '';

      add(
        'update',
        Payload,
        metadata.updateMutationName,
        `Updates ${nounPhrase(entity)}${partsNote}. Absent fields stay unchanged.${changeNote(entity)}`,
        [ID_ARGUMENT_DECORATOR, ...parameters],
        (id: string, input: FieldValues, context: Context, ifVersion?: string | null) =>
          runWrite(() => save({ id, ifVersion }, input, context)),
        viewerMutationName === undefined ? {} : { exclusiveTo: 'rest' },
      );
    }

    // A resource with one row per user: the mutation takes no id.
    if (viewerMutationName) {
      add(
        'updateMine',
        Payload,
        viewerMutationName,
        `Updates the viewer's ${noun}. Absent fields stay unchanged.`,
        parameters,
        (input: FieldValues, context: Context, ifVersion?: string | null) =>
          runWrite(async () => {
            const id = String(await readViewerRowId(entity, context));

            return save({ id, ifVersion }, input, context);
          }),
      );
    }
  }

  if (!isMergeable(entity)) return;
  const reference = (name: string, id: string): RowReference => ({ id, idPath: [name] });

  add(
    'merge',
    Payload,
    `merge${upperFirst(pluralName)}`,
    `Merges ${nounPhrase(entity)} into another one, to which all rows of all users refer afterwards. Parts that the other one lacks move to it. Only for curators.`,
    [
      Arg('from', () => ID, { description: `The ${noun} that is retired.` }),
      Arg('into', () => ID, { description: `The ${noun} that replaces it.` }),
      Ctx(),
    ],
    (from: string, into: string, context: Context) =>
      runWrite(() => mergeRow(entity, reference('from', from), reference('into', into), context)),
  );
}

function addDeleteMutation(entity: Entity, name: string, add: Add): void {
  const { historyFieldNames } = resourceOf(entity)!;
  const historyArguments = historyFieldNames
    ? [
        Arg('deleteHistory', () => Boolean, {
          nullable: true,
          description: `Whether its history (${historyFieldNames.join(', ')}) may be deleted with it. Otherwise a row with a history is not deleted (HAS_HISTORY).`,
        }),
      ]
    : [];

  add(
    'remove',
    DeletePayload,
    name,
    `Deletes ${nounPhrase(entity)} and all rows below it.${changeNote(entity)}`,
    [ID_ARGUMENT_DECORATOR, Ctx(), VERSION_ARGUMENT_DECORATOR, ...historyArguments],
    (id: string, context: Context, ifVersion?: string | null, deleteHistory?: boolean | null) =>
      runDeletion(entity, [rowReference({ id, ifVersion })], 'id', context, deleteHistory ?? false),
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

function addBulkMutations(entity: Entity, add: Add): void {
  const { metadata, pluralName } = resourceOf(entity)!;
  const pluralNoun = nounOf(pluralName);
  const Payload = createPayloadType<StoredRow[]>({
    isBulk: true,
    name: `${upperFirst(pluralName)}Payload`,
    description: `The written ${pluralNoun}, in the order of the input, or the errors in the input.`,
    rowsFieldName: pluralName,
    rowsFieldType: () => [entity],
    readRows: (rows, context, info) =>
      loadRowsById(
        entity,
        rows.map(({ id }) => id),
        context,
        info,
      ),
  });
  const CreationInput = creationInputType(entity);
  const BulkChangeInput = bulkChangeInputType(entity);

  add(
    'createMany',
    Payload,
    metadata.bulkCreateMutationName!,
    `Creates ${pluralNoun}. ${BULK_WRITE_NOTE}${creationNote(entity)}`,
    [Arg('inputs', () => [CreationInput], { description: 'The values of each row.' }), Ctx()],
    (inputs: FieldValues[], context: Context) => {
      const rows = inputs.map((input, index) => ({ input, path: ['inputs', String(index)] }));

      return runWrite(() => createRows(entity, rows, 'inputs', context));
    },
  );
  add(
    'updateMany',
    Payload,
    metadata.bulkUpdateMutationName!,
    `Updates ${pluralNoun}. ${BULK_WRITE_NOTE}${changeNote(entity)}`,
    [
      Arg('changes', () => [BulkChangeInput], {
        description: 'The changes of each row. A row may occur only once.',
      }),
      Ctx(),
    ],
    (changes: (RowVersion & { input: FieldValues })[], context: Context) => {
      const rowChanges = changes.map((change, index) =>
        rowChange(change, 'changes', String(index)),
      );

      return runWrite(async () => {
        throwIfInvalid(
          rowChanges
            .filter(({ input }) => inputHasParts(entity, input))
            .map(({ path }) => ({ path, ...invalidValueIssue(PARTS_IN_BULK_MESSAGE) })),
        );

        return executeUpdates(entity, rowChanges, 'changes', context);
      });
    },
  );
  add(
    'removeMany',
    DeletePayload,
    metadata.bulkDeleteMutationName!,
    `Deletes ${pluralNoun} and all rows below them. ${BULK_WRITE_NOTE}${changeNote(entity)}`,
    [
      Arg('rows', () => [RowVersion], {
        description: 'The rows to delete. A row may occur only once.',
      }),
      Ctx(),
    ],
    (rows: RowVersion[], context: Context) =>
      runDeletion(
        entity,
        rows.map((row, index) => rowReference(row, 'rows', String(index))),
        'rows',
        context,
      ),
  );
}
