/** Output types of grouped queries, per resource: groups, their keys and their statistics. */
import {
  Arg,
  Extensions,
  Field,
  FieldResolver,
  ID,
  Int,
  ObjectType,
  Resolver,
  Root,
  type ClassType,
} from 'type-graphql';
import type { Row } from '../../database/rows';
import { invalidArgumentError } from '../declare/errors';
import { isReferenceField, type Entity, type EntityField } from '../declare/fields';
import { RowField } from '../read/row-field';
import { addResolverMethod } from '../declare/resolver-methods';
import { memoizePerEntity } from '../declare/memoize';
import { DecimalScalar } from '../declare/scalars';
import {
  dateFieldsOf,
  minMaxFieldsOf,
  groupFieldName,
  groupKeysOfLinkedRows,
  datetimeFieldsOf,
  numberFieldsOf,
  groupKeysOfFieldValues,
} from './group-keys';
import { createClassWithFields, groupFieldEnum, type GraphQLFieldDefinitions } from './inputs';
import {
  isPercentile,
  COUNT_DESCRIPTION,
  COUNT_DISTINCT_DESCRIPTION,
  MIN_MAX_STATISTICS,
  NUMBER_STATISTICS,
  uncountableFieldError,
  WEIGHTED_COUNT_DESCRIPTION,
} from './statistics';
import { DayBucket, DayUnit, TimeBucket, TimeUnit, type DayOrTimeBucket } from './time-buckets';

/** Medians and percentiles are expensive, because all values of a group are sorted. */
const SORT_COST_EXTENSIONS = { cost: { weight: 5 } };

@ObjectType({ description: 'A bin of numbers.', simpleResolvers: true })
export class NumberBin {
  @Field(() => DecimalScalar, { description: 'Lower bound, inclusive.' })
  declare from: string;
  @Field(() => DecimalScalar, { description: 'Upper bound, exclusive.' })
  declare to: string;
}

const resolverClasses: ClassType[] = [];

export const groupingResolvers = (): readonly ClassType[] => resolverClasses;

function createObjectType(
  name: string,
  description: string,
  fieldDefinitions: GraphQLFieldDefinitions,
): ClassType {
  const ObjectClass = createClassWithFields(name, fieldDefinitions);

  ObjectType(name, { description, simpleResolvers: true })(ObjectClass);
  return ObjectClass;
}

/** Names of the GraphQL fields in a group's `keys` that contain row ids, time buckets and bins. */
export const idFieldName = (name: string) => `${name}Id`;
const bucketFieldName = (field: EntityField) => `${groupFieldName(field)}Bucket`;

export const binFieldName = (field: EntityField) => `${groupFieldName(field)}Bin`;

/**
 * Name of the property of a group's `keys` that holds all time buckets of a field, for its
 * resolver.
 */
export const timeBucketsPropertyName = (field: EntityField) => `${groupFieldName(field)} buckets`;

const nullable = true;

function groupKeysOfRows(entity: Entity): [name: string, target: Entity][] {
  const referenceKeys = groupKeysOfFieldValues(entity).filter(({ field }) =>
    isReferenceField(field),
  );

  return [
    ...referenceKeys.map(({ name, field }): [string, Entity] => [name, field.target!()]),
    ...groupKeysOfLinkedRows(entity).map(({ name, target }): [string, Entity] => [name, target]),
  ];
}

const groupKeysType = memoizePerEntity((entity: Entity): ClassType => {
  const fieldDefinitions: GraphQLFieldDefinitions = {};

  for (const [name] of groupKeysOfRows(entity)) {
    fieldDefinitions[idFieldName(name)] = {
      type: () => ID,
      nullable,
      description: `The \`id\` of \`${name}\`.`,
    };
  }

  for (const { name, field } of groupKeysOfFieldValues(entity)) {
    if (!isReferenceField(field)) {
      fieldDefinitions[name] = {
        type: () => field.type(),
        nullable,
        description: field.graphqlDescription,
      };
    }
  }

  for (const field of numberFieldsOf(entity)) {
    fieldDefinitions[binFieldName(field)] = {
      type: () => NumberBin,
      nullable,
      description: `The bin of \`${field.name}\`.`,
    };
  }

  const type = createObjectType(
    `${entity.name}GroupKeys`,
    `Keys of a group of ${entity.name}. A key is null if it is not in \`groupBy\`, or for rows without a value.`,
    fieldDefinitions,
  );

  @Resolver(() => type)
  class GroupKeysResolver {}
  resolverClasses.push(GroupKeysResolver);

  for (const [name, target] of groupKeysOfRows(entity)) {
    RowField(name, idFieldName(name), () => target, {
      nullable,
      description: `The row of \`${idFieldName(name)}\`.`,
    })(GroupKeysResolver);
  }

  for (const field of dateFieldsOf(entity)) {
    addTimeBucketField(GroupKeysResolver, field, DayBucket, DayUnit);
  }

  for (const field of datetimeFieldsOf(entity)) {
    addTimeBucketField(GroupKeysResolver, field, TimeBucket, TimeUnit);
  }

  return type;
});

