/**
 * The number of SQL statements of a write depends on the written types, not on the number of rows.
 */
import { creatableChildFields } from '../../../src/engine/write/drafts';
import { fieldsOf, partFields, type Entity } from '../../../src/engine/declare/fields';
import { allEntities, OWNER_FIELD, resourceOf } from '../../../src/engine/declare/registry';
import '../../../src/graphql/schema';
import {
  createOwnedRows,
  ownedTypes,
  parentsIn,
  userWithParents,
  type OwnedRowIds,
} from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, GraphQLAnswer, Person } from '../../setup/person';
import {
  bodyOf,
  distinctSamples,
  inputBelow,
  inputOf,
  type Values,
} from '../../setup/sample-values';

const SIZES = [1, 20, 400];

/** Look-ups of references, the transaction, writes of rows and links, and reads of the result. */
const MAX_STATEMENTS = 14;

const fitgraph = fitgraphForThisFile();
let ann: Person;
let ownedRowIds: OwnedRowIds;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  ownedRowIds = await createOwnedRows(ann);
});

/** Numbers the rows, so that they satisfy unique constraints. */
let number = 100;

// True flags may affect other rows.
const withTrueFlags = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === false ? true : value]),
  );

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

const expectSuccess = (answer: GraphQLAnswer): GraphQLAnswer => {
  expect(answer.errors).toBeUndefined();
  const { rows } = answer.data;

  if (rows.errors) expect(rows.errors).toEqual([]);

  return answer;
};

/**
 * Returns the number of look-ups before a bulk write: referenced types, and duplicates. For a
 * single row, PostgreSQL's constraints check these.
 */
function lookUps(entity: Entity): number {
  const named = fieldsOf(entity).filter(
    ({ relation, isColumn, readOnly }) => relation && isColumn && !readOnly,
  );
  const targets = new Set(
    named.map(({ target }) => target!()).filter((target) => !resourceOf(target)!.isCachedInMemory),
  );

  return targets.size + (resourceOf(entity)!.uniqueFields ? 1 : 0);
}

/**
 * Checks that statements do not grow with rows. Only writes of several rows need a lock and `more`
 * statements.
 */
function expectNoGrowth([one, some, many]: number[], more = 0): void {
  expect(many).toBe(some);
  expect(some! - one!).toBeGreaterThanOrEqual(0);
  expect(some! - one!).toBeLessThanOrEqual(1 + more);
  expect(many).toBeLessThanOrEqual(MAX_STATEMENTS);
}

const written = ownedTypes().filter(
  (entity) => resourceOf(entity)!.metadata.bulkCreateMutationName,
);

test.each(written.map((entity): [string, Entity] => [entity.name, entity]))(
  '%s takes a constant number of statements for bulk writes',
  async (name, entity) => {
    const { pluralName, metadata } = resourceOf(entity)!;
    const payload = `{ shown: ${pluralName} { id } errors { path message } }`;
    const create = `mutation ($inputs: [${name}Input!]!) { rows: ${metadata.bulkCreateMutationName}(inputs: $inputs) ${payload} }`;
    const update = `mutation ($changes: [${name}Change!]!) { rows: ${metadata.bulkUpdateMutationName}(changes: $changes) ${payload} }`;
    const remove = `mutation ($rows: [RowVersion!]!) { rows: ${metadata.bulkDeleteMutationName}(rows: $rows) { deletedIds } }`;
    const statements: Record<string, number[]> = { create: [], update: [], parts: [], remove: [] };
    const { person, ownedRowIds: parents } = await userWithParents(
      entity,
      fitgraph,
      `bulk-${name}`,
    );
    const nextInput = () => withTrueFlags(inputOf(entity, (number += 1), parentsIn(parents)));
    // Rows are created, updated to different samples, and updated again.
    const maxSize = Math.max(1, Math.floor(distinctSamples(entity) / 3));

    for (const size of SIZES.map((wanted) => Math.min(wanted, maxSize))) {
      const created = expectSuccess(await person.query(create, { inputs: times(size, nextInput) }));

      statements.create!.push(created.statements);
      const ids: string[] = created.data.rows.shown.map(({ id }: { id: string }) => id);

      expect(new Set(ids).size).toBe(size);
      const changes = ids.map((id) => ({ id, input: nextInput() }));

      statements.update!.push(expectSuccess(await person.query(update, { changes })).statements);
      // Each row changes another field.
      const parts = changes.map(({ id }, index) => {
        const entries = Object.entries(nextInput());

        return { id, input: Object.fromEntries([entries[index % entries.length]!]) };
      });

      statements.parts!.push(
        expectSuccess(await person.query(update, { changes: parts })).statements,
      );
      statements.remove!.push(
        expectSuccess(await person.query(remove, { rows: ids.map((id) => ({ id })) })).statements,
      );
    }

    expectNoGrowth(statements.create!, lookUps(entity));
    expectNoGrowth(statements.update!, lookUps(entity));
    const [, some, many] = statements.parts!;

    expectNoGrowth([some!, some!, many!]);
    expectNoGrowth(statements.remove!);
  },
);

/**
 * Returns a row with `width` children, or as many as can be distinct, each with one child, and so
 * on.
 */
function tree(entity: Entity, width: number): Values {
  const sample = inputOf(entity, (number += 1), parentsIn(ownedRowIds));

  return { ...withTrueFlags(sample), ...childrenIn(entity, width) };
}

