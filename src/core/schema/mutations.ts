/** Create, update and delete mutations of a resource, for one row and for many. */
import { Arg, Ctx, ID, Mutation, type ClassType } from 'type-graphql';
import type { Context } from '../context';
import { runDeletion, DeletePayload } from './deletepayload';
import { childrenOf, partFieldsOf, type Entity } from '../model/fields';
import { bulkChangeInput, creationInput, IF_VERSION_DESCRIPTION, patchInput, RowVersion } from './inputs';
import { MAX_ROWS_PER_MUTATION } from '../model/fieldvalidation';
import { loadRowsById } from '../read/loaders';
import { addResolverMethod, type ResolverParameterDecorator } from '../model/resolvermethods';
import type { InputPath } from '../model/validationissues';
import { nounOfTypeName, upperFirst, withArticle } from '../model/inflection';
import { ROW_ID_DESCRIPTION } from '../model/node';
import { runWrite, createPayloadType, type PayloadConstructor } from './payload';
import { resourceOf } from '../model/registry';
import { hasRequiredFields } from '../read/queryplan';
import { idOfViewersRow, readRowById } from '../read/rows';
import type { FieldValues } from '../model/hooks';
import type { StoredRow } from '../write/statements';
import { inputHasParts, saveRowWithParts } from '../write/nestedwrite';
import { executeUpdates, createRows, executeDeletions } from '../write/write';

/** Extensions of mutations that only write rows and can therefore be part of an `@atomic` operation. */
const ROW_MUTATION_EXTENSIONS = { writesRows: true };
const BULK_WRITE_NOTE = `All or nothing, at most ${MAX_ROWS_PER_MUTATION} rows.`;

export function addMutations(target: ClassType, entity: Entity): void {
  const { metadata, singularName, viewerMutation } = resourceOf(entity)!;
  if (metadata.create || metadata.update || viewerMutation) {
    const Payload = createPayloadType<StoredRow>({
      entity,
      many: false,
      name: `${entity.name}Payload`,
      description: `The written ${nounOfTypeName(entity.name)}, or the errors in the input.`,
      field: singularName,
      type: () => entity,
      readRows: ({ id, row }, context, info) =>
        row && hasRequiredFields(entity, row, info, context) ? row : readRowById(entity, id, context, info),
    });
    if (metadata.create) addCreation(target, entity, metadata.create, Payload);
    if (metadata.update) addUpdate(target, entity, metadata.update, Payload);
    if (viewerMutation) addViewerUpdate(target, entity, viewerMutation, Payload);
  }
  if (metadata.remove) addDeletion(target, entity, metadata.remove);
  if (metadata.createMany) addBulkMutations(target, entity);
}

const nounPhrase = (entity: Entity) => withArticle(nounOfTypeName(entity.name));

/** Returns a sentence for descriptions that says who may change or delete rows of a public resource with contributions; empty for other resources. */
const permissionNote = (entity: Entity) =>
  resourceOf(entity)!.pendingValues
    ? ' Rejected with FORBIDDEN unless the viewer is a superuser, or contributed it and its review is pending.'
    : '';

function addCreation(target: ClassType, entity: Entity, name: string, Payload: PayloadConstructor<StoredRow>): void {
  const CreationInput = creationInput(entity);
  const childRowsNote = childrenOf(entity).some(({ readOnly }) => !readOnly)
    ? ` and the child rows of the input, all or nothing, at most ${MAX_ROWS_PER_MUTATION} rows`
    : '';
  addResolverMethod(
    target,
    'create',
    (input: FieldValues, context: Context) =>
      runWrite(Payload, async () => (await createRows(entity, [{ input, path: ['input'] }], 'input', context))[0]!),
    [Arg('input', () => CreationInput, { description: 'The values.' }), Ctx()],
    Mutation(() => Payload, {
      nullable: true,
      name,
      description: `Creates ${nounPhrase(entity)}${childRowsNote}. Absent fields have their default values.`,
    }),
    ROW_MUTATION_EXTENSIONS,
  );
}

function addUpdate(target: ClassType, entity: Entity, name: string, Payload: PayloadConstructor<StoredRow>): void {
  const PatchInput = patchInput(entity);
  const partsNote = partFieldsOf(entity).length ? `, optionally with its parts, all or nothing, at most ${MAX_ROWS_PER_MUTATION} rows` : '';
  addResolverMethod(
    target,
    'update',
    (id: string, input: FieldValues, context: Context, ifVersion?: string | null) =>
      runWrite(Payload, async () => {
        const change = { id, idPath: ['id'], input, path: ['input'], ...expectedVersionOf(ifVersion) };
        return inputHasParts(entity, input)
          ? saveRowWithParts(entity, change, 'input', context)
          : (await executeUpdates(entity, [change], 'input', context))[0]!;
      }),
    [ID_ARGUMENT, Arg('input', () => PatchInput, { description: 'The values to change.' }), Ctx(), ...versionArgument(entity)],
    Mutation(() => Payload, {
      nullable: true,
      name,
      description: `Updates ${nounPhrase(entity)}${partsNote}. Absent fields stay unchanged.${permissionNote(entity)}`,
    }),
    resourceOf(entity)!.viewerMutation ? { only: 'rest', ...ROW_MUTATION_EXTENSIONS } : ROW_MUTATION_EXTENSIONS,
  );
}

