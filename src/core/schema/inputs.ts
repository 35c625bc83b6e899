/** GraphQL input types of a resource, generated from its fields: for creation, for changes of one row, and for changes of many rows. */
import { Extensions, Field, ID, InputType, type ClassType } from 'type-graphql';
import { creatableChildFields } from '../write/drafts';
import {
  defaultValues,
  fieldOf,
  fieldsOf,
  childFieldsSavedWithParent,
  type Entity,
  type EntityField,
} from '../model/fields';
import { toSnakeCase } from '../../contract/casing';
import { nounOfTypeName, upperFirst, withArticle } from '../model/inflection';
import { ROW_ID_DESCRIPTION } from '../model/node';
import { memoizePerEntity } from '../model/memoize';

const writableFields = (entity: Entity) => fieldsOf(entity).filter((field) => !field.readOnly);

interface InputFieldOptions {
  nullable: boolean;
  defaultValue?: unknown;
  description: string;
}

function creationFieldOptions(field: EntityField): InputFieldOptions {
  const { graphqlDescription: description, relation, allowBlank } = field;
  if (field.default === defaultValues.byTrigger) return { nullable: true, description };
  if (typeof field.default === 'function') {
    const defaultText = field.default === defaultValues.today ? 'Today' : 'Now';
    return { nullable: true, description: `${description} ${defaultText} if absent.` };
  }
  if (relation && field.default !== undefined) {
    if (field.defaultDescription === undefined)
      throw new Error(
        `The default of ${field.name} is an id: say in \`defaultDescription\` what it stands for.`,
      );
    return {
      nullable: true,
      description: `${description} If absent, ${field.defaultDescription}.`,
    };
  }
  return {
    nullable: field.allowNull,
    description,
    defaultValue: field.default ?? (allowBlank && !field.allowNull ? '' : undefined),
  };
}

const patchFieldOptions = ({
  graphqlDescription: description,
}: EntityField): InputFieldOptions => ({ nullable: true, description });

function createInputType(
  typeName: string,
  description: string,
  fields: readonly EntityField[],
  optionsOf: (field: EntityField) => InputFieldOptions,
): ClassType {
  const InputClass = { [typeName]: class {} }[typeName]!;
  for (const field of fields) {
    const type = field.inputType ?? field.type;
    Field(() => (field.relation?.isToMany ? [type()] : type()), optionsOf(field))(
      InputClass.prototype,
      field.name,
    );
    Extensions({ field })(InputClass.prototype, field.name);
  }
  InputType(typeName, { description })(InputClass);
  return InputClass as ClassType;
}

const isPartOfReferencedRow = (entity: Entity, referenceFieldName: string) =>
  childFieldsSavedWithParent(fieldOf(entity, referenceFieldName).target!()).some(
    (child) => child.target() === entity && child.referenceFieldName === referenceFieldName,
  );

const creationInputTypes = new Map<string, ClassType>();

/**
 * Returns the input type of a new row with its child rows. The input omits `referenceFieldName`, the reference to a parent row that the same mutation
 * creates.
 */
export function creationInputType(entity: Entity, referenceFieldName?: string): ClassType {
  const noun = nounOfTypeName(entity.name);
  const parent = referenceFieldName && fieldOf(entity, referenceFieldName).objectFieldName!;
  const name = parent ? `${entity.name}Of${upperFirst(parent)}Input` : `${entity.name}Input`;
  const existingInput = creationInputTypes.get(name);
  if (existingInput) return existingInput;
  const parentPhrase = parent
    ? ` together with its ${toSnakeCase(parent).replaceAll('_', ' ')}`
    : '';
  const fields = writableFields(entity).filter((field) => field.name !== referenceFieldName);
  const InputClass = createInputType(
    name,
    `The values of a new ${noun}${parentPhrase}.`,
    fields,
    creationFieldOptions,
  );
  creationInputTypes.set(name, InputClass);
  if (referenceFieldName && isPartOfReferencedRow(entity, referenceFieldName))
    Field(() => ID, {
      nullable: true,
      description:
        'The `id` or `nodeId` of an existing row, which is updated when the parent is saved. Absent for a new row.',
    })(InputClass.prototype, 'id');
  // The input types of child rows may refer back to the input type of their parent row, so the latter is added to the map of types first.
  for (const child of creatableChildFields(entity)) {
    const type = creationInputType(child.target(), child.referenceFieldName);
    const description = `${child.description} Created together with the row.`;
    Field(() => [type], { nullable: true, description })(InputClass.prototype, child.name);
  }
  return InputClass;
}

export const patchInputType = memoizePerEntity((entity) => {
  const description = `Changes of ${withArticle(nounOfTypeName(entity.name))}. Absent fields stay unchanged.`;
  const PatchInput = createInputType(
    `${entity.name}Patch`,
    description,
    writableFields(entity),
    patchFieldOptions,
  );
  for (const child of childFieldsSavedWithParent(entity)) {
    const type = creationInputType(child.target(), child.referenceFieldName);
    const description = `${child.description} Replaces the existing list: rows with an \`id\` are updated, rows without one are created, and missing rows are deleted.`;
    Field(() => [type], { nullable: true, description })(PatchInput.prototype, child.name);
  }
  return PatchInput;
});

export const IF_VERSION_DESCRIPTION = 'Expected `version`. On a mismatch, nothing is written.';

@InputType({ description: 'A row to delete, and its expected version.' })
export class RowVersion {
  @Field(() => ID, { description: ROW_ID_DESCRIPTION }) declare readonly id: string;
  @Field(() => String, { nullable: true, description: IF_VERSION_DESCRIPTION })
  declare readonly ifVersion?: string | null;
}

/** Returns the input type of one changed row in an update of many rows. */
export function bulkChangeInputType(entity: Entity): ClassType {
  const name = `${entity.name}Change`;
  const ChangeInput = { [name]: class {} }[name]!;
  Field(() => ID, { description: ROW_ID_DESCRIPTION })(ChangeInput.prototype, 'id');
  const PatchInput = patchInputType(entity);
  Field(() => PatchInput, { description: 'The values to change.' })(ChangeInput.prototype, 'input');
  Field(() => String, { nullable: true, description: IF_VERSION_DESCRIPTION })(
    ChangeInput.prototype,
    'ifVersion',
  );
  InputType(name, { description: `The changes of ${withArticle(nounOfTypeName(entity.name))}.` })(
    ChangeInput,
  );
  return ChangeInput as ClassType;
}