const childrenIn = (entity: Entity, width: number): Values =>
  Object.fromEntries(
    creatableChildFields(entity).map(({ name, target, referenceFieldName: referenceFieldName }) => {
      const childInput = (sampleNumber: number) =>
        withTrueFlags(
          inputBelow(target(), referenceFieldName, sampleNumber, parentsIn(ownedRowIds)),
        );
      const isUniqueInParent = resourceOf(target())!.uniqueFields?.includes(referenceFieldName);
      const count = Math.min(width, distinctSamples(target()));

      return [
        name,
        times(count, (index) => ({
          ...childInput(isUniqueInParent ? 1 + index : (number += 1)),
          ...childrenIn(target(), 1),
        })),
      ];
    }),
  );

/** Returns the number of children that a row can have in one list. */
const maxWidth = (entity: Entity) =>
  Math.max(...creatableChildFields(entity).map(({ target }) => distinctSamples(target())));

const rowsIn = (values: Values): number =>
  1 +
  Object.values(values)
    .flat()
    .filter((value): value is Values => value !== null && typeof value === 'object')
    .reduce((sum, value) => sum + rowsIn(value), 0);

const trunks = ownedTypes().filter(
  (entity) =>
    creatableChildFields(entity).length && resourceOf(entity)!.metadata.createMutationName,
);

test.each(trunks.map((entity): [string, Entity] => [entity.name, entity]))(
  '%s takes a constant number of statements for nested creations',
  async (name, entity) => {
    const { singularName, metadata } = resourceOf(entity)!;
    const create = `mutation ($input: ${name}Input!) { rows: ${metadata.createMutationName}(input: $input) { shown: ${singularName} { id } errors { path message } } }`;
    // Only lists that can be as long as the largest tree count, so that it has enough rows.
    const largest = SIZES.at(-1)!;
    const perWidth = Math.max(1, rowsIn(tree(entity, largest)) - rowsIn(tree(entity, largest - 1)));
    const answers: GraphQLAnswer[] = [];

    for (const size of SIZES) {
      const input = tree(entity, Math.ceil(size / perWidth));

      expect(rowsIn(input)).toBeGreaterThanOrEqual(Math.min(size, maxWidth(entity)));
      answers.push(expectSuccess(await ann.query(create, { input })));
    }

    expect(new Set(answers.map(({ statements }) => statements)).size).toBe(1);
    expect(answers[0]!.statements).toBeLessThanOrEqual(2 * MAX_STATEMENTS);
  },
);

/**
 * Statements of a single write in addition to four: authentication, BEGIN, the write with its
 * result, COMMIT.
 */
const MORE: Record<string, Partial<Record<string, number>>> = {
  // Weekdays are rows of another table. Their creation changes the row version, so the result is
  // read separately. An update reads the day and its workout, locks it, and deletes the old
  // weekdays.
  TrainingDay: { POST: 2, PATCH: 1, PUT: 5 },
  // A user has one active schedule: a write locks the user, clears the flag of the others and reads
  // the result afterwards. An update first checks that the row exists.
  Schedule: { POST: 2, PUT: 3, PATCH: 3, DELETE: 1 },
  // A deletion first locks the schedules of its steps.
  Workout: { DELETE: 1 },
};

/** A write of a part, such as a meal, first locks the root of its tree. */
const ROOT_LOCK = { POST: 1, PATCH: 1, PUT: 1, DELETE: 1 };

const isPart = (entity: Entity): boolean =>
  allEntities().some((whole) => partFields(whole).some(({ target }) => target() === entity));

/**
 * Returns the additional statements of a PATCH of one field of a composite unique key: reads of the
 * other key fields, the referenced row, and duplicates.
 */
function keyStatements(entity: Entity, restName: string): number {
  const key = (resourceOf(entity)!.uniqueFields ?? []).filter((name) => name !== OWNER_FIELD.field);
  const { name, relation } = fieldsOf(entity).find(({ restKey }) => restKey === restName)!;

  return key.length > 1 && key.includes(name) ? 2 + (relation ? 1 : 0) : 0;
}

const restWritable = ownedTypes().filter(
  (entity) =>
    resourceOf(entity)!.metadata.views.length && resourceOf(entity)!.metadata.createMutationName,
);

test.each(restWritable.map((entity): [string, Entity] => [entity.name, entity]))(
  '%s takes four statements per REST write, plus listed exceptions',
  async (name, entity) => {
    const statements: Record<string, number> = {};

    const recordStatements = (what: string, status: number, answer: Answer) => {
      expect([what, answer.status]).toEqual([what, status]);
      statements[what] = answer.statements;
      return answer;
    };

    const path = `/${resourceOf(entity)!.metadata.views[0]!.restName}/`;
    const { person, ownedRowIds: parents } = await userWithParents(
      entity,
      fitgraph,
      `REST-${name}`,
    );
    const body = () => bodyOf(entity, (number += 1), parentsIn(parents));
    const { id } = recordStatements('POST', 201, await person.post(path, body())).body;
    const [changed] = Object.entries(body()).filter(([, value]) => !Array.isArray(value));

    recordStatements(
      'PATCH',
      200,
      await person.patch(`${path}${id}/`, Object.fromEntries([changed!])),
    );
    recordStatements('PUT', 200, await person.put(`${path}${id}/`, body()));
    recordStatements('DELETE', 204, await person.delete(`${path}${id}/`));
    const extra: Partial<Record<string, number>>[] = [
      MORE[name] ?? {},
      isPart(entity) ? ROOT_LOCK : {},
      { PATCH: keyStatements(entity, changed![0]) },
    ];
    const expected = ['POST', 'PATCH', 'PUT', 'DELETE'].map((what) => [
      what,
      extra.reduce((sum, more) => sum + (more[what] ?? 0), 4),
    ]);

    expect(statements).toEqual(Object.fromEntries(expected));
  },
);
