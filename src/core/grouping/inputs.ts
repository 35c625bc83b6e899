/** The inputs of groupings: for each type what its rows are grouped by, which groups are meant, and their order. */
import { Extensions, Field, InputType, Int, registerEnumType, type ClassType } from 'type-graphql';
import type { Entity, FieldMeta } from '../model/fields';
import { filterOf } from '../sql/filters';
import { OrderDirection } from '../sql/ordering';
import { perEntity } from '../model/perentity';
import { DecimalScalar } from '../model/scalars';
import { daysOf, extremesOf, groupableOf, handleOf, isPlain, linksOf, momentsOf, numbersOf, referencesOf } from './facts';
import { DayUnit, FirstDay, TimeUnit } from './units';

type Type = () => object;
type Member = [type: Type, description: string];
type Members = Record<string, Member>;
/** Types have to be there before the schema is built, which is when such thunks run. */
const made = (type: object, description: string): Member => [() => type, description];

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

@InputType({
  description:
    'One of the keys as what groups are ordered by: days and numbers by their place, texts as lists are, references by their id.',
})
export class KeyOrder {
  @Field(() => Int, { defaultValue: 1, description: 'Which element of `groupBy`, counted from 1.' })
  declare number: number;
  @Field(() => OrderDirection, { defaultValue: OrderDirection.ASC, description: 'Which way.' })
  declare direction: OrderDirection;
}

/** `XGroupField`: the fields by whose values rows of X can be grouped. */
const fieldEnum = perEntity((entity) => {
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
    const type = isPlain(target) ? fieldEnum(target) : groupByInput(target);
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

const numbersFilter = perEntity((entity) =>
  inputType(
    `${entity.name}NumbersFilter`,
    `Conditions on what was worked out of the numbers of ${entity.name}; all given ones must hold.`,
    by(numbersOf(entity), (field): Member => [
      () => filterOf({ ...field, name: '', kind: 'decimal' })!,
      `On what was worked out of \`${field.name}\`.`,
    ]),
  ),
);
const extremesFilter = perEntity((entity) =>
  inputType(
    `${entity.name}ExtremesFilter`,
    `Conditions on the smallest or the largest values of ${entity.name}; all given ones must hold.`,
    by(extremesOf(entity), (field): Member => [() => filterOf(field)!, `On a value of \`${field.name}\`.`]),
  ),
);
const COUNT = { kind: 'integer', name: '' } as FieldMeta;
const distinctFilter = perEntity((entity) =>
  inputType(
    `${entity.name}DistinctFilter`,
    `Conditions on numbers of different values of ${entity.name}; all given ones must hold.`,
    by(groupableOf(entity), (field): Member => [() => filterOf(COUNT)!, `On how many there are of \`${field.name}\`.`]),
  ),
);

/** What is worked out of numbers, and what it is. */
export const OF_NUMBERS = {
  sum: 'The sum, each value times the weight of its row; null where there is no value. Exact.',
  avg: 'The mean of the values that there are, weighted as in `sum`; null where there is none. Rounded to 10 places.',
  stddev:
    'The standard deviation of a sample (divided by n − 1), whatever the weights; null of fewer than two values. Rounded to 10 places.',
  median: 'The value in the middle, or the mean of the two in the middle, whatever the weights; null where there is no value.',
} as const;
export const OF_EXTREMES = {
  min: 'The smallest value; null where there is none.',
  max: 'The largest value; null where there is none.',
} as const;
export const DISTINCT = 'How many different values there are; rows without one do not count.';
export const COUNTED = 'How many rows there are.';
export const WEIGHTED = 'The sum of the weights of the rows: `count`, but where rows are grouped through lists that weigh them.';

/** Members for each thing that is worked out of a group, if the entity has fields for it. */
function worked<T>(
  entity: Entity,
  count: T,
  weighted: T,
  numbers: (d: string) => T,
  extremes: (d: string) => T,
  distinct: () => T,
): Record<string, T> {
  const each = (of: Record<string, string>, member: (description: string) => T) =>
    Object.fromEntries(Object.entries(of).map(([name, description]) => [name, member(description)]));
  return {
    count,
    weightedCount: weighted,
    ...(numbersOf(entity).length && each(OF_NUMBERS, numbers)),
    ...(extremesOf(entity).length && each(OF_EXTREMES, extremes)),
    ...(groupableOf(entity).length && { countDistinct: distinct() }),
  } as Record<string, T>;
}

/** `XHaving`. */
export const havingInput = perEntity((entity: Entity): ClassType => {
  const name = `${entity.name}Having`;
  const Having = inputType(
    name,
    `Which groups of ${entity.name} are meant: those for which all given conditions hold.`,
    worked<Member>(
      entity,
      [() => filterOf(COUNT)!, COUNTED],
      [() => filterOf({ ...COUNT, kind: 'decimal' })!, WEIGHTED],
      (description) => made(numbersFilter(entity), description),
      (description) => made(extremesFilter(entity), description),
      () => made(distinctFilter(entity), DISTINCT),
    ),
  );
  const further = (member: string, type: Type, description: string) =>
    Field(type, { nullable: true, description })(Having.prototype, member);
  further('and', () => [Having], 'All of these hold; an empty list always does.');
  further('or', () => [Having], 'At least one of these holds; an empty list never does.');
  further('not', () => Having, 'This does not hold: exactly the groups that it alone would leave out.');
  return Having;
});

const orderOfValues = (entity: Entity, kind: string, fields: readonly FieldMeta[]) =>
  inputType(
    `${entity.name}${kind}Order`,
    `One field of ${entity.name} whose values something was worked out of, and the direction.`,
    by(fields, (field): Member => [() => OrderDirection, `By what was worked out of \`${field.name}\`.`]),
    true,
  );
const numbersOrder = perEntity((entity) => orderOfValues(entity, 'Numbers', numbersOf(entity)));
const extremesOrder = perEntity((entity) => orderOfValues(entity, 'Extremes', extremesOf(entity)));
const distinctOrder = perEntity((entity) => orderOfValues(entity, 'Distinct', groupableOf(entity)));

/** `XGroupOrder`. */
export const groupOrderInput = perEntity((entity: Entity): ClassType =>
  inputType(
    `${entity.name}GroupOrder`,
    `One element of the order of groups of ${entity.name}: a key, or something that was worked out.`,
    {
      key: [() => KeyOrder, 'By one of the keys.'],
      ...worked<Member>(
        entity,
        [() => OrderDirection, COUNTED],
        [() => OrderDirection, WEIGHTED],
        (description) => made(numbersOrder(entity), description),
        (description) => made(extremesOrder(entity), description),
        () => made(distinctOrder(entity), DISTINCT),
      ),
    },
    true,
  ),
);
