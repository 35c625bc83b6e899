/** Every id input accepts an `id` or a `nodeId`; an id of another type is rejected at its path. */
import { fieldsOf, type Entity, type EntityField } from '../../../src/engine/declare/fields';
import { nodeIdOf } from '../../../src/engine/declare/node';
import { allEntities, resourceOf } from '../../../src/engine/declare/registry';
import {
  createOwnedRows,
  ownedTypes,
  parentsIn,
  userWithParents,
  type OwnedRowIds,
} from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { hasPages } from '../../setup/generic-lists';
import type { Person } from '../../setup/person';
import { inputOf, type Values } from '../../setup/sample-values';
import { messagesByPath } from '../../setup/input-errors';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let annas: OwnedRowIds;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  annas = await createOwnedRows(ann);
});

const typeOf = (entity: Entity, field: EntityField): string => field.target?.().name ?? entity.name;
const otherThan = (type: string): string => nodeIdOf(type === 'Muscle' ? 'Language' : 'Muscle', 1);
const byName = (types: readonly Entity[]): [string, Entity][] =>
  types.map((entity) => [entity.name, entity]);
const mapValues = (value: unknown, change: (id: unknown) => unknown): unknown =>
  Array.isArray(value) ? value.map(change) : change(value);

const listed = allEntities().filter(hasPages);

describe.each(byName(listed))('id conditions of %s', (name, entity) => {
  const { pluralName } = resourceOf(entity)!;
  const fields = fieldsOf(entity).filter(
    (field) =>
      (field.name === 'id' ||
        (field.relation && !field.enum && (field.link || !field.relation.isToMany))) &&
      field.exclusiveTo !== 'rest',
  );
  const document = `query ($where: ${name}Where!) { rows: ${pluralName}(where: $where) { totalCount nodes { id } } }`;
  const operators = ({ relation }: EntityField) =>
    relation?.isToMany ? ['in', 'notIn'] : ['eq', 'ne', 'in', 'notIn'];
  const condition = (field: EntityField, operator: string, id: unknown) => ({
    where: { [field.name]: { [operator]: ['eq', 'ne'].includes(operator) ? id : [id] } },
  });

  test('match the same rows by id and by nodeId', async () => {
    const { rows } = await ann.ask(
      `{ rows: ${pluralName}(first: 3) { nodes { ${fields.map((field) => field.name).join(' ')} } } }`,
    );

    for (const row of rows.nodes as Values[]) {
      for (const field of fields) {
        const value = row[field.name];
        const id = Array.isArray(value) ? (value as unknown[])[0] : value;

        if (id == null) continue;

        for (const operator of operators(field)) {
          const [number, node] = [String(id), nodeIdOf(typeOf(entity, field), String(id))];

          expect(await ann.ask(document, condition(field, operator, node))).toEqual(
            await ann.ask(document, condition(field, operator, number)),
          );
        }
      }
    }
  });

  test('are rejected by path when they have an id of another type or an invalid id', async () => {
    for (const field of fields) {
      for (const operator of operators(field)) {
        for (const id of [otherThan(typeOf(entity, field)), 'abc']) {
          const { code, errors } = await ann.query(document, condition(field, operator, id));
          const place = `where.${field.name}.${operator}${['eq', 'ne'].includes(operator) ? '' : '.0'}`;

          expect([code, Object.keys(messagesByPath(errors![0]!))]).toEqual([
            'BAD_USER_INPUT',
            [place],
          ]);
        }
      }
    }
  });

  test('match nothing for unknown or out-of-range numbers', async () => {
    for (const id of ['0', '-1', '2000000000', '99999999999']) {
      expect((await ann.ask(document, condition(fields[0]!, 'eq', id))).rows.totalCount).toBe(0);
    }
  });
});

const creatable = ownedTypes().filter((entity) => resourceOf(entity)!.metadata.createMutationName);

