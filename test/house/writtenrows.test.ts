/**
 * What a write answers is the row as it is stored, to the letter: whether the statement that wrote the row told of it or it was read again. Every type that can be
 * written is tried with random values, over both interfaces.
 */
import { getNamedType, isLeafType, isNonNullType, isObjectType, type GraphQLObjectType } from 'graphql';
import { fieldsOf, type Entity, type FieldMeta } from '../../src/core/model/fields';
import { resourceOf } from '../../src/core/model/registry';
import { buildGraphQLSchema } from '../../src/graphql/schema';
import { furnish, ownedTypes, parentsIn, type Belongings } from '../setup/belongings';
import { fitgraphForThisFile } from '../setup/fitgraph';
import type { Answer, GraphQLAnswer, Person } from '../setup/person';
import { bodyOf, inputOf, named, type Values } from '../setup/samples';

/** A zone that is another one in summer, and not that of the machine. */
const fitgraph = fitgraphForThisFile({ environment: { TIME_ZONE: 'Europe/Berlin' } });
const schema = buildGraphQLSchema();
let ann: Person;
let annas: Belongings;
beforeAll(async () => {
  ann = await fitgraph.user('ann');
  annas = await furnish(ann);
});

const ROUNDS = 4;

/** The same numbers at every run. */
let state = 20_210_310;
const random = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
  return Math.floor((state / 0x80000000) * below);
};
const oneOf = <T>(values: readonly T[]): T => values[random(values.length)]!;
const digits = (count: number) => String(random(10 ** count)).padStart(count, '0');

const ZONES = ['Z', '+01:00', '-03:30', '+05:45'];
const TEXTS = ['ab', 'Übung · 試合', 'a  "b" \\ \'c\'', 'line\nline', '{"a": 1}', '12.50', '2021-03-10', 'null', '😀😀'];

/** One that the field takes; undefined: the sample's. */
function valueOf(field: FieldMeta): unknown {
  const { kind, min = 1, max, maxLength = 40, minLength = 0 } = field;
  if (field.null && random(4) === 0) return null;
  switch (kind) {
    case 'integer':
      return Math.max(min, random(Math.min(max ?? 500, 500)));
    case 'decimal': {
      const whole = Math.max(min, 1) + random(3);
      return oneOf([`${whole}`, `${whole}.5`, `+${whole}.50`, `${whole}.0`, `0${whole}.25`, `${whole}e0`]);
    }
    case 'boolean':
      return random(2) === 0;
    case 'date':
      return `${oneOf(['0900', '1969', '2020', '2024'])}-0${1 + random(9)}-${10 + random(18)}`;
    case 'time':
      return oneOf(['08:00', '23:59:59', `07:30:${10 + random(40)}.${digits(1 + random(6))}`]);
    case 'datetime':
      return `20${10 + random(20)}-${oneOf(['01', '03', '07', '10'])}-${10 + random(18)}T0${random(10)}:30:00${oneOf(['', `.${digits(6)}`, '.5'])}${oneOf(ZONES)}`;
    case 'choice':
      return oneOf(field.choices!.filter(({ value }) => value !== null)).value;
    case 'string': {
      const text = oneOf(TEXTS).slice(0, maxLength);
      return text.length < minLength ? undefined : text;
    }
    default:
      return undefined;
  }
}

function randomized(
  entity: Entity,
  values: Values,
  key: (field: FieldMeta) => string,
  shown: (field: FieldMeta, value: unknown) => unknown,
) {
  const given = fieldsOf(entity).flatMap((field): [string, unknown][] => {
    if (!(key(field) in values) || field.relation || resourceOf(entity)!.unique?.includes(field.name)) return [];
    const value = valueOf(field);
    return value === undefined ? [] : [[key(field), shown(field, value)]];
  });
  return { ...values, ...Object.fromEntries(given) };
}

let number = 1_000;
const body = (entity: Entity): Values =>
  randomized(
    entity,
    bodyOf(entity, (number += 1), parentsIn(annas)),
    ({ rest }) => rest,
    (_field, value) => value,
  );
const input = (entity: Entity): Values => randomized(entity, inputOf(entity, (number += 1), parentsIn(annas)), ({ name }) => name, named);

/** Some of the values. */
const some = (values: Values): Values => {
  const entries = Object.entries(values).filter(() => random(2) === 0);
  return Object.fromEntries(entries.length ? entries : Object.entries(values).slice(0, 1));
};

const shown = ({ body, headers }: Answer) => ({ body, tag: headers.get('etag') });

const types = ownedTypes().map((entity): [string, Entity] => [entity.name, entity]);

const written = ({ status }: Answer): boolean => status < 300;

test.each(types.filter(([, entity]) => resourceOf(entity)!.fact.views.length))('%s over REST', async (_name, entity) => {
  const { fact } = resourceOf(entity)!;
  const path = `/${fact.views[0]!.rest}/`;
  let done = 0;
  const compare = async (answer: Answer) => {
    if (!written(answer)) return;
    done += 1;
    expect(shown(answer)).toEqual(shown(await ann.get(`${path}${answer.body.id}/`)));
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const made = fact.create ? await ann.post(path, body(entity)) : undefined;
    if (made) await compare(made);
    const id = (made && written(made) ? made.body.id : annas.get(entity)) as number;
    await compare(await ann.patch(`${path}${id}/`, some(body(entity))));
    await compare(await ann.put(`${path}${id}/`, body(entity)));
  }
  expect(done).toBeGreaterThan(ROUNDS / 2);
});

/** The id, what the row holds itself, that and what is worked out of it, and the ids of rows around it. */
function selections(entity: Entity): string[] {
  const all = Object.values((schema.getType(entity.name) as GraphQLObjectType).getFields()).filter(
    ({ args, extensions }) => !extensions.action && !args.some(({ type }) => isNonNullType(type)),
  );
  const leaves = all.filter(({ type }) => isLeafType(getNamedType(type))).map(({ name }) => name);
  const around = all.flatMap(({ name, type }) => {
    const target = getNamedType(type);
    return isObjectType(target) && target.getFields().id ? [`${name} { id }`] : [];
  });
  const own = fieldsOf(entity).filter(({ column, only }) => column && only !== 'rest');
  return ['id', own.map(({ name }) => name).join(' '), leaves.join(' '), around.join(' ') || 'id'];
}

test.each(types)('%s over GraphQL', async (name, entity) => {
  const { fact, one: row } = resourceOf(entity)!;
  const done: Record<string, number> = {};
  for (const selection of selections(entity)) {
    const payload = `{ row: ${row} { id ${selection} } fieldErrors { path messages } }`;
    const create = `mutation ($input: ${name}Input!) { made: ${fact.create}(input: $input) ${payload} }`;
    const update = `mutation ($id: ID!, $input: ${name}Patch!) { made: ${fact.update}(id: $id, input: $input) ${payload} }`;
    const compare = async (answer: GraphQLAnswer) => {
      const found = answer.data?.made?.row;
      if (!found) return;
      done[selection] = (done[selection] ?? 0) + 1;
      const read = await ann.ask(`query ($id: ID!) { row: ${row}(id: $id) { id ${selection} } }`, { id: found.id });
      expect(found).toEqual(read.row);
    };
    // Of random values many are refused.
    for (let round = 0; round < (fact.create ? ROUNDS : 3 * ROUNDS); round += 1) {
      if (fact.create) await compare(await ann.query(create, { input: input(entity) }));
      if (fact.update) await compare(await ann.query(update, { id: annas.get(entity), input: some(input(entity)) }));
    }
    expect(done[selection]).toBeGreaterThan(ROUNDS / 2);
  }
});