function addTimeBucketField(
  KeysResolver: ClassType,
  field: EntityField,
  bucketType: object,
  unitType: object,
): void {
  addResolverMethod(
    KeysResolver,
    bucketFieldName(field),
    (keys: Row, requestedUnit: string | null) => {
      const bucketsOfField = (keys[timeBucketsPropertyName(field)] ??
        []) as (DayOrTimeBucket | null)[];

      if (!requestedUnit) return bucketsOfField[0] ?? null;

      return bucketsOfField.find((bucket) => bucket?.unit === requestedUnit) ?? null;
    },
    [
      Root(),
      Arg('by', () => unitType, {
        nullable,
        description: 'Which one, if grouped by several units of this field.',
      }),
    ],
    FieldResolver(() => bucketType, {
      nullable,
      description: `The bucket of \`${field.name}\`.`,
    }),
  );
}

const describeStatisticOf = ({ name, unitNote }: EntityField): string => {
  const unitPhrase = unitNote ? `, ${unitNote}` : '';

  return `Of \`${name}\`${unitPhrase}.`;
};

const statisticFieldDefinitions = (
  fields: readonly EntityField[],
  typeOf: (field: EntityField) => object,
): GraphQLFieldDefinitions =>
  Object.fromEntries(
    fields.map((field) => [
      groupFieldName(field),
      {
        type: () => typeOf(field),
        nullable,
        description: describeStatisticOf(field),
      },
    ]),
  );
const numberStatisticsType = memoizePerEntity((entity) =>
  createObjectType(
    `${entity.name}Numbers`,
    `A statistic of each number of ${entity.name}.`,
    statisticFieldDefinitions(numberFieldsOf(entity), () => DecimalScalar),
  ),
);
const minMaxStatisticsType = memoizePerEntity((entity) =>
  createObjectType(
    `${entity.name}Extremes`,
    `Smallest or largest values of ${entity.name}.`,
    statisticFieldDefinitions(minMaxFieldsOf(entity), (field) => field.type()),
  ),
);

/** Names of the properties of a group that contain percentiles and distinct counts. */
export const percentilePropertyName = (p: string) => `percentile ${Number(p)}`;
export const countDistinctPropertyName = (fieldName: string) => `countDistinct ${fieldName}`;

export const groupType = memoizePerEntity((entity: Entity): ClassType => {
  const keysType = groupKeysType(entity);
  const name = `${entity.name}Group`;
  const Group = createObjectType(
    name,
    `Rows of ${entity.name} with equal keys, where null equals null. Without \`groupBy\` one group of all rows, even if there are none.`,
    {
      keys: { type: () => keysType, description: 'The keys that the rows share.' },
      count: { type: () => Int, description: COUNT_DESCRIPTION },
      weightedCount: { type: () => DecimalScalar, description: WEIGHTED_COUNT_DESCRIPTION },
      ...(numberFieldsOf(entity).length &&
        groupStatisticFieldDefinitions(NUMBER_STATISTICS, numberStatisticsType(entity))),
      ...(minMaxFieldsOf(entity).length &&
        groupStatisticFieldDefinitions(MIN_MAX_STATISTICS, minMaxStatisticsType(entity))),
    },
  );

  @Resolver(() => Group)
  class GroupResolver {}
  resolverClasses.push(GroupResolver);
  addResolverMethod(
    GroupResolver,
    'countDistinct',
    (group: Row, fieldName: string) => {
      const value: unknown = group[countDistinctPropertyName(fieldName)];

      if (value === undefined) throw uncountableFieldError(entity);

      return value;
    },
    [Root(), Arg('of', () => groupFieldEnum(entity), { description: 'The field to count.' })],
    FieldResolver(() => Int, { description: COUNT_DISTINCT_DESCRIPTION }),
  );
  if (!numberFieldsOf(entity).length) return Group;
  Extensions(SORT_COST_EXTENSIONS)(Group.prototype, 'median');

  const numbersType = numberStatisticsType(entity);

  addResolverMethod(
    GroupResolver,
    'percentile',
    (group: Row, p: string) => {
      if (!isPercentile(p)) throw invalidArgumentError('p', 'Ensure this value is from 0 to 1.');

      return group[percentilePropertyName(p)];
    },
    [
      Root(),
      Arg('p', () => DecimalScalar, {
        description: 'From 0 (the smallest value) to 1 (the largest).',
      }),
    ],
    FieldResolver(() => numbersType, {
      description:
        'Interpolated percentile, without weights; null without values. Rounded to 10 places.',
    }),
    SORT_COST_EXTENSIONS,
  );

  return Group;
});

const groupStatisticFieldDefinitions = (
  descriptionsByName: Record<string, string>,
  type: object,
): GraphQLFieldDefinitions =>
  Object.fromEntries(
    Object.entries(descriptionsByName).map(([name, description]) => [
      name,
      { type: () => type, description },
    ]),
  );