/** Adds the update mutation of a resource with one row per user. It takes no id. */
function addViewerUpdate(target: ClassType, entity: Entity, name: string, Payload: PayloadConstructor<StoredRow>): void {
  const PatchInput = patchInput(entity);
  addResolverMethod(
    target,
    'updateMine',
    (input: FieldValues, context: Context, ifVersion?: string | null) =>
      runWrite(Payload, async () => {
        const id = String(await idOfViewersRow(entity, context));
        return (
          await executeUpdates(entity, [{ id, idPath: ['id'], input, path: ['input'], ...expectedVersionOf(ifVersion) }], 'input', context)
        )[0]!;
      }),
    [Arg('input', () => PatchInput, { description: 'The values to change.' }), Ctx(), ...versionArgument(entity)],
    Mutation(() => Payload, {
      nullable: true,
      name,
      description: `Updates the viewer's ${nounOfTypeName(entity.name)}. Absent fields stay unchanged.`,
    }),
    ROW_MUTATION_EXTENSIONS,
  );
}

function addDeletion(target: ClassType, entity: Entity, name: string): void {
  const description = `Deletes ${nounPhrase(entity)} and all rows below it.${permissionNote(entity)}`;
  addResolverMethod(
    target,
    'remove',
    (id: string, context: Context, ifVersion?: string | null) =>
      runDeletion(entity, () => executeDeletions(entity, [{ id, idPath: ['id'], ...expectedVersionOf(ifVersion) }], 'id', context)),
    [ID_ARGUMENT, Ctx(), ...versionArgument(entity)],
    Mutation(() => DeletePayload, { nullable: true, name, description }),
    ROW_MUTATION_EXTENSIONS,
  );
}

const ID_ARGUMENT = Arg('id', () => ID, { description: ROW_ID_DESCRIPTION });

/** Returns the argument for optimistic locking; none for public rows, which have no versions. */
const versionArgument = (entity: Entity): ResolverParameterDecorator[] =>
  resourceOf(entity)!.owned ? [Arg('ifVersion', () => String, { nullable: true, description: IF_VERSION_DESCRIPTION })] : [];

const expectedVersionOf = (version: string | null | undefined, ...basePath: InputPath) =>
  version == null ? {} : { version: { expected: version, path: [...basePath, 'ifVersion'] } };

function addBulkMutations(target: ClassType, entity: Entity): void {
  const { metadata, pluralName } = resourceOf(entity)!;
  const pluralNoun = nounOfTypeName(pluralName);
  const Payload = createPayloadType<number[]>({
    entity,
    many: true,
    name: `${upperFirst(pluralName)}Payload`,
    description: `The written ${pluralNoun}, in the order of the input, or the errors in the input.`,
    field: pluralName,
    type: () => [entity],
    readRows: (ids, context, info) => loadRowsById(entity, ids, context, info),
  });
  const idsOf = (rows: readonly StoredRow[]) => rows.map(({ id }) => id);
  const CreationInput = creationInput(entity);
  const BulkChangeInput = bulkChangeInput(entity);
  addResolverMethod(
    target,
    'createMany',
    (inputs: FieldValues[], context: Context) => {
      const rowsWithPaths = inputs.map((input, index) => ({ input, path: ['inputs', String(index)] }));
      return runWrite(Payload, async () => idsOf(await createRows(entity, rowsWithPaths, 'inputs', context)));
    },
    [Arg('inputs', () => [CreationInput], { description: 'The values of each row.' }), Ctx()],
    Mutation(() => Payload, { nullable: true, name: metadata.createMany, description: `Creates ${pluralNoun}. ${BULK_WRITE_NOTE}` }),
    ROW_MUTATION_EXTENSIONS,
  );
  addResolverMethod(
    target,
    'updateMany',
    (changes: { id: string; input: FieldValues; ifVersion?: string | null }[], context: Context) => {
      const rowsWithPaths = changes.map(({ id, input, ifVersion }, index) => {
        const elementPath = ['changes', String(index)];
        return {
          id,
          idPath: [...elementPath, 'id'],
          input,
          path: [...elementPath, 'input'],
          ...expectedVersionOf(ifVersion, ...elementPath),
        };
      });
      return runWrite(Payload, async () => idsOf(await executeUpdates(entity, rowsWithPaths, 'changes', context)));
    },
    [Arg('changes', () => [BulkChangeInput], { description: 'The changes of each row. A row may occur only once.' }), Ctx()],
    Mutation(() => Payload, { nullable: true, name: metadata.updateMany, description: `Updates ${pluralNoun}. ${BULK_WRITE_NOTE}` }),
    ROW_MUTATION_EXTENSIONS,
  );
  addResolverMethod(
    target,
    'removeMany',
    (rows: RowVersion[], context: Context) => {
      const rowsWithPaths = rows.map(({ id, ifVersion }, index) => {
        const elementPath = ['rows', String(index)];
        return { id, idPath: [...elementPath, 'id'], ...expectedVersionOf(ifVersion, ...elementPath) };
      });
      return runDeletion(entity, () => executeDeletions(entity, rowsWithPaths, 'rows', context));
    },
    [Arg('rows', () => [RowVersion], { description: 'The rows to delete. A row may occur only once.' }), Ctx()],
    Mutation(() => DeletePayload, {
      nullable: true,
      name: metadata.removeMany,
      description: `Deletes ${pluralNoun} and all rows below them. ${BULK_WRITE_NOTE}`,
    }),
    ROW_MUTATION_EXTENSIONS,
  );
}
