/** Input types of grouped queries, per resource: `groupBy` keys, `having` conditions and `orderBy` terms. */
import { constant } from '../../contract/casing';
import { Extensions, Field, InputType, Int, registerEnumType, type ClassType } from 'type-graphql';
import type { Entity, FieldMeta } from '../model/fields';
import { filterOf } from '../sql/filters';
import { OrderDirection } from '../sql/ordering';
import { noun } from '../model/inflection';
import { perEntity } from '../model/perentity';
import { DecimalScalar } from '../model/scalars';
import { daysOf, extremesOf, handleOf, linkKeysOf, momentsOf, numbersOf, valueKeysOf, type LinkKey, type ValueKey } from './facts';
import { Statistic } from './statistics';
import { DayUnit, MONDAY, TimeUnit, WEEKDAY } from './units';

export interface Member {
  type: () => object;
  description: string;
  nullable?: boolean;
  defaultValue?: unknown;
}
export type Members = Record<string, Member>;

export const classNamed = (name: string): ClassType => ({ [name]: class {} })[name]! as ClassType;

export function classOf(name: string, members: Members): ClassType {
  const Type = classNamed(name);
  for (const [member, { type, ...options }] of Object.entries(members)) Field(type, options)(Type.prototype, member);
  return Type;
}

function inputType(name: string, description: string, members: Members): ClassType {
  const Input = classOf(name, members);
  InputType(name, { description })(Input);
  return Input;
}

const nullable = true;

const EMPTY_DESCRIPTION =
  'Fills gaps between the first and the last group with empty ones, for each combination of the other keys. At most one key.';
const FIRST_DAY_DESCRIPTION = 'With which day weeks begin, and in which order weekdays come.';

@InputType({ description: 'Days put together.' })
export class DayGroupBy {
  @Field(() => DayUnit, { description: 'Unit of time.' })
  declare by: DayUnit;
  @Field(() => WEEKDAY.type, { defaultValue: MONDAY, description: FIRST_DAY_DESCRIPTION })
  declare firstDay: number;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY_DESCRIPTION })
  declare empty: boolean;
}

@InputType({ description: 'Moments put together.' })
export class TimeGroupBy {
  @Field(() => TimeUnit, { description: 'Unit of time.' })
  declare by: TimeUnit;
  @Field(() => String, {
    nullable: true,
    description: 'The zone whose clocks count, summer time and all, such as `Europe/Berlin`; that of the server if absent.',
  })
  declare timeZone?: string | null;
  @Field(() => WEEKDAY.type, { defaultValue: MONDAY, description: FIRST_DAY_DESCRIPTION })
  declare firstDay: number;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY_DESCRIPTION })
  declare empty: boolean;
}

@InputType({ description: 'Numbers put together in bins of the same width.' })
export class NumberGroupBy {
  @Field(() => DecimalScalar, { description: 'How wide a bin is; more than 0.' })
  declare width: string;
  @Field(() => DecimalScalar, { defaultValue: '0', description: 'Where a bin begins, from which all others follow upwards and downwards.' })
  declare from: string;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY_DESCRIPTION })
  declare empty: boolean;
}

