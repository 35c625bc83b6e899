/** What is written: the input types of a resource, made from its fields. */
import { Extensions, Field, ID, InputType, type ClassType } from 'type-graphql';
import { creatableBelow } from '../write/drafts';
import { defaults, fieldOf, fieldsOf, partsOf, type Entity, type FieldMeta } from '../model/fields';
import { snake } from '../../contract/casing';
import { noun, upperFirst, withArticle } from '../model/inflection';
import { WHICH_ROW } from '../model/node';
import { perEntity } from '../model/perentity';

const writableFields = (entity: Entity) => fieldsOf(entity).filter((field) => !field.readOnly);

interface Shape {
  nullable: boolean;
  defaultValue?: unknown;
  description: string;
}

/** Of a row that is made: what must be given, and what is stored where nothing is. */
function newValue(field: FieldMeta): Shape {
  const { about: description, relation, blank } = field;
  if (field.default === defaults.byTrigger) return { nullable: true, description };
  if (typeof field.default === 'function') {
    const when = field.default === defaults.today ? 'Today' : 'Now';
    return { nullable: true, description: `${description} ${when} if absent.` };
  }
  if (relation && field.default !== undefined) {
    if (field.absent === undefined) throw new Error(`The default of ${field.name} is an id: say in \`absent\` what it stands for.`);
    return { nullable: true, description: `${description} If absent, ${field.absent}.` };
  }
  return { nullable: field.null, description, defaultValue: field.default ?? (blank && !field.null ? '' : undefined) };
}

const changedValue = ({ about: description }: FieldMeta): Shape => ({ nullable: true, description });

function inputOf(name: string, description: string, fields: readonly FieldMeta[], shape: (field: FieldMeta) => Shape): ClassType {
  const Input = { [name]: class {} }[name]!;
  for (const field of fields) {
    const type = field.input ?? field.type;
    Field(() => (field.relation?.many ? [type()] : type()), shape(field))(Input.prototype, field.name);
    Extensions({ field })(Input.prototype, field.name);
  }
  InputType(name, { description })(Input);
  return Input as ClassType;
}

const isPart = (entity: Entity, by: string) =>
  partsOf(fieldOf(entity, by).target!()).some((child) => child.target() === entity && child.by === by);

const creations = new Map<string, ClassType>();

/** The values of a new row and of those below it. `by` names the parent, if that is made together with the row: then no one need say it. */
export function creationInput(entity: Entity, by?: string): ClassType {
  const aNoun = withArticle(noun(entity.name));
  const parent = by && fieldOf(entity, by).object!;
  const name = parent ? `${entity.name}Of${upperFirst(parent)}Input` : `${entity.name}Input`;
  const made = creations.get(name);
  if (made) return made;
  const together = parent ? ` together with its ${snake(parent).replaceAll('_', ' ')}` : '';
  const fields = writableFields(entity).filter((field) => field.name !== by);
  const Input = inputOf(name, `The values of ${aNoun} that is made${together}.`, fields, newValue);
  creations.set(name, Input);
  if (by && isPart(entity, by))
    Field(() => ID, {
      nullable: true,
      description:
        'Of a row that is there already, its `id` or `nodeId`: where the whole is saved, the row is changed. A new row has none.',
    })(Input.prototype, 'id');
  // By now it is known, to those below that lead back to it.
  for (const child of creatableBelow(entity)) {
    const type = creationInput(child.target(), child.by);
    const description = `${child.description} Made together with the row.`;
    Field(() => [type], { nullable: true, description })(Input.prototype, child.name);
  }
  return Input;
}

export const patchInput = perEntity((entity) => {
  const description = `Changes of ${withArticle(noun(entity.name))}; what is left out stays.`;
  const Patch = inputOf(`${entity.name}Patch`, description, writableFields(entity), changedValue);
  for (const child of partsOf(entity)) {
    const type = creationInput(child.target(), child.by);
    const description = `${child.description} The list replaces the one that is there: rows with an \`id\` are changed, others are made, and those that it leaves out are deleted.`;
    Field(() => [type], { nullable: true, description })(Patch.prototype, child.name);
  }
  return Patch;
});

export const IF_VERSION = 'Expected `version`; on a mismatch nothing is written.';

@InputType({ description: 'One of many rows to be deleted.' })
export class RowVersion {
  @Field(() => ID, { description: WHICH_ROW }) declare readonly id: string;
  @Field(() => String, { nullable: true, description: IF_VERSION }) declare readonly ifVersion?: string | null;
}

/** One of many changes. */
export function changeInput(entity: Entity): ClassType {
  const name = `${entity.name}Change`;
  const Change = { [name]: class {} }[name]!;
  Field(() => ID, { description: WHICH_ROW })(Change.prototype, 'id');
  const Patch = patchInput(entity);
  Field(() => Patch, { description: 'The values to change.' })(Change.prototype, 'input');
  Field(() => String, { nullable: true, description: IF_VERSION })(Change.prototype, 'ifVersion');
  InputType(name, { description: `One of many changes: ${withArticle(noun(entity.name))} and what changes of it.` })(Change);
  return Change as ClassType;
}
