/** The number of statements of a write depends on what is written, never on how many rows. */
import { creatableChildren } from '../../../src/core/write/drafts';
import { fieldsOf, type Entity } from '../../../src/core/model/fields';
import { resourceOf } from '../../../src/core/model/registry';
import '../../../src/graphql/schema';
import { furnish, ownedTypes, parentsIn, type Belongings } from '../../setup/belongings';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import type { Answer, GraphQLAnswer, Person } from '../../setup/person';
import { bodyOf, inputBelow, inputOf, type Values } from '../../setup/samples';

const SIZES = [1, 20, 400];
/** Look-ups of what the rows name, the transaction, rows and links, and what is read at the end. */
const MOST = 14;

const fitgraph = fitgraphForThisFile();
let ann: Person;
let belongings: Belongings;
beforeAll(async () => {
  ann = await fitgraph.user('ann');
  belongings = await furnish(ann);
});

/** No two of a test file meet in what must be unique. */
let number = 100;
function next(entity: Entity, by?: string): Values {
  const given = [(number += 1), parentsIn(belongings)] as const;
  const values = by === undefined ? inputOf(entity, ...given) : inputBelow(entity, by, ...given);
  // What is true may have consequences for other rows.
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === false ? true : value]));
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

const succeeded = (answer: GraphQLAnswer): GraphQLAnswer => {
  expect(answer.errors).toBeUndefined();
  const { rows } = answer.data;
  if (rows.errors) expect(rows.errors).toEqual([]);
  return answer;
};

/** What is looked up before several rows are written, while of one alone PostgreSQL's keys tell: what each type refers to, and doubles. */
function lookUps(entity: Entity): number {
  const named = fieldsOf(entity).filter(({ relation, stored, readOnly }) => relation && stored && !readOnly);
  const targets = new Set(named.map(({ target }) => target!()).filter((target) => !resourceOf(target)!.inMemory));
  return targets.size + (resourceOf(entity)!.unique ? 1 : 0);
}

/** A lock is needed for several rows only, and so are `more` statements. */
function expectNoGrowth([one, some, many]: number[], more = 0): void {
  expect(many).toBe(some);
  expect(some! - one!).toBeGreaterThanOrEqual(0);
  expect(some! - one!).toBeLessThanOrEqual(1 + more);
  expect(many).toBeLessThanOrEqual(MOST);
}

const written = ownedTypes().filter((entity) => resourceOf(entity)!.fact.createMany);

test('there are types of which many rows are written', () =>
  expect(written.map(({ name }) => name).sort()).toEqual(['DiaryEntry', 'WeightEntry', 'WorkoutLog', 'WorkoutSession']));

test.each(written.map((entity): [string, Entity] => [entity.name, entity]))('%s: many rows', async (name, entity) => {
  const { many, fact } = resourceOf(entity)!;
  const shown = `{ shown: ${many} { id } errors { path message } }`;
  const create = `mutation ($inputs: [${name}Input!]!) { rows: ${fact.createMany}(inputs: $inputs) ${shown} }`;
  const update = `mutation ($changes: [${name}Change!]!) { rows: ${fact.updateMany}(changes: $changes) ${shown} }`;
  const remove = `mutation ($rows: [RowVersion!]!) { rows: ${fact.removeMany}(rows: $rows) { deletedIds } }`;
  const statements: Record<string, number[]> = { create: [], update: [], parts: [], remove: [] };
  for (const size of SIZES) {
    const created = succeeded(await ann.query(create, { inputs: times(size, () => next(entity)) }));
    statements.create!.push(created.statements);
    const ids: string[] = created.data.rows.shown.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(size);
    const changes = ids.map((id) => ({ id, input: next(entity) }));
    statements.update!.push(succeeded(await ann.query(update, { changes })).statements);
    // Each row changes another field.
    const parts = changes.map(({ id }, index) => {
      const entries = Object.entries(next(entity));
      return { id, input: Object.fromEntries([entries[index % entries.length]!]) };
    });
    if (size > 1) statements.parts!.push(succeeded(await ann.query(update, { changes: parts })).statements);
    statements.remove!.push(succeeded(await ann.query(remove, { rows: ids.map((id) => ({ id })) })).statements);
  }
  expectNoGrowth(statements.create!, lookUps(entity));
  expectNoGrowth(statements.update!, lookUps(entity));
  expectNoGrowth([statements.parts![0]!, ...statements.parts!]);
  expectNoGrowth(statements.remove!);
});

