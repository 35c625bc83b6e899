/** The inputs of groupings: for each type what its rows are grouped by, which groups are meant, and their order. */
import { Extensions, Field, InputType, Int, registerEnumType, type ClassType } from 'type-graphql';
import type { Entity, FieldMeta } from '../model/fields';
import { filterOf } from '../sql/filters';
import { OrderDirection } from '../sql/ordering';
import { perEntity } from '../model/perentity';
import { DecimalScalar } from '../model/scalars';
import { daysOf, extremesOf, groupableOf, handleOf, leadsOn, linksOf, momentsOf, numbersOf, referencesOf } from './facts';
import { Statistic } from './statistics';
import { DayUnit, FirstDay, TimeUnit } from './units';

type Type = () => object;
type Member = [type: Type, description: string];
type Members = Record<string, Member>;

export const classNamed = (name: string): ClassType => ({ [name]: class {} })[name]! as ClassType;

function inputType(name: string, description: string, members: Members, oneOf = false): ClassType {
  const Input = classNamed(name);
  for (const [member, [type, meaning]] of Object.entries(members))
    Field(type, { nullable: true, description: meaning })(Input.prototype, member);
  InputType(name, { description })(Input);
  if (oneOf) Extensions({ oneOf: true })(Input);
  return Input;
}

export const by = <T>(fields: readonly FieldMeta[], member: (field: FieldMeta) => T): Record<string, T> =>
  Object.fromEntries(fields.map((field) => [handleOf(field), member(field)]));

const EMPTY =
  'Whether there is an empty group for each step between the first and the last group that has none, for each combination of the other keys. One key may ask for it.';
const FIRST_DAY = 'With which day weeks begin, and in which order weekdays come.';

@InputType({ description: 'Days put together.' })
export class DayGroupBy {
  @Field(() => DayUnit, { description: 'By what.' })
  declare by: DayUnit;
  @Field(() => FirstDay, { defaultValue: FirstDay.MONDAY, description: FIRST_DAY })
  declare firstDay: FirstDay;
  @Field(() => Boolean, { defaultValue: false, description: EMPTY })
  declare empty: boolean;
}

@InputType({ description: 'Moments put together.' })
export class TimeGroupBy {
  @Field(() => TimeUnit, { description: 'By what.' })
  declare by: TimeUnit;
  @Field(() => String, {
    nullable: true,
    description: 'The zone whose clocks count, summer time and all, such as `Europe/Berlin`; that of the server if absent.',
  })
  declare timeZone?: string | null;
  @Field(() => FirstDay, { defaultValue: FirstDay.MONDAY, description: FIRST_DAY })
  declare firstDay: FirstDay;
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

/** `XGroupField`: the fields by whose values rows of X can be grouped. */
export const fieldEnum = perEntity((entity) => {
  const fields = groupableOf(entity);
  if (!fields.length) return undefined;
  const values = by(fields, (field) => handleOf(field));
  registerEnumType(values, {
    name: `${entity.name}GroupField`,
    description: `By what of its own a row of ${entity.name} can be told from others. Equal values make a group; rows without a value make one too.`,
    valuesConfig: by(fields, (field) => ({
      description: field.object ? `The ${field.label.toLowerCase()} that \`${field.name}\` names.` : field.description,
    })),
  });
  return values;
});

const weights = (entity: Entity, { target, fields }: ReturnType<typeof linksOf>[number]): ClassType =>
  inputType(
    `${entity.name}${target.name}Weights`,
    `Through which lists a row of ${entity.name} counts for rows of ${target.name}, and how much it counts for each of those.`,
    Object.fromEntries(
      fields.map((field): [string, Member] => [
        field.relation!.object,
        [() => DecimalScalar, `The weight of those in \`${field.relation!.object}\`, 0 or more; if absent they do not count.`],
      ]),
    ),
  );

/** `XGroupBy`: one key. */
export const groupByInput = perEntity((entity: Entity): ClassType | undefined => {
  const field = fieldEnum(entity);
  if (!field) return undefined;
  const members: Members = { field: [() => field, 'By the value of this field itself.'] };
  const put = (name: string, type: Type, description: string) => {
    if (members[name]) throw new Error(`${entity.name} can be grouped by two things called ${name}`);
    members[name] = [type, description];
  };
  for (const day of daysOf(entity)) put(handleOf(day), () => DayGroupBy, `By \`${day.name}\`, days put together.`);
  for (const moment of momentsOf(entity)) put(handleOf(moment), () => TimeGroupBy, `By \`${moment.name}\`, moments put together.`);
  for (const number of numbersOf(entity)) put(handleOf(number), () => NumberGroupBy, `By \`${number.name}\`, in bins.`);
  for (const reference of referencesOf(entity)) {
    const target = reference.target!();
    const type = leadsOn(target) ? groupByInput(target) : fieldEnum(target);
    if (type) put(handleOf(reference), () => type, `By a field of the ${reference.label.toLowerCase()} that \`${reference.name}\` names.`);
  }
  for (const links of linksOf(entity)) {
    const type = weights(entity, links);
    put(
      links.name,
      () => type,
      `By each row of ${links.target.name} that the row leads to: it is in several groups, and in each it has the weight given here. Led there in two ways, it has the larger weight; led to none, it is in the group without one, with the weight 1.`,
    );
  }
  return inputType(
    `${entity.name}GroupBy`,
    `What rows of ${entity.name} are grouped by: one key. \`keys\` of a group shows it under the same name.`,
    members,
    true,
  );
});

/** Where a condition on a value of this kind stands. */
export const conditionName = (kind: FieldMeta['kind']): string =>
  ({ date: 'isDate', datetime: 'isDateTime', time: 'isTime' })[kind as string] ?? 'is';

const STATISTIC: Member = [() => Statistic, 'What is worked out of a group.'];
const of = (entity: Entity): Member => [() => fieldEnum(entity)!, 'The field that it is of; absent for a count of rows.'];

/** `XHaving`. */
export const havingInput = perEntity((entity: Entity): ClassType => {
  const kinds = new Map<string, FieldMeta['kind']>([['is', 'decimal']]);
  for (const { kind } of extremesOf(entity)) if (conditionName(kind) !== 'is') kinds.set(conditionName(kind), kind);
  const Having = inputType(`${entity.name}Having`, `A condition on a statistic of a group of ${entity.name}.`, {
    of: of(entity),
    ...Object.fromEntries(
      [...kinds].map(([name, kind]): [string, Member] => [
        name,
        [() => filterOf({ kind, name: '' } as FieldMeta)!, name === 'is' ? 'On a number.' : `On a ${kind}: the smallest or the largest.`],
      ]),
    ),
  });
  Field(STATISTIC[0], { description: STATISTIC[1] })(Having.prototype, 'statistic');
  return Having;
});

/** `XGroupOrder`. */
export const groupOrderInput = perEntity((entity: Entity): ClassType => {
  const Order = inputType(`${entity.name}GroupOrder`, `One element of the order of groups of ${entity.name}: a key or a statistic.`, {
    key: [
      () => Int,
      'Which element of `groupBy`, counted from 1: days and numbers are ordered by their place, texts as lists are, references by their id.',
    ],
    statistic: STATISTIC,
    of: of(entity),
  });
  Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'Which way.' })(Order.prototype, 'direction');
  return Order;
});
