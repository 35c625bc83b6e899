/**
 * Input types of grouped queries, per resource: `groupBy` keys, `having` conditions and `orderBy`
 * terms.
 */
import { toConstantCase } from '../../shared/casing';
import { Extensions, Field, InputType, Int, type ClassType } from 'type-graphql';
import type { Entity, EntityField } from '../declare/fields';
import { filterInputType } from '../sql/filters';
import { OrderDirection } from '../sql/ordering';
import { createEnumFromEntries, type EnumEntry } from '../declare/enums';
import { nounOf } from '../declare/inflection';
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
  type LinkedRowGroupKey,
  type FieldValueGroupKey,
} from './group-keys';
import { Statistic } from './statistics';
import { DayUnit, MONDAY, TimeUnit, WEEKDAY_ENUM } from './time-buckets';

export interface GraphQLFieldDefinition {
  type: () => object;
  description: string;
  nullable?: boolean;
  defaultValue?: unknown;
}
export type GraphQLFieldDefinitions = Record<string, GraphQLFieldDefinition>;

export function createClassWithFields(
  name: string,
  fieldDefinitions: GraphQLFieldDefinitions,
): ClassType {
  const NewClass = { [name]: class {} }[name]! as ClassType;

  for (const [fieldName, { type, ...options }] of Object.entries(fieldDefinitions)) {
    Field(type, options)(NewClass.prototype, fieldName);
  }

  return NewClass;
}

function createInputType(
  name: string,
  description: string,
  fieldDefinitions: GraphQLFieldDefinitions,
): ClassType {
  const InputClass = createClassWithFields(name, fieldDefinitions);

  InputType(name, { description })(InputClass);
  return InputClass;
}

const nullable = true;

const EMPTY_GROUPS_DESCRIPTION =
  'Adds empty groups between the first and the last group, for each combination of the other keys. At most one key can set this.';
const FIRST_DAY_DESCRIPTION = 'First day of the week; also determines the order of weekdays.';

@InputType({ description: 'Groups days by a unit of time.' })
export class DayGroupBy {
  @Field(() => DayUnit, { description: 'Unit of time.' })
  declare by: DayUnit;
  @Field(() => WEEKDAY_ENUM.type, { defaultValue: MONDAY, description: FIRST_DAY_DESCRIPTION })
  declare firstDay: number;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY_GROUPS_DESCRIPTION })
  declare empty: boolean;
}

@InputType({ description: 'Groups times by a unit of time.' })
export class TimeGroupBy {
  @Field(() => TimeUnit, { description: 'Unit of time.' })
  declare by: TimeUnit;
  @Field(() => String, {
    nullable: true,
    description: 'IANA time zone, such as `Europe/Berlin`; the time zone of the account if absent.',
  })
  declare timeZone?: string | null;
  @Field(() => WEEKDAY_ENUM.type, { defaultValue: MONDAY, description: FIRST_DAY_DESCRIPTION })
  declare firstDay: number;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY_GROUPS_DESCRIPTION })
  declare empty: boolean;
}

@InputType({ description: 'Groups numbers in bins of equal width.' })
export class NumberGroupBy {
  @Field(() => DecimalScalar, { description: 'Width of a bin, greater than 0.' })
  declare width: string;
  @Field(() => DecimalScalar, {
    defaultValue: '0',
    description: 'Start of one bin. The other bins are aligned to it.',
  })
  declare from: string;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY_GROUPS_DESCRIPTION })
  declare empty: boolean;
}

const describeValueKey = ({ path, field }: FieldValueGroupKey): string => {
  const referenceField = path.at(-1);

  if (referenceField) {
    return `The ${field.label.toLowerCase()} of \`${referenceField.relationFieldName}\`.`;
  }

  if (!field.relationFieldName) return field.graphqlDescription;

  return `The ${nounOf(field.relationFieldName)} that \`${field.name}\` names.`;
};

const describeLinkKey = ({ path, target }: LinkedRowGroupKey): string => {
  const referenceField = path.at(-1);
  const linkingRow = referenceField ? `\`${referenceField.relationFieldName}\`` : 'the row';

  return `Each ${nounOf(target.name)} of ${linkingRow}. A row belongs to the group of each.`;
};

/**
 * Whether clients can weight the fields of a key on linked rows, such as 1 for primary and 0.5 for
 * secondary muscles. A single field needs no weight.
 */
const hasRowWeights = ({ fields }: LinkedRowGroupKey): boolean => fields.length > 1;

/** The enum `XGroupField` of a resource X: fields whose values can be group keys. */
export const groupFieldEnum = memoizePerEntity((entity) => {
  const linkKeys = groupKeysOfLinkedRows(entity).filter((key) => !hasRowWeights(key));

  return createEnumFromEntries(
    `${entity.name}GroupField`,
    `Fields by which rows of ${entity.name} can be grouped.`,
    [
      ...groupKeysOfFieldValues(entity).map((key): EnumEntry<string> => [
        toConstantCase(key.name),
        key.name,
        describeValueKey(key),
      ]),
      ...linkKeys.map((key): EnumEntry<string> => [
        toConstantCase(key.name),
        key.name,
        describeLinkKey(key),
      ]),
    ],
  );
});

const rowWeightsInputTypes = new Map<string, ClassType>();

/** The input type is shared by all entities that link the rows in fields of the same names. */
function rowWeightsInputType({ target, fields }: LinkedRowGroupKey): ClassType {
  const relationFieldNames = fields.map(({ relation }) => relation!.relationFieldName);
  const key = [target.name, ...relationFieldNames].join();
  const inputType =
    rowWeightsInputTypes.get(key) ?? createRowWeightsInputType(target, relationFieldNames);

  rowWeightsInputTypes.set(key, inputType);
  return inputType;
}

