/** Create, update and delete mutations of a resource, for one row and for many. */
import { Arg, Ctx, ID, Mutation, type ClassType } from 'type-graphql';
import type { Context } from '../context';
import { runDeletion, DeletePayload } from './deletepayload';
import { childRowsFieldsOf, childFieldsSavedWithParent, type Entity } from '../model/fields';
import {
  bulkChangeInputType,
  creationInputType,
  IF_VERSION_DESCRIPTION,
  patchInputType,
  RowVersion,
} from './inputs';
import { MAX_ROWS_PER_MUTATION } from '../model/fieldvalidation';
import { loadRowsById } from '../read/loaders';
import { addResolverMethod, type ResolverParameterDecorator } from '../model/resolvermethods';
import type { InputPath } from '../model/validationissues';
import { nounOfTypeName, upperFirst, withArticle } from '../model/inflection';
import { ROW_ID_DESCRIPTION } from '../model/node';
import { runWrite, createPayloadType, type PayloadConstructor } from './payload';
import { resourceOf } from '../model/registry';
import { hasRequiredFields } from '../read/queryplan';
import { readViewerRowId, readRowById } from '../read/rows';
import type { FieldValues } from '../model/hooks';
import type { StoredRow } from '../write/statements';
import { inputHasParts, saveRowWithParts } from '../write/nestedwrite';
import type { RowReference } from '../write/rowreferences';
import { executeUpdates, createRows, executeDeletions, type RowChange } from '../write/write';

const ROW_MUTATION_EXTENSIONS = { onlyWritesRows: true };
const BULK_WRITE_NOTE = `All or nothing, at most ${MAX_ROWS_PER_MUTATION} rows.`;

export function addMutations(target: ClassType, entity: Entity): void {
  const { metadata, singularName, viewerMutationName } = resourceOf(entity)!;
  if (metadata.createMutationName || metadata.updateMutationName || viewerMutationName) {
    const Payload = createPayloadType<StoredRow>({
      entity,
      isBulk: false,
      name: `${entity.name}Payload`,
      description: `The written ${nounOfTypeName(entity.name)}, or the errors in the input.`,
      rowsFieldName: singularName,
      rowsFieldType: () => entity,
      readRows: ({ id, row }, context, info) =>
        row && hasRequiredFields(entity, row, info, context)
          ? row
          : readRowById(entity, id, context, info),
    });
    if (metadata.createMutationName)
      addCreateMutation(target, entity, metadata.createMutationName, Payload);
    if (metadata.updateMutationName)
      addUpdateMutation(target, entity, metadata.updateMutationName, Payload);
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

const nounPhrase = (entity: Entity) => withArticle(nounOfTypeName(entity.name));

/** Returns a sentence for descriptions that says who may change or delete rows of a public resource with contributions; empty for other resources. */
const permissionNote = (entity: Entity) =>
  resourceOf(entity)!.pendingColumnValues
    ? ' Rejected with FORBIDDEN unless the viewer is a superuser, or contributed it and its review is pending.'
    : '';

function addCreateMutation(
  target: ClassType,
  entity: Entity,
  name: string,
  Payload: PayloadConstructor<StoredRow>,
): void {
  const CreationInput = creationInputType(entity);
  const childRowsNote = childRowsFieldsOf(entity).some(({ readOnly }) => !readOnly)
    ? ` and the child rows of the input, all or nothing, at most ${MAX_ROWS_PER_MUTATION} rows`
    : '';
  addResolverMethod(
    target,
    'create',
    (input: FieldValues, context: Context) =>
      runWrite(
        Payload,
        async () => (await createRows(entity, [{ input, path: ['input'] }], 'input', context))[0]!,
      ),
    [Arg('input', () => CreationInput, { description: 'The values.' }), Ctx()],
    rowMutationDecorator(
      Payload,
      name,
      `Creates ${nounPhrase(entity)}${childRowsNote}. Absent fields have their default values.`,
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
  const partsNote = childFieldsSavedWithParent(entity).length
    ? `, optionally with its parts, all or nothing, at most ${MAX_ROWS_PER_MUTATION} rows`
    : '';
  addResolverMethod(
    target,
    'update',
    (id: string, input: FieldValues, context: Context, ifVersion?: string | null) =>
      runWrite(Payload, async () => {
        const change = rowChange({ id, input, ifVersion });
        return inputHasParts(entity, input)
          ? saveRowWithParts(entity, change, 'input', context)
          : (await executeUpdates(entity, [change], 'input', context))[0]!;
      }),
    [
      ID_ARGUMENT_DECORATOR,
      Arg('input', () => PatchInput, { description: 'The values to change.' }),
      Ctx(),
      ...versionArgumentDecorators(entity),
    ],
    rowMutationDecorator(
      Payload,
      name,
      `Updates ${nounPhrase(entity)}${partsNote}. Absent fields stay unchanged.${permissionNote(entity)}`,
    ),
    resourceOf(entity)!.viewerMutationName
      ? { exclusiveTo: 'rest', ...ROW_MUTATION_EXTENSIONS }
      : ROW_MUTATION_EXTENSIONS,
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
        return (
          await executeUpdates(entity, [rowChange({ id, input, ifVersion })], 'input', context)
        )[0]!;
      }),
    [
      Arg('input', () => PatchInput, { description: 'The values to change.' }),
      Ctx(),
      ...versionArgumentDecorators(entity),
    ],
    rowMutationDecorator(
      Payload,
      name,
      `Updates the viewer's ${nounOfTypeName(entity.name)}. Absent fields stay unchanged.`,
    ),
    ROW_MUTATION_EXTENSIONS,
  );
}

function addDeleteMutation(target: ClassType, entity: Entity, name: string): void {
  const description = `Deletes ${nounPhrase(entity)} and all rows below it.${permissionNote(entity)}`;
  addResolverMethod(
    target,
    'remove',
    (id: string, context: Context, ifVersion?: string | null) =>
      runDeletion(entity, () =>
        executeDeletions(entity, [rowReference({ id, ifVersion })], 'id', context),
      ),
    [ID_ARGUMENT_DECORATOR, Ctx(), ...versionArgumentDecorators(entity)],
    rowMutationDecorator(DeletePayload, name, description),
    ROW_MUTATION_EXTENSIONS,
  );
}

const ID_ARGUMENT_DECORATOR = Arg('id', () => ID, { description: ROW_ID_DESCRIPTION });

/** Returns the argument for optimistic locking; none for public rows, which have no versions. */
const versionArgumentDecorators = (entity: Entity): ResolverParameterDecorator[] =>
  resourceOf(entity)!.isOwned
    ? [Arg('ifVersion', () => String, { nullable: true, description: IF_VERSION_DESCRIPTION })]
    : [];

/**
 * Creates the reference to a row that a mutation updates or deletes. `basePath` is the path of the row in the arguments; empty if the mutation has a
 * single row.
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
  const pluralNoun = nounOfTypeName(pluralName);
  const Payload = createPayloadType<number[]>({
    entity,
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
      `Creates ${pluralNoun}. ${BULK_WRITE_NOTE}`,
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
      return runWrite(Payload, async () =>
        idsOf(await executeUpdates(entity, rowChanges, 'changes', context)),
      );
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
      `Updates ${pluralNoun}. ${BULK_WRITE_NOTE}`,
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
      `Deletes ${pluralNoun} and all rows below them. ${BULK_WRITE_NOTE}`,
    ),
    ROW_MUTATION_EXTENSIONS,
  );
}
