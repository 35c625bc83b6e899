/** Output types of grouped queries, per resource: groups, their keys and their statistics. */
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

/** Cost of a median or percentile of one field, which sorts all values of a group. */
const SORT_COST = { cost: { weight: 5 } };

@ObjectType({ description: 'Numbers of one bin.', simpleResolvers: true })
export class NumberBin {
  @Field(() => DecimalScalar, { description: 'The smallest number that is in it.' })
  declare from: string;
  @Field(() => DecimalScalar, { description: 'The smallest number above it, where the next bin begins.' })
  declare to: string;
}

const resolvers: ClassType[] = [];
export const groupingResolvers = (): readonly ClassType[] => resolvers;

/** Suffix of the description of a statistic of masses, which has the same unit. */
const unitSuffix = ({ description }: FieldMeta): string => (description.includes(IN_KILOGRAMS) ? `, ${IN_KILOGRAMS}` : '');

function objectType(name: string, description: string, members: Members): ClassType {
  const Type = classOf(name, members);
  ObjectType(name, { description, simpleResolvers: true })(Type);
  return Type;
}

/** Names of the members of a group's `keys` object. */
export const idOf = (name: string) => `${name}Id`;
const bucketsName = (field: FieldMeta) => `${handleOf(field)}Bucket`;
export const binName = (field: FieldMeta) => `${handleOf(field)}Bin`;
/** Property of a `keys` row that holds all time buckets of a field, for its resolver. */
export const buckets = (field: FieldMeta) => `${handleOf(field)} buckets`;

const nullable = true;

/** Keys that resolve to rows: references and links. */
function rowKeys(entity: Entity): [name: string, target: Entity][] {
  const references = valueKeysOf(entity).filter(({ field }) => isReference(field));
  return [
    ...references.map(({ name, field }): [string, Entity] => [name, field.target!()]),
    ...linkKeysOf(entity).map(({ name, target }): [string, Entity] => [name, target]),
  ];
}

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
  for (const [name, target] of rowKeys(entity)) addRowField(Keys, name, target);
  for (const field of daysOf(entity)) addBucketField(Keys, field, DayBucket, DayUnit);
  for (const field of momentsOf(entity)) addBucketField(Keys, field, TimeBucket, TimeUnit);
  return type;
});

/** Adds a field that resolves the row of an id among the keys. */
function addRowField(Keys: ClassType, name: string, target: Entity): void {
  method(
    Keys,
    name,
    (keys: Row, context: Context, info: GraphQLResolveInfo) => loadParent(target, keys[idOf(name)] ?? null, context, info),
    [Root(), Ctx(), Info()],
    FieldResolver(() => target, { nullable, description: `The row that \`${idOf(name)}\` names.` }),
  );
}

function addBucketField(Keys: ClassType, field: FieldMeta, bucketType: object, unit: object): void {
  method(
    Keys,
    bucketsName(field),
    (keys: Row, requestedUnit: string | null) => {
      const bucketsOfField = (keys[buckets(field)] ?? []) as (Bucket | null)[];
      return (requestedUnit ? bucketsOfField.find((one) => one?.unit === requestedUnit) : bucketsOfField[0]) ?? null;
    },
    [Root(), Arg('by', () => unit, { nullable, description: 'Which bucket, if grouped by several units of this field.' })],
    FieldResolver(() => bucketType, { nullable, description: `The unit of time that \`${field.name}\` lies in.` }),
  );
}

const statisticMembers = (fields: readonly FieldMeta[], type: (field: FieldMeta) => object): Members =>
  Object.fromEntries(
    fields.map((field) => [
      handleOf(field),
      { type: () => type(field), nullable, description: `Computed from \`${field.name}\`${unitSuffix(field)}.` },
    ]),
  );
const numbersType = perEntity((entity) =>
  objectType(
    `${entity.name}Numbers`,
    `A statistic of each number of ${entity.name}.`,
    statisticMembers(numbersOf(entity), () => DecimalScalar),
  ),
);
const extremesType = perEntity((entity) =>
  objectType(
    `${entity.name}Extremes`,
    `Smallest or largest values of ${entity.name}.`,
    statisticMembers(extremesOf(entity), (field) => field.type()),
  ),
);

/** Property names of percentiles and distinct counts in a group's row. */
export const percentileName = (p: string) => `percentile ${Number(p)}`;
export const distinctName = (fieldName: string) => `countDistinct ${fieldName}`;

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
      ...(numbersOf(entity).length && statisticFields(OF_NUMBERS, numbersType(entity))),
      ...(extremesOf(entity).length && statisticFields(OF_EXTREMES, extremesType(entity))),
    },
  );
  @Resolver(() => Group)
  class Groups {}
  resolvers.push(Groups);
  method(
    Groups,
    'countDistinct',
    (group: Row, fieldName: string) => group[distinctName(fieldName)],
    [Root(), Arg('of', () => fieldEnum(entity), { description: 'The field whose values are counted.' })],
    FieldResolver(() => Int, { description: DISTINCT }),
  );
  if (!numbersOf(entity).length) return Group;
  Extensions(SORT_COST)(Group.prototype, 'median');

  const numbers = numbersType(entity);
  method(
    Groups,
    'percentile',
    (group: Row, p: string) => group[percentileName(p)],
    [Root(), Arg('p', () => DecimalScalar, { description: 'From 0, the smallest, to 1, the largest.' })],
    FieldResolver(() => numbers, {
      description: 'Interpolated percentile, without weights; null without values. Rounded to 10 places.',
    }),
    SORT_COST,
  );
  return Group;
});

const statisticFields = (descriptions: Record<string, string>, type: object): Members =>
  Object.fromEntries(Object.entries(descriptions).map(([name, description]) => [name, { type: () => type, description }]));
