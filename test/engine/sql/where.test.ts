/**
 * Compares random `where` conditions with an evaluation of the same conditions in JavaScript on the
 * same rows.
 */
import {
  getNamedType,
  isInputObjectType,
  isListType,
  getNullableType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from 'graphql';
import { isRegisteredEnum } from '../../../src/engine/declare/choices';
import {
  childRowsFieldsOf,
  fieldsOf,
  type Entity,
  type EntityField,
} from '../../../src/engine/declare/fields';
import { allEntities, findEntity, resourceOf } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Person } from '../../setup/person';
import {
  everyRow,
  isPublished,
  populate,
  populatedEntities,
  type Row,
} from '../../setup/rows-of-every-type';
import { hasPages } from '../../setup/generic-lists';
import { randomFor, seeded, type Random } from '../../setup/random';

/**
 * Number of conditions per type that match some but not all rows; as many arbitrary ones are
 * tested.
 */
const TRIES = 30;

/** Number of conditions per operator. */
const OPERATOR_TRIES = 3;
const MAX_DEPTH = 3;

const fitgraph = fitgraphForThisFile({ content: 'tables' });
const schema = buildGraphQLSchema();

/** Random generator of the current case. */
let random: Random;
let ann: Person;
const rows = new Map<Entity, Row[]>();

/** The rows that Ann may read. */
const visibleRows = new Map<Entity, Row[]>();

beforeAll(async () => {
  [ann] = await populate(fitgraph, 'conditions');
  for (const entity of allEntities()) rows.set(entity, await everyRow(fitgraph, entity));

  for (const row of rows.get(findEntity('ExerciseImage')!)!) {
    row.image = mediaFolder() + String(row.image);
  }

  for (const [entity, all] of rows) {
    visibleRows.set(
      entity,
      all.filter((row) => isShown(entity, row)),
    );
  }
});

type Where = Record<string, any>;

/** Folds a text for case-insensitive comparison. */
const folded = (text: string) => text.toLowerCase().replaceAll('ς', 'σ');

const comparableTime = (time: string) => time + '00:00:00.000000'.slice(time.length);
const microseconds = (moment: string) =>
  Date.parse(moment) * 1000 + Number(/\.\d{3}(\d{3})/.exec(moment)?.[1] ?? 0);

/** Converts a value so that `===` and `<` compare it as the database does. */
function comparable(field: EntityField, value: any, insensitive = false): any {
  if (value === null) return null;
  // The value is the name of an enum value or a stored value; a stored empty text counts as null.
  if (field.enum) return (field.enum.type[value] ?? value) || null;

  if (field.kind === 'relation' || field.name === 'id' || field.kind === 'decimal') {
    return Number(value);
  }

  if (field.kind === 'datetime') return microseconds(value);
  if (field.kind === 'time') return comparableTime(value);

  return insensitive && typeof value === 'string' ? folded(value) : value;
}

/**
 * Returns the URL with which addresses of images begin. `contains` and `endsWith` compare only the
 * path after it.
 */
const mediaFolder = () => `${fitgraph.url}/media/`;

function matchesOperator(
  field: EntityField,
  name: string,
  row: any,
  value: any,
  insensitive: boolean,
): boolean {
  const compared =
    field.kind === 'image' && ['contains', 'endsWith'].includes(name)
      ? row.slice(mediaFolder().length)
      : row;
  const [storedValue, compareWith] = [
    comparable(field, compared, insensitive),
    Array.isArray(value) ? null : value,
  ];
  const other =
    typeof compareWith === 'object' && compareWith !== null
      ? null
      : comparable(field, compareWith, insensitive);
  const isIn = () =>
    (value as any[]).some((one) => storedValue === comparable(field, one, insensitive));

  switch (name) {
    case 'eq':
      return storedValue === other;
    case 'ne':
      return storedValue !== other;
    case 'in':
      return isIn();
    case 'notIn':
      return !isIn();
    case 'isNull':
      return (storedValue === null) === value;
  }

  if (storedValue === null) return false;

  switch (name) {
    case 'lt':
      return storedValue < other;
    case 'lte':
      return storedValue <= other;
    case 'gt':
      return storedValue > other;
    case 'gte':
      return storedValue >= other;
    case 'contains':
      return storedValue.includes(other);
    case 'startsWith':
      return storedValue.startsWith(other);
    case 'endsWith':
      return storedValue.endsWith(other);
  }

  throw new Error(`no such operator: ${name}`);
}

const isOwnedByAnn = (entity: Entity, row: Row) =>
  !resourceOf(entity)!.isOwned || (entity === findEntity('User') ? row.id : row.userId) === ann.id;
const isShown = (entity: Entity, row: Row) =>
  isOwnedByAnn(entity, row) && isPublished(entity, row, (other) => rows.get(other)!);

const childField = (entity: Entity, name: string) =>
  childRowsFieldsOf(entity).find((candidate) => candidate.name === name);
const referenceField = (entity: Entity, name: string) =>
  fieldsOf(entity).find(({ relationFieldName: relationFieldName }) => relationFieldName === name);
