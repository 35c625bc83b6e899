/**
 * The response to a write equals the stored row, for random values of every writable type, over
 * both interfaces.
 */
import {
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
  type GraphQLObjectType,
} from 'graphql';
import { fieldsOf, type Entity, type EntityField } from '../../../src/engine/declare/fields';
import { resourceOf } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { ownedTypes, parentsIn, userWithParents, type OwnedRowIds } from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { readRow, updateOf } from '../../setup/generic-lists';
import type { Answer, GraphQLAnswer } from '../../setup/person';
import { randomFor, seeded, type Random } from '../../setup/random';
import { bodyOf, inputOf, toEnumName, type Values } from '../../setup/sample-values';

/** A zone with daylight saving time, different from that of the machine. */
const fitgraph = fitgraphForThisFile({ environment: { TIME_ZONE: 'Europe/Berlin' } });
const schema = buildGraphQLSchema();

const ROUNDS = 4;

/** The random stream of the current case. */
let random: Random;
const digits = (count: number) => String(random.below(10 ** count)).padStart(count, '0');

const ZONES = ['Z', '+01:00', '-03:30', '+05:45'];
const TEXTS = [
  'ab',
  'Übung · 試合',
  'a  "b" \\ \'c\'',
  'line\nline',
  '{"a": 1}',
  '12.50',
  '2021-03-10',
  'null',
  '����',
];

/**
 * Returns a random value that is valid for the field; undefined to keep the value of the sample.
 */
function valueOf(field: EntityField): unknown {
  const { kind, min = 1, max, maxLength = 40, minLength = 0 } = field;

  if (field.allowNull && random.below(4) === 0) return null;

  switch (kind) {
    case 'integer':
      return Math.max(min, random.below(Math.min(max ?? 500, 500)));
    case 'decimal': {
      const whole = Math.max(min, 1) + random.below(3);

      return random.pick([
        `${whole}`,
        `${whole}.5`,
        `+${whole}.50`,
        `${whole}.0`,
        `0${whole}.25`,
        `${whole}e0`,
      ]);
    }
    case 'boolean':
      return random.below(2) === 0;
    case 'date':
      return `${random.pick(['0900', '1969', '2020', '2024'])}-0${1 + random.below(9)}-${10 + random.below(18)}`;
    case 'time':
      return random.pick([
        '08:00',
        '23:59:59',
        `07:30:${10 + random.below(40)}.${digits(1 + random.below(6))}`,
      ]);
    case 'datetime':
      return `20${10 + random.below(20)}-${random.pick(['01', '03', '07', '10'])}-${10 + random.below(18)}T0${random.below(10)}:30:00${random.pick(['', `.${digits(6)}`, '.5'])}${random.pick(ZONES)}`;
    case 'choice':
      return random.pick(field.choices!.filter(({ value }) => value !== null)).value;
    case 'string': {
      if (field.name === 'timeZone') return random.pick(['Europe/Berlin', 'Pacific/Kiritimati']);
      const text = random.pick(TEXTS).slice(0, maxLength);

      return text.length < minLength ? undefined : text;
    }
    default:
      return undefined;
  }
}

interface WriteInput {
  /** Values that are valid together. */
  sample: Values;

  /** Random values, each of them valid for its field; together they may be rejected. */
  drawn: Values;
}

function writeInput(
  entity: Entity,
  sample: Values,
  key: (field: EntityField) => string,
  shown: (field: EntityField, value: unknown) => unknown,
): WriteInput {
  const drawn = fieldsOf(entity).flatMap((field): [string, unknown][] => {
    if (
      !(key(field) in sample) ||
      field.relation ||
      resourceOf(entity)!.uniqueFields?.includes(field.name)
    ) {
      return [];
    }

    const value = valueOf(field);

    return value === undefined ? [] : [[key(field), shown(field, value)]];
  });

  return { sample, drawn: Object.fromEntries(drawn) };
}

/** Distinguishes the samples of one type. */
let number: number;
const body = (entity: Entity, ownedRowIds: OwnedRowIds): WriteInput =>
  writeInput(
    entity,
    bodyOf(entity, (number += 1), parentsIn(ownedRowIds)),
    ({ restKey }) => restKey,
    (_field, value) => value,
  );
const input = (entity: Entity, ownedRowIds: OwnedRowIds): WriteInput =>
  writeInput(
    entity,
    inputOf(entity, (number += 1), parentsIn(ownedRowIds)),
    ({ name }) => name,
    toEnumName,
  );

/** Returns a random subset with at least one field. */
const some = (values: Values): Values =>
  Object.fromEntries(random.some(Object.entries(values), Object.keys(values).length));

/**
 * Sends random values until they are accepted. Each attempt replaces half of the previous random
 * values by those of the sample. The last attempt sends the sample unchanged.
 */
async function writeUntilAccepted<A>(
  { sample, drawn }: WriteInput,
  part: (values: Values) => Values,
  send: (values: Values) => Promise<A>,
  isAccepted: (answer: A) => boolean,
): Promise<A> {
  for (
    let names = random.shuffled(Object.keys(drawn));
    names.length > 0;
    names = names.slice(0, names.length >> 1)
  ) {
    const answer = await send(
      part({ ...sample, ...Object.fromEntries(names.map((name) => [name, drawn[name]])) }),
    );

    if (isAccepted(answer)) return answer;
  }

  return send(sample);
}

