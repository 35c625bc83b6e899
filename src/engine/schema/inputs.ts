/**
 * GraphQL input types of a resource, generated from its fields: for creations, updates and bulk
 * updates.
 */
import { Extensions, Field, ID, InputType, type ClassType } from 'type-graphql';
import { creatableChildFields } from '../write/drafts';
import {
  defaultValues,
  fieldOf,
  fieldsOf,
  partFields,
  type Entity,
  type EntityField,
} from '../declare/fields';
import { toSnakeCase } from '../../shared/casing';
import { nounOf, upperFirst, withArticle } from '../declare/inflection';
import { ROW_ID_DESCRIPTION } from '../declare/node';
import { memoizePerEntity } from '../declare/memoize';

const writableFields = (entity: Entity) => fieldsOf(entity).filter((field) => !field.readOnly);

/** Whether rows have values that clients set. A group of variations has only an id. */
export const hasWritableFields = (entity: Entity): boolean => writableFields(entity).length > 0;

interface InputFieldOptions {
  nullable: boolean;
  description: string;
  isOnlyRequiredInGraphQL?: boolean;
}

/**
 * Describes defaults instead of declaring them in the schema, because an input type of child rows
 * also changes existing rows, whose absent fields stay unchanged.
 */
function creationFieldOptions(field: EntityField): InputFieldOptions {
  const { graphqlDescription: description, relation, graphqlAllowBlank } = field;

  if (field.default === defaultValues.byTrigger || field.setByTriggerIn) {
    return {
      nullable: true,
      description,
      isOnlyRequiredInGraphQL: field.setByTriggerIn === 'rest',
    };
  }

  if (typeof field.default === 'function') {
    const defaultText = field.default === defaultValues.today ? 'Today' : 'Now';

    return { nullable: true, description: `${description} ${defaultText} if absent.` };
  }

  if (relation && field.default !== undefined) {
    if (field.defaultDescription === undefined) {
      throw new Error(
        `The default of ${field.name} is an id: say in \`defaultDescription\` what it stands for.`,
      );
    }

    return {
      nullable: true,
      description: `${description} If absent, ${field.defaultDescription}.`,
    };
  }

  if (field.default !== undefined) {
    return { nullable: true, description: `${description} ${defaultNote(field)}` };
  }

  return { nullable: field.allowNull || graphqlAllowBlank, description };
}

function defaultNote({ default: defaultValue, enum: enumDefinition }: EntityField): string {
  const names = Object.entries(enumDefinition?.type ?? {});
  const name = names.find(([, value]) => value === defaultValue)?.[0];

  return `\`${name ?? String(defaultValue)}\` if absent.`;
}

/** Options of a field of parts, which may be new or have an id. */
function partFieldOptions(field: EntityField): InputFieldOptions {
  const { nullable, description, isOnlyRequiredInGraphQL } = creationFieldOptions(field);
  const isRequired = !nullable || isOnlyRequiredInGraphQL;

  if (field.isPosition) {
    return {
      nullable: true,
      description: `${field.graphqlDescription} The place in the list if absent from all of its rows.`,
    };
  }

  return {
    nullable: true,
    description: isRequired ? `${description} Required for a new row.` : description,
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
    const { isOnlyRequiredInGraphQL, ...options } = optionsOf(field);

    Field(() => (field.relation?.isToMany ? [type()] : type()), options)(
      InputClass.prototype,
      field.name,
    );
    Extensions({ field, isOnlyRequiredInGraphQL })(InputClass.prototype, field.name);
  }

  InputType(typeName, { description })(InputClass);
  return InputClass as ClassType;
}

const isPartOfReferencedRow = (entity: Entity, referenceFieldName: string) =>
  partFields(fieldOf(entity, referenceFieldName).target!()).some(
    (child) => child.target() === entity && child.referenceFieldName === referenceFieldName,
  );

const creationInputTypes = new Map<string, ClassType>();

/**
 * Input type of a new row with its child rows. With `referenceFieldName`, it is the type of child
 * rows without this reference, because the same mutation writes the parent row.
 */
export function creationInputType(entity: Entity, referenceFieldName?: string): ClassType {
  const noun = nounOf(entity.name);
  const parent = referenceFieldName && fieldOf(entity, referenceFieldName).relationFieldName!;
  const name = parent ? `${entity.name}Of${upperFirst(parent)}Input` : `${entity.name}Input`;
  const existingInput = creationInputTypes.get(name);

  if (existingInput) return existingInput;
  let parentPhrase = '';

  if (parent) parentPhrase = ` together with its ${toSnakeCase(parent).replaceAll('_', ' ')}`;
  const fields = writableFields(entity).filter((field) => field.name !== referenceFieldName);
  const isPart =
    referenceFieldName !== undefined && isPartOfReferencedRow(entity, referenceFieldName);
  const InputClass = createInputType(
    name,
    `The values of a new ${noun}${parentPhrase}.`,
    fields,
    isPart ? partFieldOptions : creationFieldOptions,
  );

  creationInputTypes.set(name, InputClass);

  if (isPart) {
    Field(() => ID, {
      nullable: true,
      description:
        'The `id` or `nodeId` of an existing row, whose absent fields stay unchanged. Absent for a new row.',
    })(InputClass.prototype, 'id');
  }

  // Input types of child rows may refer back to the input type of their parent row, so the type of
  // the parent row is registered first.
  for (const child of creatableChildFields(entity)) {
    const type = creationInputType(child.target(), child.referenceFieldName);
    const description = `${child.description} Created together with the row.`;

    Field(() => [type], { nullable: true, description })(InputClass.prototype, child.name);
  }

  return InputClass;
}

export const patchInputType = memoizePerEntity((entity) => {
  const description = `Changes of ${withArticle(nounOf(entity.name))}. Absent fields stay unchanged.`;
  const PatchInput = createInputType(
    `${entity.name}Patch`,
    description,
    writableFields(entity),
    patchFieldOptions,
  );

  for (const child of partFields(entity)) {
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

/** Input type of one row in a bulk update. */
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
  InputType(name, { description: `The changes of ${withArticle(nounOf(entity.name))}.` })(
    ChangeInput,
  );

  return ChangeInput as ClassType;
}
