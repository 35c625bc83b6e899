/** `where` and `orderBy`: the inputs made from the fields, and the conditions made from the inputs. */
import { Field, ID, InputType, Int, registerEnumType, type ClassType } from 'type-graphql';
import type { Condition } from './conditions';
import { badArgument } from './errors';
import { fieldsOf, ofKind, type Entity, type FieldMeta } from './fields';
import { parseId } from './ids';
import { expression } from './plan';
import { DateScalar, DateTimeScalar, DecimalScalar, TimeScalar } from './scalars';

export enum OrderDirection {
  ASC = 'ASC',
  DESC = 'DESC',
}
registerEnumType(OrderDirection, {
  name: 'OrderDirection',
  description: 'Which way an order runs.',
  valuesConfig: { ASC: { description: 'Smallest first, nulls last.' }, DESC: { description: 'Largest first, nulls first.' } },
});

/** The operators on one scalar; more are added here and in `operators` below. */
function filterInput(name: string, type: () => any, noun: string): ClassType {
  const Filter = { [name]: class {} }[name]!;
  Field(type, { nullable: true, description: `Equal to this ${noun}; null matches rows without one.` })(Filter.prototype, 'eq');
  Field(() => [type()], { nullable: true, description: `Equal to one of these; an empty list matches nothing.` })(Filter.prototype, 'in');
  InputType(name, { description: `Conditions on a ${noun}; all given ones must hold.` })(Filter);
  return Filter;
}

const IdFilter = filterInput('IdFilter', () => ID, 'id');
const StringFilter = filterInput('StringFilter', () => String, 'text');
const IntFilter = filterInput('IntFilter', () => Int, 'whole number');
const DecimalFilter = filterInput('DecimalFilter', () => DecimalScalar, 'decimal');
const DateFilter = filterInput('DateFilter', () => DateScalar, 'day');
const TimeFilter = filterInput('TimeFilter', () => TimeScalar, 'time of day');
const DateTimeFilter = filterInput('DateTimeFilter', () => DateTimeScalar, 'moment');
const BooleanFilter = filterInput('BooleanFilter', () => Boolean, 'truth value');

@InputType({ description: 'Conditions on a set of ids; all given ones must hold.' })
class IdListFilter {
  @Field(() => [ID], { nullable: true, description: 'At least one of these is in the set.' })
  declare in?: string[];
  @Field(() => [ID], { nullable: true, description: 'As `in`, but a row is listed and counted once for each of these in its set.' })
  declare each?: string[];
}

function filterOf(field: FieldMeta): ClassType | undefined {
  if (field.relation?.many) return field.link ? IdListFilter : undefined;
  switch (field.kind) {
    case 'relation':
      return IdFilter;
    case 'integer':
      return field.name === 'id' ? IdFilter : IntFilter;
    case 'decimal':
      return DecimalFilter;
    case 'boolean':
      return BooleanFilter;
    case 'date':
      return DateFilter;
    case 'time':
      return TimeFilter;
    case 'datetime':
      return DateTimeFilter;
    case 'computed':
      return undefined;
    default:
      return StringFilter;
  }
}

export function whereInput(entity: Entity): ClassType {
  const name = `${entity.name}Where`;
  const Where = { [name]: class {} }[name]!;
  for (const field of fieldsOf(entity)) {
    const filter = filterOf(field);
    if (filter) Field(() => filter, { nullable: true, description: `By ${field.label.toLowerCase()}.` })(Where.prototype, field.name);
  }
  InputType(name, { description: `Which rows of ${entity.name} are meant: those for which all given conditions hold.` })(Where);
  return Where;
}

const orders = new Map<Entity, ClassType>();

/** `XOrder`: a direction for each stored field, and for each reference the order of the row that it names. */
export function orderInput(entity: Entity): ClassType {
  const made = orders.get(entity);
  if (made) return made;
  const name = `${entity.name}Order`;
  const Order = { [name]: class {} }[name]! as ClassType;
  orders.set(entity, Order);
  for (const field of fieldsOf(entity)) {
    if (!field.stored) continue;
    Field(() => OrderDirection, { nullable: true, description: `By ${field.label.toLowerCase()}.` })(Order.prototype, field.name);
    if (field.object)
      Field(() => orderInput(field.target!()), { nullable: true, description: `By a field of the ${field.label.toLowerCase()}.` })(
        Order.prototype,
        field.object,
      );
  }
  InputType(name, { description: `One field of ${entity.name} and the direction; exactly one per element of the list.` })(Order);
  return Order;
}