function createRowWeightsInputType(
  target: Entity,
  relationFieldNames: readonly string[],
): ClassType {
  const fieldDefinitions: GraphQLFieldDefinitions = {};

  for (const name of relationFieldNames) {
    const description = `Weight of the rows in \`${name}\`, at least 0. If absent, they are not counted.`;

    fieldDefinitions[name] = { type: () => DecimalScalar, nullable, description };
  }

  fieldDefinitions.empty = {
    type: () => Boolean,
    defaultValue: false,
    description: `Adds a group for each ${nounOf(target.name)} without rows, for each combination of the other keys. At most one key can set this.`,
  };

  return createInputType(
    `${target.name}Weights`,
    `Weight per list of rows of ${target.name}. A row in two lists has the larger weight.`,
    fieldDefinitions,
  );
}

/** The input type `XGroupBy` of a resource X: one group key (`@oneOf`). */
export const groupByInputType = memoizePerEntity((entity: Entity): ClassType => {
  const field = groupFieldEnum(entity);
  const fieldDefinitions: GraphQLFieldDefinitions = {
    field: { type: () => field, nullable, description: 'The value of a field.' },
  };

  const addInputField = (name: string, type: () => object, description: string) => {
    if (fieldDefinitions[name]) {
      throw new Error(`${entity.name} can be grouped by two fields called ${name}`);
    }

    fieldDefinitions[name] = { type, nullable, description };
  };

  for (const dateField of dateFieldsOf(entity)) {
    addInputField(
      groupFieldName(dateField),
      () => DayGroupBy,
      `\`${dateField.name}\` by unit of time.`,
    );
  }

  for (const datetimeField of datetimeFieldsOf(entity)) {
    addInputField(
      groupFieldName(datetimeField),
      () => TimeGroupBy,
      `\`${datetimeField.name}\` by unit of time.`,
    );
  }

  for (const numberField of numberFieldsOf(entity)) {
    addInputField(
      groupFieldName(numberField),
      () => NumberGroupBy,
      `\`${numberField.name}\` in bins.`,
    );
  }

  for (const key of groupKeysOfLinkedRows(entity).filter(hasRowWeights)) {
    const weightsInputType = rowWeightsInputType(key);

    addInputField(
      key.name,
      () => weightsInputType,
      `${describeLinkKey(key)} It has the given weight there, and weight 1 in the group without one.`,
    );
  }

  const InputClass = createInputType(
    `${entity.name}GroupBy`,
    `A key by which rows of ${entity.name} are grouped, returned in \`keys\`.`,
    fieldDefinitions,
  );

  Extensions({ oneOf: true })(InputClass);
  return InputClass;
});

/** Input field of `having` for conditions on values of this kind. */
export const havingFieldName = (kind: EntityField['kind']): string =>
  ({ date: 'isDate', datetime: 'isDateTime', time: 'isTime' })[kind as string] ?? 'is';

const STATISTIC_FIELD_DEFINITION: GraphQLFieldDefinition = {
  type: () => Statistic,
  description: 'The statistic to compute.',
};
const statisticOperandFieldDefinition = (entity: Entity): GraphQLFieldDefinition => ({
  type: () => groupFieldEnum(entity),
  nullable,
  description: 'Its field; absent for counts of rows.',
});

export const havingInputType = memoizePerEntity((entity: Entity): ClassType => {
  const fieldDefinitions: GraphQLFieldDefinitions = {
    statistic: STATISTIC_FIELD_DEFINITION,
    of: statisticOperandFieldDefinition(entity),
  };

  for (const kind of ['decimal', ...minMaxFieldsOf(entity).map((field) => field.kind)] as const) {
    const name = havingFieldName(kind);
    const description =
      name === 'is' ? 'Condition on a number.' : `Condition on a ${kind}, for MIN and MAX.`;

    fieldDefinitions[name] ??= {
      type: () => filterInputType({ kind, name: '' } as EntityField)!,
      nullable,
      description,
    };
  }

  return createInputType(
    `${entity.name}Having`,
    `A condition on a statistic of a group of ${entity.name}.`,
    fieldDefinitions,
  );
});

const DIRECTION_FIELD_DEFINITION: GraphQLFieldDefinition = {
  type: () => OrderDirection,
  defaultValue: OrderDirection.ASC,
  description: 'Sort direction.',
};

const GroupKeyOrder = createInputType(
  'GroupKeyOrder',
  'A key of groups and a sort direction. Dates and numbers are ordered by value, texts as in lists, rows by id.',
  {
    number: { type: () => Int, description: 'Number of an element of `groupBy`, starting at 1.' },
    direction: DIRECTION_FIELD_DEFINITION,
  },
);

/** The input type `XGroupOrder` of a resource X: one element of the order of groups (`@oneOf`). */
export const groupOrderInputType = memoizePerEntity((entity: Entity): ClassType => {
  const statisticOrderInputType = createInputType(
    `${entity.name}StatisticOrder`,
    `A statistic of groups of ${entity.name} and a sort direction.`,
    {
      name: STATISTIC_FIELD_DEFINITION,
      of: statisticOperandFieldDefinition(entity),
      direction: DIRECTION_FIELD_DEFINITION,
    },
  );
  const InputClass = createInputType(
    `${entity.name}GroupOrder`,
    `A key or a statistic of groups of ${entity.name}, and a sort direction.`,
    {
      key: { type: () => GroupKeyOrder, nullable, description: 'By a key.' },
      statistic: { type: () => statisticOrderInputType, nullable, description: 'By a statistic.' },
    },
  );

  Extensions({ oneOf: true })(InputClass);
  return InputClass;
});
