/** The inputs of `where`: filters of one value, and for each type `XWhere`, made from its fields and relations. */
import { Extensions, Field, ID, InputType, Int, registerEnumType, type ClassType } from 'type-graphql';
import type { Enum } from '../model/choices';
import { fieldsOf, type Entity, type FieldMeta } from '../model/fields';
import { noun } from '../model/inflection';
import { perEntity } from '../model/perentity';
import { relativesOf } from './relatives';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar } from '../model/scalars';

export enum TextMode {
  SENSITIVE = 'SENSITIVE',
  INSENSITIVE = 'INSENSITIVE',
}
registerEnumType(TextMode, {
  name: 'TextMode',
  description: 'Whether capitals matter when texts are compared.',
  valuesConfig: {
    SENSITIVE: { description: '`a` and `A` are two letters.' },
    INSENSITIVE: { description: '`a` and `A` are the same letter.' },
  },
});

type Type = () => object;
type Operators = Record<string, [type: Type, description: string]>;

const classNamed = (name: string): ClassType => ({ [name]: class {} })[name]! as ClassType;

function inputType(name: string, description: string, operators: Operators): ClassType {
  const Input = classNamed(name);
  for (const [operator, [type, meaning]] of Object.entries(operators))
    Field(type, { nullable: true, description: meaning })(Input.prototype, operator);
  InputType(name, { description })(Input);
  return Input;
}

const single = (type: Type, noun: string): Operators => ({
  eq: [type, `Equal to this ${noun}; null matches rows without one.`],
  ne: [type, `Anything but this ${noun}, rows without one included; null matches rows with one.`],
});
const several = (type: Type): Operators => ({
  in: [() => [type()], 'Equal to one of these.'],
  notIn: [() => [type()], 'Equal to none of these; rows without a value match.'],
});
const empty: Operators = { isNull: [() => Boolean, 'True: rows without a value. False: rows with one.'] };

const ordered = (type: Type, noun: string): Operators => ({
  lt: [type, `Less than this ${noun}. Rows without one never match this and the other comparisons.`],
  lte: [type, `Less than this ${noun} or equal to it.`],
  gt: [type, `Greater than this ${noun}.`],
  gte: [type, `Greater than this ${noun} or equal to it.`],
});

const filter = (name: string, noun: string, operators: Operators) =>
  inputType(name, `Conditions on a ${noun}; all given ones must hold, and null is none.`, operators);

const exact = (name: string, type: Type, noun: string) => filter(name, noun, { ...single(type, noun), ...several(type), ...empty });

const comparable = (kind: string, type: Type, noun: string) =>
  filter(`${kind}Filter`, noun, { ...single(type, noun), ...several(type), ...ordered(type, noun), ...empty });

const text: Type = () => String;

/** Exactly one operator, so that an id variable that is left out is an error instead of no condition. */
const IdFilter = inputType('IdFilter', 'A condition on an id; either the `id` or the `nodeId` of a row names it.', {
  eq: [() => ID, 'Equal to this id.'],
  ne: [() => ID, 'Any other id; rows without one match.'],
  ...several(() => ID),
  ...empty,
});
Extensions({ oneOf: true })(IdFilter);
const UuidFilter = exact('UuidFilter', text, 'UUID');
const BooleanFilter = filter('BooleanFilter', 'truth value', { ...single(() => Boolean, 'truth value'), ...empty });
const IntFilter = comparable('Int', () => Int, 'whole number');
const DecimalFilter = comparable('Decimal', () => DecimalScalar, 'decimal');
const DateFilter = comparable('Date', () => DateScalar, 'day');
const TimeFilter = comparable('Time', () => TimeScalar, 'time of day');
const DateTimeFilter = comparable('DateTime', () => DateTimeScalar, 'moment');
const StringFilter = filter('StringFilter', 'text', {
  ...single(text, 'text'),
  ...several(text),
  contains: [text, 'This is a part of it. `%` and `_` stand for themselves.'],
  startsWith: [text, 'It begins with this.'],
  endsWith: [text, 'It ends with this.'],
  search: [
    text,
    'Fuzzy search: ignores case and accents, tolerates typos. At the top level of `where` it also ranks the rows: see `relevance` in `orderBy`.',
  ],
  mode: [() => TextMode, 'Whether capitals matter to the other conditions of this filter; they do if absent.'],
  ...empty,
});
const listed = (name: string, type: Type, noun: string) =>
  filter(name, `set of ${noun}s`, {
    in: [() => [type()], 'At least one of these is in the set.'],
    notIn: [() => [type()], 'None of these is in the set.'],
    each: [() => [type()], `Like \`in\`, but with one row per matching ${noun}. Only at the top level of \`where\`.`],
  });
