/** What rows of a resource can be grouped by and what can be worked out of groups, told from its fields. */
import { fieldsOf, type Entity, type FieldMeta } from '../model/fields';
import { lowerFirst } from '../model/inflection';
import { perEntity } from '../model/perentity';
import { OWNER, resourceOf } from '../model/registry';

/** What a field is called among keys and values: a reference by the row that it names. */
export const handleOf = (field: FieldMeta): string => field.object ?? field.name;

const NUMBERS = ['integer', 'decimal'];
const TIMES = ['date', 'datetime', 'time'];
/** Of which equal values make a group. Pictures are shown otherwise than they are stored. */
const PLAIN = ['string', 'url', 'uuid', 'boolean', 'choice', ...NUMBERS, ...TIMES];

/** All rows that anybody can group are of one owner. */
const isShown = (field: FieldMeta) => field.only !== 'rest' && field.name !== 'id' && field.name !== OWNER.field;

export const isReference = (field: FieldMeta): boolean => field.object !== undefined && !field.relation!.many;

const groupableOf = (entity: Entity): FieldMeta[] =>
  fieldsOf(entity).filter((field) => isShown(field) && (isReference(field) || PLAIN.includes(field.kind)));

export const numbersOf = (entity: Entity): FieldMeta[] =>
  fieldsOf(entity).filter((field) => isShown(field) && NUMBERS.includes(field.kind));

/** What has a smallest and a largest value that says something. */
export const extremesOf = (entity: Entity): FieldMeta[] =>
  fieldsOf(entity).filter((field) => isShown(field) && [...NUMBERS, ...TIMES].includes(field.kind));

export const daysOf = (entity: Entity): FieldMeta[] => fieldsOf(entity).filter((field) => isShown(field) && field.kind === 'date');
export const momentsOf = (entity: Entity): FieldMeta[] => fieldsOf(entity).filter((field) => isShown(field) && field.kind === 'datetime');

/** A row that references lead to from a row that is grouped: the references, none for that row itself, and its type. */
interface Place {
  path: readonly FieldMeta[];
  entity: Entity;
}

/** A field of which equal values make a group. */
export interface ValueKey extends Place {
  name: string;
  field: FieldMeta;
}

/** Sets of ids that lead to rows of the same type, such as primary and secondary muscles. */
export interface LinkKey extends Place {
  name: string;
  target: Entity;
  fields: FieldMeta[];
}

function ownKeys(entity: Entity): (ValueKey | LinkKey)[] {
  const links = new Map<Entity, LinkKey>();
  for (const field of fieldsOf(entity)) {
    if (!isShown(field) || !field.link) continue;
    const target = field.target!();
    const key = links.get(target) ?? { name: lowerFirst(target.name), path: [], entity, target, fields: [] };
    key.fields.push(field);
    links.set(target, key);
  }
  return [...groupableOf(entity).map((field) => ({ name: handleOf(field), path: [], entity, field })), ...links.values()];
}

/** The key of another row that a resource chose, by its way there. */
function chosenKey(entity: Entity, name: string, way: string): ValueKey | LinkKey {
  const path: FieldMeta[] = [];
  let keys = ownKeys(entity);
  for (const step of way.split('.')) {
    const key = keys.find((one) => one.name === step);
    if (!key) throw new Error(`${entity.name} is grouped by ${way}, and there is no ${step}`);
    if (!('field' in key) || !isReference(key.field)) return { ...key, name, path };
    keys = ownKeys(key.field.target!());
    path.push(key.field);
  }
  const field = path.pop()!;
  return { name, path, entity: path.at(-1)?.target!() ?? entity, field };
}

const keysOf = perEntity((entity) => {
  const chosen = Object.entries(resourceOf(entity)!.grouped!).map(([name, way]) => chosenKey(entity, name, way));
  return [...ownKeys(entity), ...chosen];
});

/** To be called once all resources are loaded. */
export const valueKeysOf = (entity: Entity): ValueKey[] => keysOf(entity).filter((key) => 'field' in key);
export const linkKeysOf = (entity: Entity): LinkKey[] => keysOf(entity).filter((key) => 'fields' in key);
