/** What a grouping answers: for each type its groups, their keys and what was worked out of them. */
import { Arg, Ctx, Extensions, Field, FieldResolver, ID, Info, Int, ObjectType, Resolver, Root, type ClassType } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { IN_KILOGRAMS } from '../../contract/masses';
import type { Row } from '../../database/rows';
import type { Context } from '../context';
import type { Entity, FieldMeta } from '../model/fields';
import { loadParent } from '../read/loaders';
import { method } from '../model/method';
import { perEntity } from '../model/perentity';
import { DecimalScalar } from '../model/scalars';
import { daysOf, extremesOf, handleOf, isReference, linkKeysOf, momentsOf, numbersOf, valueKeysOf } from './facts';
import { classOf, fieldEnum, type Members } from './inputs';
import { COUNTED, DISTINCT, OF_EXTREMES, OF_NUMBERS, WEIGHTED } from './statistics';
import { DayBucket, DayUnit, TimeBucket, TimeUnit, type Bucket } from './units';

/** Of a median or a percentile of one field: all values of a group are put in order. */
const SORTED = { cost: { weight: 5 } };

@ObjectType({ description: 'Numbers of one bin.', simpleResolvers: true })
export class NumberBin {
  @Field(() => DecimalScalar, { description: 'The smallest number that is in it.' })
  declare from: string;
  @Field(() => DecimalScalar, { description: 'The smallest number above it, where the next bin begins.' })
  declare to: string;
}

const resolvers: ClassType[] = [];
export const groupingResolvers = (): readonly ClassType[] => resolvers;

/** What is worked out of masses is one. */
const unitOf = ({ description }: FieldMeta): string => (description.includes(IN_KILOGRAMS) ? `, ${IN_KILOGRAMS}` : '');

function objectType(name: string, description: string, members: Members): ClassType {
  const Type = classOf(name, members);
  ObjectType(name, { description, simpleResolvers: true })(Type);
  return Type;
}

/** Under which names `keys` shows what rows were grouped by. */
export const idOf = (name: string) => `${name}Id`;
const bucketsName = (field: FieldMeta) => `${handleOf(field)}Bucket`;
export const binName = (field: FieldMeta) => `${handleOf(field)}Bin`;
/** In rows: the values that resolvers show. */
export const buckets = (field: FieldMeta) => `${handleOf(field)} buckets`;

const nullable = true;

/** Keys that are shown as rows, by their names. */
function rowKeys(entity: Entity): [name: string, target: Entity][] {
  const references = valueKeysOf(entity).filter(({ field }) => isReference(field));
  return [
    ...references.map(({ name, field }): [string, Entity] => [name, field.target!()]),
    ...linkKeysOf(entity).map(({ name, target }): [string, Entity] => [name, target]),
  ];
}

/** `XGroupKeys`. */
const keysType = perEntity((entity: Entity): ClassType => {
  const members: Members = {};
  for (const [name] of rowKeys(entity))
    members[idOf(name)] = { type: () => ID, nullable, description: `The \`id\` of the row that \`${name}\` shows.` };
  for (const { name, field } of valueKeysOf(entity))
    if (!isReference(field)) members[name] = { type: () => field.type(), nullable, description: field.description };
  for (const field of numbersOf(entity))
    members[binName(field)] = { type: () => NumberBin, nullable, description: `The bin that \`${field.name}\` lies in.` };
  const type = objectType(
    `${entity.name}GroupKeys`,
    `Keys of a group of ${entity.name}: null unless grouped by, and for rows without a value.`,
    members,
  );
  @Resolver(() => type)
  class Keys {}
  resolvers.push(Keys);
  for (const [name, target] of rowKeys(entity)) showRow(Keys, name, target);
  for (const field of daysOf(entity)) showBucket(Keys, field, DayBucket, DayUnit);
  for (const field of momentsOf(entity)) showBucket(Keys, field, TimeBucket, TimeUnit);
  return type;
});

/** The row whose id is among the keys. */
function showRow(Keys: ClassType, name: string, target: Entity): void {
  method(
    Keys,
    name,
    (keys: Row, context: Context, info: GraphQLResolveInfo) => loadParent(target, keys[idOf(name)] ?? null, context, info),
    [Root(), Ctx(), Info()],
    FieldResolver(() => target, { nullable, description: `The row that \`${idOf(name)}\` names.` }),
  );
}

function showBucket(Keys: ClassType, field: FieldMeta, shown: object, unit: object): void {
  method(
    Keys,
    bucketsName(field),
    (keys: Row, wanted: string | null) => {
      const found = (keys[buckets(field)] ?? []) as (Bucket | null)[];
      return (wanted ? found.find((one) => one?.unit === wanted) : found[0]) ?? null;
    },
    [Root(), Arg('by', () => unit, { nullable, description: 'Which bucket, if grouped by several units of this field.' })],
    FieldResolver(() => shown, { nullable, description: `The unit of time that \`${field.name}\` lies in.` }),
  );
}

const computed = (fields: readonly FieldMeta[], type: (field: FieldMeta) => object): Members =>
  Object.fromEntries(
    fields.map((field) => [
      handleOf(field),
      { type: () => type(field), nullable, description: `Computed from \`${field.name}\`${unitOf(field)}.` },
    ]),
  );
const numbersType = perEntity((entity) =>
  objectType(
    `${entity.name}Numbers`,
    `A statistic of each number of ${entity.name}.`,
    computed(numbersOf(entity), () => DecimalScalar),
  ),
);
const extremesType = perEntity((entity) =>
  objectType(
    `${entity.name}Extremes`,
    `Smallest or largest values of ${entity.name}.`,
    computed(extremesOf(entity), (field) => field.type()),
  ),
);

/** How rows keep a percentile, and a number of different values. */
export const percentileName = (p: string) => `percentile ${Number(p)}`;
export const distinctName = (handle: string) => `countDistinct ${handle}`;

/** `XGroup`. */
export const groupType = perEntity((entity: Entity): ClassType => {
  const keys = keysType(entity);
  const name = `${entity.name}Group`;
  const Group = objectType(
    name,
    `Rows of ${entity.name} with the same keys, null among them; without \`groupBy\` all rows, even if there are none.`,
    {
      keys: { type: () => keys, description: 'What the rows have in common.' },
      count: { type: () => Int, description: COUNTED },
      weightedCount: { type: () => DecimalScalar, description: WEIGHTED },
      ...(numbersOf(entity).length && of(OF_NUMBERS, numbersType(entity))),
      ...(extremesOf(entity).length && of(OF_EXTREMES, extremesType(entity))),
    },
  );
  @Resolver(() => Group)
  class Groups {}
  resolvers.push(Groups);
  method(
    Groups,
    'countDistinct',
    (group: Row, handle: string) => group[distinctName(handle)],
    [Root(), Arg('of', () => fieldEnum(entity), { description: 'The field whose values are counted.' })],
    FieldResolver(() => Int, { description: DISTINCT }),
  );
  if (!numbersOf(entity).length) return Group;
  Extensions(SORTED)(Group.prototype, 'median');

  const numbers = numbersType(entity);
  method(
    Groups,
    'percentile',
    (group: Row, p: string) => group[percentileName(p)],
    [Root(), Arg('p', () => DecimalScalar, { description: 'From 0, the smallest, to 1, the largest.' })],
    FieldResolver(() => numbers, {
      description: 'Interpolated percentile, without weights; null without values. Rounded to 10 places.',
    }),
    SORTED,
  );
  return Group;
});

const of = (named: Record<string, string>, type: object): Members =>
  Object.fromEntries(Object.entries(named).map(([name, description]) => [name, { type: () => type, description }]));
