/** Group keys and statistics fields of a resource, derived from its field metadata. */
import { fieldsOf, type Entity, type EntityField } from '../model/fields';
import { lowerFirst } from '../model/inflection';
import { memoizePerEntity } from '../model/memoize';
import { OWNER_FIELD, resourceOf } from '../model/registry';

/** Returns the name of a field in group keys and statistics. A reference has the name of its object field (`exercise`, not `exerciseId`). */
export const groupFieldName = (field: EntityField): string => field.objectFieldName ?? field.name;

const NUMBER_KINDS = ['integer', 'decimal'];
const TIME_KINDS = ['date', 'datetime', 'time'];
/** Field kinds whose values can be group keys. Images cannot, because their stored value differs from the one that clients see. */
const GROUPABLE_KINDS = [
  'string',
  'url',
  'uuid',
  'boolean',
  'choice',
  ...NUMBER_KINDS,
  ...TIME_KINDS,
];

/** Whether a field can be a group key or have statistics. The owner cannot, because all rows that a viewer can group have the same owner. */
const isUsableInGroups = (field: EntityField) =>
  field.exclusiveTo !== 'rest' && field.name !== 'id' && field.name !== OWNER_FIELD.field;

export const isReferenceField = (field: EntityField): boolean =>
  field.objectFieldName !== undefined && !field.relation!.isToMany;

const groupableFieldsOf = (entity: Entity): EntityField[] =>
  fieldsOf(entity).filter(
    (field) =>
      isUsableInGroups(field) && (isReferenceField(field) || GROUPABLE_KINDS.includes(field.kind)),
  );

const fieldsOfKinds = (entity: Entity, kinds: readonly string[]): EntityField[] =>
  fieldsOf(entity).filter((field) => isUsableInGroups(field) && kinds.includes(field.kind));

export const numberFieldsOf = (entity: Entity): EntityField[] =>
  fieldsOfKinds(entity, NUMBER_KINDS);
export const minMaxFieldsOf = (entity: Entity): EntityField[] =>
  fieldsOfKinds(entity, [...NUMBER_KINDS, ...TIME_KINDS]);
export const dateFieldsOf = (entity: Entity): EntityField[] => fieldsOfKinds(entity, ['date']);
export const datetimeFieldsOf = (entity: Entity): EntityField[] =>
  fieldsOfKinds(entity, ['datetime']);

/** A path of references from the grouped row, and the type of the row at its end. The path is empty for the grouped row itself. */
interface RelationPath {
  path: readonly EntityField[];
  entity: Entity;
}

export interface FieldValueGroupKey extends RelationPath {
  name: string;
  field: EntityField;
}

/**
 * A group key whose values are linked rows (many-to-many). Fields that link rows of the same type, such as primary and secondary muscles, form one
 * key.
 */
export interface LinkedRowGroupKey extends RelationPath {
  name: string;
  target: Entity;
  fields: EntityField[];
}

function groupKeysOfOwnFields(entity: Entity): (FieldValueGroupKey | LinkedRowGroupKey)[] {
  const linkKeyByTarget = new Map<Entity, LinkedRowGroupKey>();
  for (const field of fieldsOf(entity)) {
    if (!isUsableInGroups(field) || !field.link) continue;
    const target = field.target!();
    const key = linkKeyByTarget.get(target) ?? {
      name: lowerFirst(target.name),
      path: [],
      entity,
      target,
      fields: [],
    };
    key.fields.push(field);
    linkKeyByTarget.set(target, key);
  }
  return [
    ...groupableFieldsOf(entity).map((field) => ({
      name: groupFieldName(field),
      path: [],
      entity,
      field,
    })),
    ...linkKeyByTarget.values(),
  ];
}

/** Returns the group key at the end of a dotted path of references, such as `exercise.category`, which the resource declares in `groupKeyPaths`. */
function resolveDeclaredKey(
  entity: Entity,
  name: string,
  dottedPath: string,
): FieldValueGroupKey | LinkedRowGroupKey {
  const path: EntityField[] = [];
  let keys = groupKeysOfOwnFields(entity);
  for (const pathSegment of dottedPath.split('.')) {
    const key = keys.find((candidate) => candidate.name === pathSegment);
    if (!key)
      throw new Error(`${entity.name} is grouped by ${dottedPath}, and there is no ${pathSegment}`);
    if (!('field' in key) || !isReferenceField(key.field)) return { ...key, name, path };
    keys = groupKeysOfOwnFields(key.field.target!());
    path.push(key.field);
  }
  const field = path.pop()!;
  return { name, path, entity: path.at(-1)?.target!() ?? entity, field };
}

const groupKeysOf = memoizePerEntity((entity) => {
  const declaredKeys = Object.entries(resourceOf(entity)!.groupKeyPaths!).map(
    ([name, dottedPath]) => resolveDeclaredKey(entity, name, dottedPath),
  );
  return [...groupKeysOfOwnFields(entity), ...declaredKeys];
});

/**
 * `groupKeysOfFieldValues` returns the group keys of a resource that are values of fields, `groupKeysOfLinkedRows` those that are linked rows. Call
 * them only after all resources are loaded.
 */
export const groupKeysOfFieldValues = (entity: Entity): FieldValueGroupKey[] =>
  groupKeysOf(entity).filter((key) => 'field' in key);
export const groupKeysOfLinkedRows = (entity: Entity): LinkedRowGroupKey[] =>
  groupKeysOf(entity).filter((key) => 'fields' in key);