type OrderElement = { [field: string]: OrderDirection | OrderElement | null | undefined };

/** `[{ date: DESC }, { exercise: { name: ASC } }]` → `['-date', 'exercise.name']`. */
export function orderKeys(orderBy: readonly OrderElement[] | null | undefined): string[] | undefined {
  const only = (element: OrderElement): [string, OrderDirection | OrderElement] => {
    const given = Object.entries(element).filter((entry): entry is [string, OrderDirection | OrderElement] => entry[1] != null);
    if (given.length !== 1) throw badArgument('orderBy', 'Each element names exactly one field.');
    return given[0]!;
  };
  return orderBy?.map((element) => {
    let [key, value] = only(element);
    while (typeof value === 'object') {
      const [name, inner] = only(value);
      if (key.includes('.')) throw badArgument('orderBy', 'Only fields of the row and of the rows that it names can be ordered by.');
      key = `${key}.${name}`;
      value = inner;
    }
    return value === OrderDirection.DESC ? `-${key}` : key;
  });
}

const NEVER: Condition = () => 'FALSE';
const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** A parameter of the field's type, or undefined where no row can have the value. */
function parameter(field: FieldMeta, value: unknown): unknown {
  if (field.kind === 'relation' || field.name === 'id') return parseId(value);
  if (field.kind === 'uuid') return UUID.test(String(value)) ? value : undefined;
  if (typeof value === 'string' && value.includes('\0')) return undefined;
  return value;
}

function compare(field: FieldMeta, test: (column: string, bind: (value: unknown) => string) => string): Condition {
  if (!field.through) return (alias, bind) => test(expression(field, alias), bind);
  const { table, via, column } = field.through;
  return (alias, bind) => `${alias}."${via}" IN (SELECT x."id" FROM "${table}" x WHERE ${test(`x."${column}"`, bind)})`;
}

function inSet(field: FieldMeta, ids: readonly unknown[]): Condition {
  const { table, own, other, via = 'id' } = field.link!;
  const kind = ofKind(field.link!, 'l');
  return (alias, bind) =>
    `EXISTS (SELECT 1 FROM "${table}" l WHERE l."${own}" = ${alias}."${via}" AND l."${other}" = ANY(${bind(ids)}::int[])${kind})`;
}

function joinEach(field: FieldMeta, ids: readonly unknown[], name: string): Condition {
  const { table, own, other, via = 'id' } = field.link!;
  const kind = ofKind(field.link!, name);
  return (alias, bind) =>
    `JOIN "${table}" ${name} ON ${name}."${own}" = ${alias}."${via}" AND ${name}."${other}" = ANY(${bind(ids)}::int[])${kind}`;
}

/** The conditions of a `where`, and the joins of its `each`. */
export function conditionsOf(
  entity: Entity,
  where: Record<string, any> | null | undefined,
): { conditions: Condition[]; joins: Condition[] } {
  const conditions: Condition[] = [];
  const joins: Condition[] = [];
  for (const [name, filter] of Object.entries(where ?? {})) {
    if (filter == null) continue;
    const field = fieldsOf(entity).find((candidate) => candidate.name === name)!;
    const known = (values: readonly unknown[]) => values.map((value) => parameter(field, value)).filter((value) => value !== undefined);
    if (field.relation?.many) {
      if (filter.in != null) conditions.push(inSet(field, known(filter.in)));
      if (filter.each != null) joins.push(joinEach(field, known(filter.each), `j${joins.length}`));
      continue;
    }
    if (filter.eq === null) conditions.push(compare(field, (column) => `${column} IS NULL`));
    else if (filter.eq !== undefined) {
      const value = parameter(field, filter.eq);
      conditions.push(value === undefined ? NEVER : compare(field, (column, bind) => `${column} = ${bind(value)}`));
    }
    if (filter.in != null) {
      const values = known(filter.in);
      conditions.push(values.length ? compare(field, (column, bind) => `${column} = ANY(${bind(values)})`) : NEVER);
    }
  }
  return { conditions, joins };
}
