/**
 * Errors of single and of bulk writes are equal. The server analyses a single row after PostgreSQL
 * has rejected it, but checks the rows of a bulk write in advance.
 */
import { fieldsOf, type Entity } from '../../../src/engine/declare/fields';
import { allEntities, resourceOf } from '../../../src/engine/declare/registry';
import { duplicateMessage, uniqueFields } from '../../../src/engine/write/uniqueness';
import '../../../src/graphql/schema';
import {
  createOwnedRows,
  ownedTypes,
  parentsIn,
  UNKNOWN,
  type OwnedRowIds,
} from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { GraphQLAnswer, Person } from '../../setup/person';
import { bodyOf, inputOf, type Values } from '../../setup/sample-values';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let annas: OwnedRowIds;
let bobs: OwnedRowIds;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  [annas, bobs] = [await createOwnedRows(ann), await createOwnedRows(await fitgraph.user('bob'))];
});

interface UserError {
  path: string[];
  code: string;
  message: string;
}

/** Numbers of rows: `createOwnedRows` creates the first one, the others are free. */
const EXISTING = 1;
const FREE_NUMBER = 2;
const OTHER = 3;

const input = (entity: Entity, number: number): Values => inputOf(entity, number, parentsIn(annas));

/**
 * Returns the field that must be unique, alone or together with the parents; undefined if only
 * parents must be unique.
 */
const keyFieldOf = (entity: Entity) =>
  uniqueFields(entity).find(({ relation }) => !relation?.isOwned);

/**
 * Returns values that make a row invalid: each invalid reference alone, with a duplicate, and all
 * together.
 */
function invalidValues(entity: Entity): Values[] {
  const references = fieldsOf(entity).filter(
    ({ relation, isColumn, readOnly }) => relation && isColumn && !readOnly,
  );
  const foreign = ({ target }: (typeof references)[number]) => bobs.get(target!()) ?? UNKNOWN;
  const each = references.flatMap((field) => [
    { [field.name]: UNKNOWN },
    { [field.name]: foreign(field) },
  ]);
  const keyField = keyFieldOf(entity);
  const double = keyField ? [{ [keyField.name]: input(entity, EXISTING)[keyField.name] }] : [];
  const all = Object.assign({}, ...each, ...double) as Values;

  return [
    ...each,
    ...double,
    ...each.flatMap((one) => double.map((other) => ({ ...one, ...other }))),
    ...(each.length ? [all] : []),
  ];
}

const errorsOf = ({ data, errors }: GraphQLAnswer): UserError[] => {
  expect(errors).toBeUndefined();
  return data.rows.errors;
};

/** Replaces the path of the first bulk input by that of a single input. */
const asOfOne = (found: readonly UserError[]) =>
  found.map((one) => ({
    ...one,
    path: ['input', ...one.path.slice(one.path[0] === 'inputs' ? 2 : 3)],
  }));

const types = ownedTypes()
  .filter((entity) => resourceOf(entity)!.metadata.bulkCreateMutationName)
  .map((entity): [string, Entity] => [entity.name, entity]);

test.each(types)('%s returns the same errors for single and bulk writes', async (name, entity) => {
  const { metadata, table } = resourceOf(entity)!;
  const ERRORS = '{ errors { path code message } }';
  const create = `mutation ($input: ${name}Input!) { rows: ${metadata.createMutationName}(input: $input) ${ERRORS} }`;
  const createMany = `mutation ($inputs: [${name}Input!]!) { rows: ${metadata.bulkCreateMutationName}(inputs: $inputs) ${ERRORS} }`;
  const update = `mutation ($id: ID!, $input: ${name}Patch!) { rows: ${metadata.updateMutationName}(id: $id, input: $input) ${ERRORS} }`;
  const updateMany = `mutation ($changes: [${name}Change!]!) { rows: ${metadata.bulkUpdateMutationName}(changes: $changes) ${ERRORS} }`;

  const createRow = async (number: number) => {
    const answer = await ann.query(
      create.replace('{ errors', `{ row: ${resourceOf(entity)!.singularName} { id } errors`),
      {
        input: input(entity, number),
      },
    );

    expect(errorsOf(answer)).toEqual([]);
    return answer.data.rows.row.id as string;
  };

  const [id, other] = [await createRow(4), await createRow(5)];
  const rows = () => fitgraph.sql(`SELECT * FROM "${table}" ORDER BY "id"`);
  const before = await rows();

  for (const values of invalidValues(entity)) {
    const whole = { ...input(entity, FREE_NUMBER), ...values };
    const alone = errorsOf(await ann.query(create, { input: whole }));

    expect(alone).not.toEqual([]);
    expect(alone).toEqual(
      asOfOne(errorsOf(await ann.query(createMany, { inputs: [whole, input(entity, OTHER)] }))),
    );

    for (const changed of [whole, values]) {
      const changes = [
        { id, input: changed },
        { id: other, input: input(entity, OTHER) },
      ];
      const changedAlone = errorsOf(await ann.query(update, changes[0]));

      expect(changedAlone).toEqual(asOfOne(errorsOf(await ann.query(updateMany, { changes }))));
      expect(changedAlone).toEqual(alone);
    }
  }

  expect(await rows()).toEqual(before);
});