describe.each(byName(creatable))('id values of %s', (name, entity) => {
  const { metadata, singularName } = resourceOf(entity)!;
  const references = fieldsOf(entity).filter(
    (field) => field.relation && !field.enum && !field.readOnly,
  );
  const selection = ['id', ...references.map((field) => field.name)].join(' ');
  const create = `mutation ($input: ${name}Input!) { done: ${metadata.createMutationName}(input: $input) { ${singularName} { ${selection} } errors { path code message } } }`;
  const update = `mutation ($id: ID!, $input: ${name}Patch!) { done: ${metadata.updateMutationName}(id: $id, input: $input) { ${singularName} { ${selection} } errors { path code message } } }`;

  test('are stored alike from an id and a nodeId', async () => {
    const { person, ownedRowIds } = await userWithParents(entity, fitgraph, `ids-${name}`);
    const input = inputOf(entity, 1, parentsIn(ownedRowIds));
    const ids = Object.fromEntries(
      references.flatMap(({ name: field }) =>
        input[field] == null ? [] : [[field, input[field]]],
      ),
    );
    const nodes = Object.fromEntries(
      Object.entries(ids).map(([field, value]) => {
        const type = typeOf(
          entity,
          references.find((reference) => reference.name === field)!,
        );

        return [field, mapValues(value, (id) => nodeIdOf(type, String(id)))];
      }),
    );
    const texts = Object.fromEntries(
      Object.entries(ids).map(([field, value]) => [field, mapValues(value, String)]),
    );
    const made = await person.ask(create, { input: { ...input, ...nodes } });

    expect(made.done).toMatchObject({ [singularName]: texts, errors: [] });
    const updated = await person.ask(update, {
      id: nodeIdOf(name, made.done[singularName].id),
      input: nodes,
    });

    expect(updated.done).toMatchObject({
      [singularName]: { id: made.done[singularName].id, ...texts },
      errors: [],
    });
  });

  test('are rejected at their field when they are ids of another type', async () => {
    const input = inputOf(entity, 2, parentsIn(annas));

    for (const field of references) {
      const wrong = field.relation!.isToMany
        ? [otherThan(typeOf(entity, field))]
        : otherThan(typeOf(entity, field));
      const { done } = await ann.ask(create, { input: { ...input, [field.name]: wrong } });
      const message = expect.stringMatching(
        new RegExp(`^This is the id of a row of \\w+, not of ${typeOf(entity, field)}\\.$`),
      );

      expect(done).toEqual({
        [singularName]: null,
        errors: [{ path: ['input', field.name], code: 'INVALID', message }],
      });
    }
  });

  test('are rejected by reads, updates and deletes when they are ids of another type', async () => {
    const id = otherThan(name);
    const { code, errors } = await ann.query(
      `query ($id: ID!) { ${singularName}(id: $id) { id } }`,
      { id },
    );

    expect([code, Object.keys(messagesByPath(errors![0]!))]).toEqual(['BAD_USER_INPUT', ['id']]);
    const message = expect.stringMatching(new RegExp(`, not of ${name}\\.$`));

    for (const [document, variables] of [
      [update, { id, input: {} }],
      [
        `mutation ($id: ID!) { done: ${metadata.deleteMutationName}(id: $id) { errors { path code message } } }`,
        { id },
      ],
    ] as const) {
      const { done } = await ann.ask(document, variables);

      expect(done.errors).toEqual([{ path: ['id'], code: 'INVALID', message }]);
    }
  });
});

test('accepts id or nodeId in arguments that refer to a row of another type', async () => {
  const unit = await ann.ask('{ ingredientUnits(first: 1) { nodes { id ingredientId } } }');
  const [{ id, ingredientId }] = unit.ingredientUnits.nodes;
  const values =
    'query ($of: ID!, $unit: ID) { ingredient(id: $of) { valuesOf(amount: "2", unitId: $unit) { energy } } }';
  const byNumber = await ann.ask(values, { of: ingredientId, unit: id });

  expect(await ann.ask(values, { of: ingredientId, unit: nodeIdOf('IngredientUnit', id) })).toEqual(
    byNumber,
  );
  const { errors } = await ann.query(values, { of: ingredientId, unit: nodeIdOf('Muscle', 1) });

  expect(Object.keys(messagesByPath(errors![0]!))).toEqual(['unitId']);
  const text =
    'query ($exercise: ID!) { setGroups(first: 1) { nodes { summary(exerciseId: $exercise) } } }';

  expect(await ann.ask(text, { exercise: nodeIdOf('Exercise', 1) })).toEqual(
    await ann.ask(text, { exercise: '1' }),
  );
});

test('rejects an omitted or null id variable in a condition instead of matching all rows', async () => {
  for (const variables of [{}, { id: null }]) {
    const nullable = await ann.query(
      'query ($id: ID) { workoutLogs(where: { exerciseId: { eq: $id } }) { totalCount } }',
      variables,
    );
    const whole = await ann.query(
      'query ($by: IdFilter!) { workoutLogs(where: { exerciseId: $by }) { totalCount } }',
      {
        by: 'id' in variables ? { eq: null } : {},
      },
    );

    for (const { status, data, errors } of [nullable, whole]) {
      expect([status, data, errors!.length]).toEqual([400, undefined, 1]);
    }
  }

  const withGivenId = await ann.ask(
    'query ($id: ID!) { workoutLogs(where: { exerciseId: { eq: $id } }) { totalCount } }',
    { id: '1' },
  );

  expect(withGivenId.workoutLogs.totalCount).toBe(1);
});