/** A tree of a row, `width` rows below it, one below each of those, and so on. */
function tree(entity: Entity, width: number, above?: string): Values {
  const children = creatableChildren(entity).map(({ name, target, by }) => [name, times(width, () => tree(target(), 1, by))] as const);
  return { ...next(entity, above), ...Object.fromEntries(children) };
}

const rowsIn = (values: Values): number =>
  1 +
  Object.values(values)
    .flat()
    .filter((value): value is Values => value !== null && typeof value === 'object')
    .reduce((sum, value) => sum + rowsIn(value), 0);

const trunks = ownedTypes().filter((entity) => creatableChildren(entity).length && resourceOf(entity)!.fact.create);

test('there are types with trees', () => expect(trunks.length).toBeGreaterThanOrEqual(5));

test.each(trunks.map((entity): [string, Entity] => [entity.name, entity]))('%s: a tree', async (name, entity) => {
  const { one, fact } = resourceOf(entity)!;
  const create = `mutation ($input: ${name}Input!) { rows: ${fact.create}(input: $input) { shown: ${one} { id } errors { path message } } }`;
  const perWidth = rowsIn(tree(entity, 2)) - rowsIn(tree(entity, 1));
  const answers: GraphQLAnswer[] = [];
  for (const size of SIZES) {
    const input = tree(entity, Math.ceil(size / perWidth));
    expect(rowsIn(input)).toBeGreaterThanOrEqual(size);
    answers.push(succeeded(await ann.query(create, { input })));
  }
  expect(new Set(answers.map(({ statements }) => statements)).size).toBe(1);
  expect(answers[0]!.statements).toBeLessThanOrEqual(2 * MOST);
});

/** What a write of one row takes beside who asks, BEGIN, the row with the answer, and COMMIT. */
const MORE: Record<string, Partial<Record<string, number>>> = {
  // The weekdays are rows of another table, so the answer is read, and a creation writes them, after which the version is another one. A change of them looks
  // at the day and at its workout, locks it, and takes the old ones away.
  TrainingDay: { POST: 2, PATCH: 1, PUT: 6 },
  // One schedule of a user is active: the user is locked, a creation takes the flag from the others, and the answer is read after that. A change looks whether
  // there is such a row before.
  Schedule: { POST: 2, PUT: 3, PATCH: 3, DELETE: 1 },
};

const kept = ownedTypes().filter((entity) => resourceOf(entity)!.fact.views.length && resourceOf(entity)!.fact.create);

test.each(kept.map((entity): [string, Entity] => [entity.name, entity]))(
  '%s: a row over REST takes four statements',
  async (name, entity) => {
    const statements: Record<string, number> = {};
    const counted = (what: string, status: number, answer: Answer) => {
      expect([what, answer.status]).toEqual([what, status]);
      statements[what] = answer.statements;
      return answer;
    };
    const path = `/${resourceOf(entity)!.fact.views[0]!.rest}/`;
    const body = () => bodyOf(entity, (number += 1), parentsIn(belongings));
    const { id } = counted('POST', 201, await ann.post(path, body())).body;
    const [changed] = Object.entries(body()).filter(([, value]) => !Array.isArray(value));
    counted('PATCH', 200, await ann.patch(`${path}${id}/`, Object.fromEntries([changed!])));
    counted('PUT', 200, await ann.put(`${path}${id}/`, body()));
    counted('DELETE', 204, await ann.delete(`${path}${id}/`));
    const expected = ['POST', 'PATCH', 'PUT', 'DELETE'].map((what) => [what, 4 + (MORE[name]?.[what] ?? 0)]);
    expect(statements).toEqual(Object.fromEntries(expected));
  },
);