const whole = (values: Values) => values;

const bodyAndTag = ({ body, headers }: Answer) => ({ body, tag: headers.get('etag') });

const types = ownedTypes().map((entity): [string, Entity] => [entity.name, entity]);

const isWritten = ({ status }: Answer): boolean => status < 300;

test.each(types.filter(([, entity]) => resourceOf(entity)!.metadata.views.length))(
  seeded('REST responses to writes of %s equal the stored row'),
  async (name, entity) => {
    random = randomFor(`rows of ${name} over REST`);
    number = 1_000;
    const { person, ownedRowIds } = await userWithParents(entity, fitgraph, `REST-${name}`);
    const { metadata } = resourceOf(entity)!;
    const { restName, permittedMethods = ['PUT'] } = metadata.views[0]!;
    const path = `/${restName}/`;

    const compare = async (answer: Answer) => {
      if (!isWritten(answer)) throw new Error(`refused: ${answer.text}`);
      expect(bodyAndTag(answer)).toEqual(bodyAndTag(await person.get(`${path}${answer.body.id}/`)));
    };

    for (let round = 0; round < ROUNDS; round += 1) {
      const nextBody = () => body(entity, ownedRowIds);
      const made = metadata.createMutationName
        ? await writeUntilAccepted(
            nextBody(),
            whole,
            (values) => person.post(path, values),
            isWritten,
          )
        : undefined;

      if (made) await compare(made);
      const id = (made ? made.body.id : ownedRowIds.get(entity)) as number;

      await compare(
        await writeUntilAccepted(
          nextBody(),
          some,
          (values) => person.patch(`${path}${id}/`, values),
          isWritten,
        ),
      );

      if (permittedMethods.includes('PUT')) {
        await compare(
          await writeUntilAccepted(
            nextBody(),
            whole,
            (values) => person.put(`${path}${id}/`, values),
            isWritten,
          ),
        );
      }

      if (made) expect((await person.delete(`${path}${id}/`)).status).toBe(204);
    }
  },
);

/**
 * Returns selections of the id, of stored fields, of all leaf fields including computed ones, and
 * of the ids of related rows.
 */
function selections(entity: Entity): string[] {
  const all = Object.values((schema.getType(entity.name) as GraphQLObjectType).getFields()).filter(
    ({ args, extensions }) => !extensions.action && !args.some(({ type }) => isNonNullType(type)),
  );
  const leafNames = all
    .filter(({ type }) => isLeafType(getNamedType(type)))
    .map(({ name }) => name);
  const relatedFields = all.flatMap(({ name, type }) => {
    const target = getNamedType(type);

    return isObjectType(target) && target.getFields().id ? [`${name} { id }`] : [];
  });
  const own = fieldsOf(entity).filter(
    ({ column, exclusiveTo }) => column && exclusiveTo !== 'rest',
  );

  return [
    'id',
    own.map(({ name }) => name).join(' '),
    leafNames.join(' '),
    relatedFields.join(' ') || 'id',
  ];
}

const hasRow = ({ data }: GraphQLAnswer): boolean => !!data?.made?.row;

test.each(types)(
  seeded('GraphQL responses to writes of %s equal the stored row'),
  async (name, entity) => {
    random = randomFor(`rows of ${name} over GraphQL`);
    number = 1_000;
    const { person, ownedRowIds } = await userWithParents(entity, fitgraph, `GraphQL-${name}`);
    const { metadata, singularName: row } = resourceOf(entity)!;

    for (const selection of selections(entity)) {
      const payload = `{ row: ${row} { id ${selection} } errors { path message } }`;
      const create = `mutation ($input: ${name}Input!) { made: ${metadata.createMutationName}(input: $input) ${payload} }`;
      const update = updateOf(entity, payload);

      const compare = async (answer: GraphQLAnswer) => {
        if (!hasRow(answer)) throw new Error(`refused: ${JSON.stringify(answer)}`);
        const found = answer.data.made.row;

        expect(found).toEqual(await readRow(person, entity, found.id, `id ${selection}`));
        return found.id as string;
      };

      for (let round = 0; round < ROUNDS; round += 1) {
        const nextInput = () => input(entity, ownedRowIds);
        const id = metadata.createMutationName
          ? await compare(
              await writeUntilAccepted(
                nextInput(),
                whole,
                (values) => person.query(create, { input: values }),
                hasRow,
              ),
            )
          : ownedRowIds.get(entity);

        if (metadata.updateMutationName) {
          await compare(
            await writeUntilAccepted(
              nextInput(),
              some,
              (values) => person.query(update, { id, input: values }),
              hasRow,
            ),
          );
        }

        if (metadata.createMutationName) {
          await person.ask(
            `mutation ($id: ID!) { ${metadata.deleteMutationName}(id: $id) { deletedIds } }`,
            { id },
          );
        }
      }
    }
  },
);
