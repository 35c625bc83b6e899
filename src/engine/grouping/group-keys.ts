/** Group keys and statistics fields of a resource, derived from its field metadata. */
import { fieldsOf, isReferenceField, type Entity, type EntityField } from '../declare/fields';
import { lowerFirst } from '../declare/inflection';
import { memoizePerEntity } from '../declare/memoize';
import { OWNER_FIELD, resourceOf } from '../declare/registry';

/**
 * Name of a field in group keys and statistics. A reference is named like the row (`exercise`, not
 * `exerciseId`).
 */
export const groupFieldName = (field: EntityField): string => field.relationFieldName ?? field.name;

const NUMBER_KINDS = ['integer', 'decimal'];
const TIME_KINDS = ['date', 'datetime', 'time'];

/**
 * Field kinds whose values can be group keys. Images cannot, because clients see another value than
 * the stored one.
 */
const GROUPABLE_KINDS = [
  'string',
  'url',
  'uuid',
  'boolean',
  'choice',
  ...NUMBER_KINDS,
  ...TIME_KINDS,
];

/**
 * Whether a field can be a group key or have statistics. The owner cannot, because viewers only
 * group their own rows.
 */
const isUsableInGroups = (field: EntityField) =>
  field.exclusiveTo !== 'rest' && field.name !== 'id' && field.name !== OWNER_FIELD.field;

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

/**
 * Path of references from the grouped row to a row of `entity`. The path to the grouped row itself
 * is empty.
 */
interface RelationPath {
  path: readonly EntityField[];
  entity: Entity;
}

export interface FieldValueGroupKey extends RelationPath {
  name: string;
  field: EntityField;
}

/**
 * A group key whose values are linked rows (many-to-many). Fields that link the same type, such as
 * primary and secondary muscles, form one key.
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

/**
 * Resolves a dotted path of references that the resource declares in `groupKeyPaths`, such as
 * `exercise.category`.
 */
function resolveDeclaredKey(
  entity: Entity,
  name: string,
  dottedPath: string,
): FieldValueGroupKey | LinkedRowGroupKey {
  const path: EntityField[] = [];
  let keys = groupKeysOfOwnFields(entity);

  for (const pathSegment of dottedPath.split('.')) {
    const key = keys.find((candidate) => candidate.name === pathSegment);

    if (!key) {
      throw new Error(`${entity.name} is grouped by ${dottedPath}, and there is no ${pathSegment}`);
    }

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
 * Group keys of a resource that are values of fields, and group keys that are linked rows. Call
 * both only after all resources are loaded.
 */
export const groupKeysOfFieldValues = (entity: Entity): FieldValueGroupKey[] =>
  groupKeysOf(entity).filter((key) => 'field' in key);
export const groupKeysOfLinkedRows = (entity: Entity): LinkedRowGroupKey[] =>
  groupKeysOf(entity).filter((key) => 'fields' in key);