const describeValueKey = ({ path, field }: ValueKey): string => {
  const reference = path.at(-1);
  if (reference) return `That of \`${reference.object}\`.`;
  return field.object ? `The ${field.label.toLowerCase()} that \`${field.name}\` names.` : field.description;
};
const describeLinkKey = ({ path, target }: LinkKey): string =>
  `Each ${noun(target.name)} that ${path.length ? `\`${path.at(-1)!.object}\`` : 'the row'} leads to; a row is in the group of each.`;

/** Whether a link key takes a weight per list. One with a single list needs none. */
const hasWeights = ({ fields }: LinkKey): boolean => fields.length > 1;

/** The enum `XGroupField` of a resource X: fields whose values can be keys. */
export const fieldEnum = perEntity((entity) => {
  const keys = [
    ...valueKeysOf(entity).map((key) => ({ name: key.name, description: describeValueKey(key) })),
    ...linkKeysOf(entity).flatMap((key) => (hasWeights(key) ? [] : [{ name: key.name, description: describeLinkKey(key) }])),
  ];
  const values = Object.fromEntries(keys.map(({ name }) => [constant(name), name]));
  registerEnumType(values, {
    name: `${entity.name}GroupField`,
    description: `Values by which rows of ${entity.name} are grouped.`,
    valuesConfig: Object.fromEntries(keys.map(({ name, description }) => [constant(name), { description }])),
  });
  return values;
});

const weightsInput = perEntity((entity): ClassType => {
  const { target, fields } = linkKeysOf(entity).find(hasWeights)!;
  const members: Members = {};
  for (const { relation } of fields) {
    const description = `Of those in \`${relation!.object}\`, at least 0; absent: they do not count.`;
    members[relation!.object] = { type: () => DecimalScalar, nullable, description };
  }
  return inputType(`${target.name}Weights`, `Weight per list of rows of ${target.name}; the larger one for a row in two lists.`, members);
});

/** The oneOf input type `XGroupBy` of a resource X: one key. */
export const groupByInput = perEntity((entity: Entity): ClassType => {
  const field = fieldEnum(entity);
  const members: Members = { field: { type: () => field, nullable, description: 'The value of a field.' } };
  const addMember = (name: string, type: () => object, description: string) => {
    if (members[name]) throw new Error(`${entity.name} can be grouped by two things called ${name}`);
    members[name] = { type, nullable, description };
  };
  for (const day of daysOf(entity)) addMember(handleOf(day), () => DayGroupBy, `\`${day.name}\` by unit of time.`);
  for (const moment of momentsOf(entity)) addMember(handleOf(moment), () => TimeGroupBy, `\`${moment.name}\` by unit of time.`);
  for (const number of numbersOf(entity)) addMember(handleOf(number), () => NumberGroupBy, `\`${number.name}\` in bins.`);
  for (const key of linkKeysOf(entity).filter(hasWeights)) {
    const weights = weightsInput(key.entity);
    addMember(key.name, () => weights, `${describeLinkKey(key)} It has the given weight there, and 1 in the group without any.`);
  }
  const Input = inputType(`${entity.name}GroupBy`, `One key that rows of ${entity.name} are grouped by; \`keys\` shows it.`, members);
  Extensions({ oneOf: true })(Input);
  return Input;
});

/** The member of a `having` element that takes conditions on values of a kind. */
export const conditionName = (kind: FieldMeta['kind']): string =>
  ({ date: 'isDate', datetime: 'isDateTime', time: 'isTime' })[kind as string] ?? 'is';

const STATISTIC_MEMBER: Member = { type: () => Statistic, description: 'What to compute of the group.' };
const ofMember = (entity: Entity): Member => ({
  type: () => fieldEnum(entity),
  nullable,
  description: 'The field; absent for a count of rows.',
});

export const havingInput = perEntity((entity: Entity): ClassType => {
  const members: Members = { statistic: STATISTIC_MEMBER, of: ofMember(entity) };
  for (const kind of ['decimal', ...extremesOf(entity).map((field) => field.kind)] as const) {
    const name = conditionName(kind);
    const description = name === 'is' ? 'On a number.' : `On a ${kind}: the smallest or the largest.`;
    members[name] ??= { type: () => filterOf({ kind, name: '' } as FieldMeta)!, nullable, description };
  }
  return inputType(`${entity.name}Having`, `A condition on a statistic of a group of ${entity.name}.`, members);
});

const KEY_DESCRIPTION = 'Element of `groupBy`, counted from 1: dates and numbers by value, texts as in lists, rows by id.';

export const groupOrderInput = perEntity((entity: Entity): ClassType =>
  inputType(`${entity.name}GroupOrder`, `One element of the order of groups of ${entity.name}: a key or a statistic.`, {
    key: { type: () => Int, nullable, description: KEY_DESCRIPTION },
    statistic: { ...STATISTIC_MEMBER, nullable },
    of: ofMember(entity),
    direction: { type: () => OrderDirection, defaultValue: OrderDirection.ASC, description: 'Which way.' },
  }),
);