const targetOf = (entity: Entity, name: string): Entity =>
  (childField(entity, name) ?? referenceField(entity, name))!.target!();

/** Returns those related rows of a row that Ann may read. */
function related(
  entity: Entity,
  row: Row,
  name: string,
): { target: Entity; found: Row[]; many: boolean } {
  const child = childField(entity, name);
  const field = referenceField(entity, name);
  const target = targetOf(entity, name);
  const all = visibleRows.get(target)!;

  if (!child) {
    const ids = [row[field!.name]].flat();

    return {
      target,
      found: all.filter(({ id }) => ids.includes(id)),
      many: field!.relation!.isToMany,
    };
  }

  return {
    target,
    found: all.filter((other) =>
      [other[child.referenceFieldName]].flat().includes(row[child.keyFieldName]),
    ),
    many: true,
  };
}

function matches(entity: Entity, where: Where, row: Row): boolean {
  return Object.entries(where).every(([name, value]) => {
    if (name === 'and') return value.every((one: Where) => matches(entity, one, row));
    if (name === 'or') return value.some((one: Where) => matches(entity, one, row));
    if (name === 'not') return !matches(entity, value, row);
    const field = fieldsOf(entity).find((candidate) => candidate.name === name);

    if (field?.relation?.isToMany) {
      const isIn = (enumNames: string[]) =>
        enumNames.some((one) => row[name].includes(field.enum?.type[one] ?? Number(one)));

      return (!value.in || isIn(value.in)) && (!value.notIn || !isIn(value.notIn));
    }

    if (field) {
      const { mode, ...operators } = value;

      return Object.entries(operators).every(([key, compareWith]) =>
        matchesOperator(field, key, row[name], compareWith, mode === 'INSENSITIVE'),
      );
    }

    const { target, found, many } = related(entity, row, name);
    const meets = (condition: Where) => (other: Row) => matches(target, condition, other);

    if (!many) return found.some(meets(value));

    return (
      (!value.some || found.some(meets(value.some))) &&
      (!value.none || !found.some(meets(value.none)))
    );
  });
}

/** Picks up to `most` random items, possibly repeated. */
function pickSome<T>(items: readonly T[], most: number): T[] {
  const count = random.int(1, most);

  return Array.from({ length: count }, () => random.pick(items as [T]));
}

const VALUE_OF_NO_ROW: Partial<Record<EntityField['kind'], unknown>> = {
  integer: 77,
  relation: '77',
  decimal: '77.7',
  date: '2030-01-01',
  time: '23:59',
  datetime: '2030-01-01T00:00:00Z',
};

/** Picks the value of an existing row, or sometimes a value that no row has. */
function valueOf(entity: Entity, field: EntityField): any {
  if (field.enum) return random.pick(Object.keys(field.enum.type) as [string]);
  const storedValues = rows
    .get(entity)!
    .map((row) => row[field.name])
    .flat()
    .filter((value) => value !== null);

  if (!storedValues.length || random.chance(0.1)) {
    return field.kind === 'boolean'
      ? true
      : (VALUE_OF_NO_ROW[field.kind] ?? random.pick(['77', 'none', '']));
  }

  return random.pick(storedValues as [any]);
}

const partOf = (text: string) => {
  const start = random.int(0, Math.max(text.length - 1, 0));
  const part = random.pick([
    text.slice(start),
    text.slice(0, start + 1),
    text.slice(start, start + 3),
  ]);

  return random.pick([part, part.toLowerCase(), part.toUpperCase(), part]);
};

function operand(entity: Entity, field: EntityField, name: string): any {
  const one = () => valueOf(entity, field);

  switch (name) {
    case 'isNull':
      return random.chance(0.5);
    case 'in':
    case 'notIn':
      // prettier-ignore
      return pickSome([one, one], 3).map((make) => String(make())).map((value) => (field.kind === 'integer' && field.name !== 'id' ? Number(value) : value));
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return partOf(one());
    default:
      return (name === 'eq' || name === 'ne') &&
        field.kind !== 'relation' &&
        field.name !== 'id' &&
        random.chance(0.15)
        ? null
        : one();
  }
}

/** Returns the kind of a filter type; filters of all enums count as one kind. */
const kindOf = ({ name }: GraphQLInputObjectType) =>
  isRegisteredEnum(name.replace(/Filter$/, '')) ? 'choice' : name;

const SET = /^(Id|Weekday)ListFilter$/;
const isOfValues = ({ name }: GraphQLInputObjectType) =>
  SET.test(name) || /(?<!List)Filter$/.test(name);

const typeOf = (field: { type: GraphQLInputType }) =>
  getNamedType(field.type) as GraphQLInputObjectType;

/** Returns the operators of a filter, except those tested elsewhere. */
const operatorsOf = (type: GraphQLInputObjectType) =>
  Object.keys(type.getFields()).filter((key) => !['mode', 'search', 'each'].includes(key));

