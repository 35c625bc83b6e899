/** The inputs of groupings: for each type what its rows are grouped by, which groups are meant, and their order. */
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

const EMPTY = 'Fills gaps between the first and the last group with empty ones, for each combination of the other keys. At most one key.';
const FIRST_DAY = 'With which day weeks begin, and in which order weekdays come.';

@InputType({ description: 'Days put together.' })
export class DayGroupBy {
  @Field(() => DayUnit, { description: 'Unit of time.' })
  declare by: DayUnit;
  @Field(() => WEEKDAY.type, { defaultValue: MONDAY, description: FIRST_DAY })
  declare firstDay: number;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY })
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
  @Field(() => WEEKDAY.type, { defaultValue: MONDAY, description: FIRST_DAY })
  declare firstDay: number;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY })
  declare empty: boolean;
}

@InputType({ description: 'Numbers put together in bins of the same width.' })
export class NumberGroupBy {
  @Field(() => DecimalScalar, { description: 'How wide a bin is; more than 0.' })
  declare width: string;
  @Field(() => DecimalScalar, { defaultValue: '0', description: 'Where a bin begins, from which all others follow upwards and downwards.' })
  declare from: string;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY })
  declare empty: boolean;
}

const aboutValue = ({ path, field }: ValueKey): string => {
  const reference = path.at(-1);
  if (reference) return `That of \`${reference.object}\`.`;
  return field.object ? `The ${field.label.toLowerCase()} that \`${field.name}\` names.` : field.description;
};
const aboutLinks = ({ path, target }: LinkKey): string =>
  `Each ${noun(target.name)} that ${path.length ? `\`${path.at(-1)!.object}\`` : 'the row'} leads to; a row is in the group of each.`;

/** What leads to other rows by one list alone needs no weights. */
const isWeighted = ({ fields }: LinkKey): boolean => fields.length > 1;

/** `XGroupField`: the values by which rows of X can be grouped. */
export const fieldEnum = perEntity((entity) => {
  const keys = [
    ...valueKeysOf(entity).map((key) => ({ name: key.name, description: aboutValue(key) })),
    ...linkKeysOf(entity).flatMap((key) => (isWeighted(key) ? [] : [{ name: key.name, description: aboutLinks(key) }])),
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
  const { target, fields } = linkKeysOf(entity).find(isWeighted)!;
  const members: Members = {};
  for (const { relation } of fields) {
    const description = `Of those in \`${relation!.object}\`, at least 0; absent: they do not count.`;
    members[relation!.object] = { type: () => DecimalScalar, nullable, description };
  }
  return inputType(`${target.name}Weights`, `Weight per list of rows of ${target.name}; the larger one for a row in two lists.`, members);
});

/** `XGroupBy`: one key. */
export const groupByInput = perEntity((entity: Entity): ClassType => {
  const field = fieldEnum(entity);
  const members: Members = { field: { type: () => field, nullable, description: 'The value of a field.' } };
  const put = (name: string, type: () => object, description: string) => {
    if (members[name]) throw new Error(`${entity.name} can be grouped by two things called ${name}`);
    members[name] = { type, nullable, description };
  };
  for (const day of daysOf(entity)) put(handleOf(day), () => DayGroupBy, `\`${day.name}\` by unit of time.`);
  for (const moment of momentsOf(entity)) put(handleOf(moment), () => TimeGroupBy, `\`${moment.name}\` by unit of time.`);
  for (const number of numbersOf(entity)) put(handleOf(number), () => NumberGroupBy, `\`${number.name}\` in bins.`);
  for (const key of linkKeysOf(entity).filter(isWeighted)) {
    const weights = weightsInput(key.entity);
    put(key.name, () => weights, `${aboutLinks(key)} It has the given weight there, and 1 in the group without any.`);
  }
  const Input = inputType(`${entity.name}GroupBy`, `One key that rows of ${entity.name} are grouped by; \`keys\` shows it.`, members);
  Extensions({ oneOf: true })(Input);
  return Input;
});

/** Where a condition on a value of this kind stands. */
export const conditionName = (kind: FieldMeta['kind']): string =>
  ({ date: 'isDate', datetime: 'isDateTime', time: 'isTime' })[kind as string] ?? 'is';

const STATISTIC: Member = { type: () => Statistic, description: 'What to compute of the group.' };
const of = (entity: Entity): Member => ({ type: () => fieldEnum(entity), nullable, description: 'The field; absent for a count of rows.' });

/** `XHaving`. */
export const havingInput = perEntity((entity: Entity): ClassType => {
  const members: Members = { statistic: STATISTIC, of: of(entity) };
  for (const kind of ['decimal', ...extremesOf(entity).map((field) => field.kind)] as const) {
    const name = conditionName(kind);
    const description = name === 'is' ? 'On a number.' : `On a ${kind}: the smallest or the largest.`;
    members[name] ??= { type: () => filterOf({ kind, name: '' } as FieldMeta)!, nullable, description };
  }
  return inputType(`${entity.name}Having`, `A condition on a statistic of a group of ${entity.name}.`, members);
});

const KEY = 'Element of `groupBy`, counted from 1: dates and numbers by value, texts as in lists, rows by id.';

/** `XGroupOrder`. */
export const groupOrderInput = perEntity((entity: Entity): ClassType =>
  inputType(`${entity.name}GroupOrder`, `One element of the order of groups of ${entity.name}: a key or a statistic.`, {
    key: { type: () => Int, nullable, description: KEY },
    statistic: { ...STATISTIC, nullable },
    of: of(entity),
    direction: { type: () => OrderDirection, defaultValue: OrderDirection.ASC, description: 'Which way.' },
  }),
);