test('the tested types include unique constraints and references', () => {
  const counts = types.map(([, entity]) => invalidValues(entity).length);

  expect(counts.filter((count) => count > 4).length).toBeGreaterThanOrEqual(3);
  expect(
    types.filter(([, entity]) => resourceOf(entity)!.uniqueFields).length,
  ).toBeGreaterThanOrEqual(2);
});

const doubled = types.filter(([, entity]) => keyFieldOf(entity));

test.each(doubled)(
  '%s reports over REST a missing row first, then invalid fields and parents, then duplicates',
  async (_name, entity) => {
    const path = `/${resourceOf(entity)!.metadata.views[0]!.restName}/`;
    const body = (number: number) => bodyOf(entity, number, parentsIn(annas));
    const { id } = (await ann.post(path, body(FREE_NUMBER))).body;
    const double = { status: 400, body: { non_field_errors: [duplicateMessage(entity, 'rest')] } };
    const key = keyFieldOf(entity)!.restKey;

    expect(await ann.post(path, body(EXISTING))).toMatchObject(double);
    expect(await ann.put(`${path}${id}/`, body(EXISTING))).toMatchObject(double);
    expect(await ann.patch(`${path}${id}/`, { [key]: body(EXISTING)[key] })).toMatchObject(double);
    const notNull = { status: 400, body: { [key]: ['This field may not be null.'] } };

    expect(await ann.post(path, { ...body(EXISTING), [key]: null })).toMatchObject(notNull);

    for (const gone of [UNKNOWN, bobs.get(entity)!]) {
      expect(await ann.put(`${path}${gone}/`, body(EXISTING))).toMatchObject({
        status: 404,
        body: { detail: 'Not found.' },
      });
    }

    const parent = fieldsOf(entity).find(
      ({ relation, isColumn, readOnly }) => relation?.isOwned && isColumn && !readOnly,
    );

    if (!parent) return;
    const foreign = { ...body(EXISTING), [parent.restKey]: bobs.get(parent.target!()) };
    const notAllowed = { status: 403, body: { detail: 'You are not allowed to do this' } };

    expect(await ann.post(path, foreign)).toMatchObject(notAllowed);
    expect(await ann.put(`${path}${id}/`, foreign)).toMatchObject(notAllowed);
  },
);

test('every writable reference has a foreign key, with the owner if the target is owned', async () => {
  const keys = await fitgraph.sql(
    `SELECT conrelid::regclass::text AS "table", (SELECT array_agg(a.attname::text ORDER BY a.attname) FROM pg_attribute a
        WHERE a.attrelid = conrelid AND a.attnum = ANY(conkey)) AS "columns", confrelid::regclass::text AS "of", condeferred AS "late"
      FROM pg_constraint WHERE contype = 'f'`,
  );

  for (const entity of allEntities().filter((one) => resourceOf(one)!.writeOperations.length)) {
    for (const { column, relation, target, isColumn, readOnly } of fieldsOf(entity)) {
      if (!relation || !isColumn || readOnly) continue;
      const { table, isOwned } = resourceOf(target!())!;
      const columns = isOwned ? [column, 'user_id'].sort() : [column];

      expect(keys).toContainEqual({
        table: resourceOf(entity)!.table,
        columns,
        of: table,
        late: false,
      });
    }
  }
});