/** Draws a condition that is valid according to the input types of the schema. */
function condition(entity: Entity, depth: number): Where {
  const fields = Object.values(
    (schema.getType(`${entity.name}Where`) as GraphQLInputObjectType).getFields(),
  );
  const usable = fields.filter(
    (field) =>
      depth > 0 || !/Where$|ListFilter$/.test(typeOf(field).name) || SET.test(typeOf(field).name),
  );
  const where: Where = {};

  for (const field of pickSome(usable, 2)) {
    const type = typeOf(field);

    if (type.name === `${entity.name}Where` && isListType(getNullableType(field.type))) {
      where[field.name] = Array.from({ length: random.int(0, 3) }, () =>
        condition(entity, depth - 1),
      );
    } else if (field.name === 'not') where.not = condition(entity, depth - 1);
    else where[field.name] = filter(entity, field.name, type, depth);
  }

  return where;
}

function filter(entity: Entity, name: string, type: GraphQLInputObjectType, depth: number): Where {
  const field = fieldsOf(entity).find((candidate) => candidate.name === name);

  if (!field) {
    const target = targetOf(entity, name);

    if (type.name === `${target.name}Where`) return condition(target, depth - 1);

    return Object.fromEntries(
      pickSome(['some', 'none'], 2).map((quantifier) => [quantifier, condition(target, depth - 1)]),
    );
  }

  const operandObject: Where = Object.fromEntries(
    pickSome(operatorsOf(type), type.isOneOf ? 1 : 2).map((key) => [
      key,
      operand(entity, field, key),
    ]),
  );

  if (type.getFields().mode && random.chance(0.5)) {
    operandObject.mode = random.pick(['INSENSITIVE', 'SENSITIVE']);
  }

  return operandObject;
}

const listed = populatedEntities().filter(hasPages);

const rowsMatching = (all: readonly Row[], entity: Entity, where: Where) =>
  all.filter((row) => matches(entity, where, row));

/** Draws a condition that matches some but not all rows. */
function distinguishingCondition(entity: Entity): Where {
  const all = visibleRows.get(entity)!;

  for (let draws = 0; draws < 200; draws += 1) {
    const where = condition(entity, random.int(0, MAX_DEPTH));
    const count = rowsMatching(all, entity, where).length;

    if (count > 0 && count < all.length) return where;
  }

  return { id: { eq: String(random.pick(all).id) } };
}

async function compare(entity: Entity, where: Where): Promise<void> {
  const document = `query ($where: ${entity.name}Where) { page: ${resourceOf(entity)!.pluralName}(where: $where, first: 100, orderBy: [{ id: ASC }]) { totalCount nodes { id } } }`;
  const expected = rowsMatching(visibleRows.get(entity)!, entity, where).map(({ id }) =>
    String(id),
  );
  const { data, errors } = await ann.query(document, { where });

  expect({ where, errors, ids: data?.page.nodes.map(({ id }: any) => id) }).toEqual({
    where,
    errors: undefined,
    ids: expected,
  });
  expect(data.page.totalCount).toBe(expected.length);
}

test.each(listed.map((entity): [string, Entity] => [resourceOf(entity)!.pluralName, entity]))(
  seeded('filters %s by random conditions as the model does'),
  async (many, entity) => {
    random = randomFor(`conditions of ${many}`);

    for (let index = 0; index < TRIES; index += 1) {
      await compare(entity, distinguishingCondition(entity));
      await compare(entity, condition(entity, random.int(0, MAX_DEPTH)));
    }
  },
);

/** Filterable fields by the kind of their filter. */
const filtered = new Map<
  string,
  { entity: Entity; name: string; type: GraphQLInputObjectType }[]
>();

for (const entity of listed) {
  for (const field of Object.values(
    (schema.getType(`${entity.name}Where`) as GraphQLInputObjectType).getFields(),
  )) {
    const type = typeOf(field);

    if (isOfValues(type)) {
      filtered.set(kindOf(type), [
        ...(filtered.get(kindOf(type)) ?? []),
        { entity, name: field.name, type },
      ]);
    }
  }
}

const operators = [...filtered].flatMap(([kind, fields]) =>
  operatorsOf(fields[0]!.type).map((name): [string, string] => [kind, name]),
);

test.each(operators)(seeded('applies %s.%s as the model does'), async (kind, operatorName) => {
  random = randomFor(`conditions with ${kind}.${operatorName}`);

  for (let index = 0; index < OPERATOR_TRIES; index += 1) {
    const { entity, name } = random.pick(filtered.get(kind)!);
    const field = fieldsOf(entity).find((candidate) => candidate.name === name)!;

    await compare(entity, { [name]: { [operatorName]: operand(entity, field, operatorName) } });
  }
});

test('covers every filter operator of the schema', () => {
  const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
  // Only filters that occur in `where`: those of `having` are tested elsewhere.
  const used = new Set(
    inputs
      .filter(({ name }) => name.endsWith('Where'))
      .flatMap((type) => Object.values(type.getFields()).map(typeOf)),
  );
  const filters = inputs.filter((type) => used.has(type) && isOfValues(type));
  const all = filters.flatMap((type) => operatorsOf(type).map((key) => `${kindOf(type)}.${key}`));

  expect(operators.map((one) => one.join('.')).sort()).toEqual([...new Set(all)].sort());
});
