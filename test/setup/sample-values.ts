/**
 * Valid values for the fields of any resource, derived from their metadata, so that a rule can be
 * tested for every resource.
 */
import { MAX_INTEGER } from '../../src/shared/bounds';
import { fieldOf, fieldsOf, type Entity, type EntityField } from '../../src/engine/declare/fields';
import { resourceOf } from '../../src/engine/declare/registry';
import type { DumpRow } from '../../src/transfer/dump';

export type Values = Record<string, unknown>;

/**
 * Returns the id, or ids, for a relation. For a relation that must be unique, samples with
 * different numbers need different ids.
 */
export type Parents = (field: EntityField, number: number) => unknown;

const day = (number: number) => new Date(Date.UTC(2000, 0, number)).toISOString().slice(0, 10);

const isUnique = (entity: Entity, { name }: EntityField) =>
  resourceOf(entity)!.uniqueFields?.includes(name);

const choiceValues = ({ choices }: EntityField): unknown[] =>
  choices!.flatMap((choice) => (choice.value === null ? [] : [choice.value]));

/** Number of different ids that samples use for a unique relation to a public type. */
export const PUBLIC_PARENTS = 2;

/**
 * Returns how many samples with consecutive numbers and the same owned parents differ in fields
 * that must be unique together.
 */
export function distinctSamples(entity: Entity): number {
  const fields = fieldsOf(entity).filter(
    (field) => isUnique(entity, field) && !field.relation?.isOwned,
  );
  const counts = fields.map((field) => {
    if (field.relation) return PUBLIC_PARENTS;
    if (field.kind === 'choice') return choiceValues(field).length;

    return field.kind === 'integer'
      ? (field.max ?? MAX_INTEGER) - lowestInteger(field) + 1
      : Infinity;
  });

  return resourceOf(entity)!.uniqueFields ? Math.max(1, ...counts) : Infinity;
}

const lowestInteger = ({ min = 1 }: EntityField): number => Math.max(min, 1);

function value(entity: Entity, field: EntityField, number: number): unknown {
  const published = field.column && resourceOf(entity)!.publishedColumnValues?.[field.column];

  if (published !== undefined) return published;
  if (field.name === 'timeZone') return 'Europe/Berlin';

  switch (field.kind) {
    case 'integer': {
      const lowest = lowestInteger(field);

      return isUnique(entity, field)
        ? lowest + (number % ((field.max ?? MAX_INTEGER) - lowest + 1))
        : lowest;
    }
    case 'decimal':
      return `${Math.max(field.min ?? 1, 1)}.50`;
    case 'boolean':
      return false;
    case 'date':
      return day(number);
    case 'time':
      return '08:00:00';
    case 'datetime':
      return '2021-03-10T08:00:00+01:00';
    case 'choice':
      return choiceValues(field)[
        isUnique(entity, field) ? (number - 1) % choiceValues(field).length : 0
      ];
    case 'uuid':
      return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    case 'url':
      return `https://example.com/${number}`;
    case 'image':
      return `exercise-images/${number}.png`;
    default:
      return number
        .toString(36)
        .padStart(2, '0')
        .padEnd(field.minLength ?? 2, ' x');
  }
}

/**
 * Returns values by GraphQL name. Samples with different numbers differ in fields that must be
 * unique.
 */
export function sample(
  entity: Entity,
  number: number,
  parents: Parents,
  isIncluded: (field: EntityField) => boolean,
): Values {
  const fields = fieldsOf(entity).filter(
    (field) =>
      field.name !== 'id' &&
      !field.setByDatabase &&
      (field.isColumn || field.link) &&
      isIncluded(field),
  );

  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      field.relation
        ? parents(field, isUnique(entity, field) ? number : 1)
        : value(entity, field, number),
    ]),
  );
}

/** Replaces a stored value, or each of several, by its GraphQL enum name. */
export function toEnumName(field: Pick<EntityField, 'enum'>, value: unknown): unknown {
  if (!field.enum) return value;
  if (Array.isArray(value)) return value.map((one) => toEnumName(field, one));

  return Object.entries(field.enum.type).find(([, stored]) => stored === value)?.[0] ?? null;
}

/** Returns the input of a creation over GraphQL. */
export function inputOf(entity: Entity, number: number, parents: Parents): Values {
  const values = sample(
    entity,
    number,
    parents,
    (field) => !field.readOnly && field.exclusiveTo !== 'rest',
  );

  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, toEnumName(fieldOf(entity, name), value)]),
  );
}

/**
 * Returns the input of a row that is created together with its parent, which the field `by`
 * references: without that field and the fields that a rule ties to it.
 */
export function inputBelow(entity: Entity, by: string, number: number, parents: Parents): Values {
  const bound = [
    by,
    ...(resourceOf(entity)!.crossFieldRules ?? []).flatMap(({ fields }) =>
      fields.includes(by) ? fields : [],
    ),
  ];

  return Object.fromEntries(
    Object.entries(inputOf(entity, number, parents)).filter(([name]) => !bound.includes(name)),
  );
}

/** Returns the body of a POST, with the keys of REST. */
export const bodyOf = (entity: Entity, number: number, parents: Parents): Values =>
  byRestName(
    entity,
    sample(entity, number, parents, (field) => !field.restReadOnly),
  );

/** Returns a row of a dump. */
export const dumpRowOf = (entity: Entity, number: number, parents: Parents): DumpRow => ({
  model: resourceOf(entity)!.dumpModelName!,
  pk: number,
  fields: byRestName(
    entity,
    sample(
      entity,
      number,
      parents,
      (field) => (field.isColumn || !field.link?.keyColumn) && field.setByTriggerIn !== 'rest',
    ),
  ),
});

const byRestName = (entity: Entity, values: Values): Values =>
  Object.fromEntries(
    fieldsOf(entity).flatMap(({ name, restKey }) =>
      name in values ? [[restKey, values[name]]] : [],
    ),
  );
