/** What rows of a resource can be grouped by and what can be worked out of groups, told from its fields. */
import { OWNER, resourceOf } from '../model/registry';
import { fieldsOf, type Entity, type FieldMeta } from '../model/fields';
import { lowerFirst } from '../model/inflection';

/** What a field is called among keys and values: a reference by the row that it names. */
export const handleOf = (field: FieldMeta): string => field.object ?? field.name;

const NUMBERS = ['integer', 'decimal'];
const TIMES = ['date', 'datetime', 'time'];
/** Of which equal values make a group. Pictures are shown otherwise than they are stored. */
const PLAIN = ['string', 'url', 'uuid', 'boolean', 'choice', ...NUMBERS, ...TIMES];

/** All rows that anybody can group are of one owner. */
const isShown = (field: FieldMeta) => field.only !== 'rest' && field.name !== 'id' && field.name !== OWNER.field;

export const isReference = (field: FieldMeta): boolean => field.object !== undefined && !field.relation!.many;

export const referencesOf = (entity: Entity): FieldMeta[] => fieldsOf(entity).filter((field) => isShown(field) && isReference(field));

export const groupableOf = (entity: Entity): FieldMeta[] =>
  fieldsOf(entity).filter((field) => isShown(field) && (isReference(field) || PLAIN.includes(field.kind)));

export const numbersOf = (entity: Entity): FieldMeta[] =>
  fieldsOf(entity).filter((field) => isShown(field) && NUMBERS.includes(field.kind));

/** What has a smallest and a largest value that says something. */
export const extremesOf = (entity: Entity): FieldMeta[] =>
  fieldsOf(entity).filter((field) => isShown(field) && [...NUMBERS, ...TIMES].includes(field.kind));

export const daysOf = (entity: Entity): FieldMeta[] => fieldsOf(entity).filter((field) => isShown(field) && field.kind === 'date');
export const momentsOf = (entity: Entity): FieldMeta[] => fieldsOf(entity).filter((field) => isShown(field) && field.kind === 'datetime');

/** Sets of ids that lead to rows of the same type, such as primary and secondary muscles. */
export interface Links {
  /** Of the key: the other type. */
  name: string;
  target: Entity;
  fields: FieldMeta[];
}

/** To be called once all resources are loaded. */
export function linksOf(entity: Entity): Links[] {
  const found = new Map<Entity, Links>();
  for (const field of fieldsOf(entity)) {
    if (!isShown(field) || !field.link) continue;
    const target = field.target!();
    const links = found.get(target) ?? { name: lowerFirst(target.name), target, fields: [] };
    links.fields.push(field);
    found.set(target, links);
  }
  return [...found.values()];
}

/** Whether keys lead through a row of the entity to all that its own groups have; else a reference to it is followed by the name of a field alone. */
export const leadsOn = (entity: Entity): boolean => resourceOf(entity)!.grouped ?? false;