const IdListFilter = listed('IdListFilter', () => ID, 'id');

const FILTERS: Record<FieldMeta['kind'], ClassType | undefined> = {
  relation: IdFilter,
  integer: IntFilter,
  decimal: DecimalFilter,
  boolean: BooleanFilter,
  date: DateFilter,
  time: TimeFilter,
  datetime: DateTimeFilter,
  choice: undefined,
  uuid: UuidFilter,
  string: StringFilter,
  url: StringFilter,
  image: StringFilter,
  computed: undefined,
};

export function filterOf(field: FieldMeta): ClassType | undefined {
  if (field.relation?.many && !field.link) return undefined;
  if (field.enum) return enumFilter(field.enum, field.kind === 'relation');
  if (field.relation?.many) return IdListFilter;
  return field.name === 'id' ? IdFilter : FILTERS[field.kind];
}

const enumFilters = new Map<string, ClassType>();

/** One of a kind for each enum, shared by all fields of it. */
function enumFilter({ name, type }: Enum, many: boolean): ClassType {
  const called = `${name}${many ? 'ListFilter' : 'Filter'}`;
  let made = enumFilters.get(called);
  if (!made) enumFilters.set(called, (made = (many ? listed : exact)(called, () => type, many ? noun(name) : 'choice')));
  return made;
}

/** Whether `search` can look through the field. */
export const isText = (field: FieldMeta): boolean => filterOf(field) === StringFilter;

const condition = (Where: ClassType, key: string, type: Type, description: string) =>
  Field(type, { nullable: true, description })(Where.prototype, key);

/** `XWhere`, with conditions on relations, so that all resources must be loaded. */
export const whereInput: (entity: Entity) => ClassType = perEntity((entity) => {
  const name = `${entity.name}Where`;
  const Where = classNamed(name);
  for (const field of fieldsOf(entity)) {
    const type = filterOf(field);
    if (!type) continue;
    condition(Where, field.name, () => type, `Condition on \`${field.name}\`.`);
    Extensions({ field })(Where.prototype, field.name);
  }
  condition(Where, 'and', () => [Where], 'All of these.');
  condition(Where, 'or', () => [Where], 'At least one of these.');
  condition(Where, 'not', () => Where, 'Not this. Rows without a value match too.');
  InputType(name, { description: `Conditions on rows of ${entity.name}; all given ones must hold.` })(Where);
  return Where;
}, addRelatives);

function addRelatives(Where: ClassType, entity: Entity): void {
  for (const { name, target, many, noun, only } of relativesOf(entity)) {
    const type = many ? listFilter(target()) : whereInput(target());
    const description = many ? `Condition on rows of \`${name}\`.` : `There is a ${noun}, and it matches.`;
    condition(Where, name, () => type, description);
    Extensions({ only })(Where.prototype, name);
  }
}

/** `XListFilter`, shared by all relations to several rows of X. */
const listFilter: (entity: Entity) => ClassType = perEntity(
  (entity) => {
    const type: Type = () => whereInput(entity);
    return inputType(`${entity.name}ListFilter`, `Conditions on related rows of ${entity.name}.`, {
      some: [type, 'At least one matches.'],
      none: [type, 'None matches.'],
    });
  },
  (_List, entity) => void whereInput(entity),
);
