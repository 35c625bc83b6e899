/**
 * Should `src/core/access/access.ts` ever forget whose rows a statement is for, PostgreSQL does not. Here it forgets it always: whatever is asked for, over
 * both interfaces, nobody sees, changes or deletes another user's row.
 */
import 'reflect-metadata';
import { createClient } from 'graphql-sse';
import type { Entity } from '../../../src/core/model/fields';
import type { SqlCondition } from '../../../src/core/access/conditions';
import { nodeIdOf } from '../../../src/core/model/node';
import { findEntity, resourceOf } from '../../../src/core/model/registry';
import { furnish, ownedParents, ownedTypes, parentsIn, spreadIds, type Belongings } from '../../setup/belongings';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { isListed } from '../../setup/lists';
import type { Person } from '../../setup/person';
import { bodyOf, inputOf } from '../../setup/samples';
import { until } from '../../setup/waits';

type Access = typeof import('../../../src/core/access/access');

/** Whose changes are read, in place of one's own. */
let mockReadsChangesOf: number | undefined;

jest.mock('../../../src/core/access/access', (): Access => {
  const access: Access = jest.requireActual('../../../src/core/access/access');
  const isOwned = (entity: Entity) => jest.requireActual('../../../src/core/model/registry').resourceOf(entity).owned as boolean;
  const forgotten =
    <Asker>(conditions: (entity: Entity, asker: Asker) => SqlCondition[]) =>
    (entity: Entity, asker: Asker) =>
      isOwned(entity) ? [] : conditions(entity, asker);
  return {
    ...access,
    ownerConditions: forgotten(access.ownerConditions),
    visibleRowConditions: forgotten(access.visibleRowConditions),
    referenceableRowConditions: forgotten(access.referenceableRowConditions),
    writableRowConditions: forgotten(access.writableRowConditions),
    changeOwnerId: (...asked) => mockReadsChangesOf ?? access.changeOwnerId(...asked),
  };
});

const fitgraph = fitgraphForThisFile({ environment: { ROW_SECURITY: 'required' } });
let ann: Person;
let bob: Person;
let annas: Belongings;
let bobs: Belongings;

beforeAll(async () => {
  await spreadIds(fitgraph);
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  [annas, bobs] = [await furnish(ann), await furnish(bob)];
});

const types = ownedTypes()
  .filter(isListed)
  .map((entity): [string, Entity] => [entity.name, entity]);
const ofBob = (entity: Entity) => fitgraph.sql(`SELECT * FROM "${resourceOf(entity)!.table}" WHERE "user_id" = $1 ORDER BY "id"`, [bob.id]);

const UNKNOWN = [{ code: 'NOT_FOUND' }];

function expectNothingOf(belongings: Belongings, text: string): void {
  for (const id of belongings.values()) expect(text).not.toContain(String(id));
}

test('without the second wall everybody would see all rows', async () => {
  const open = await Fitgraph.start({ beside: fitgraph, environment: { ROW_SECURITY: 'off' } });
  try {
    for (const [, entity] of types) {
      const { rows } = await ann.at(open.url).ask(`{ rows: ${resourceOf(entity)!.many} { nodes { id } } }`);
      expect(rows.nodes).toHaveLength(2);
    }
  } finally {
    await open.stop();
  }
});

test('a profile is seen and changed by its user alone', async () => {
  const profile = findEntity('UserProfile')!;
  const { body } = await ann.get('/userprofile/?limit=1000');
  expect(body).toMatchObject({ count: 1, results: [{ id: annas.get(profile) }] });
  const before = await ofBob(profile);
  for (const method of ['GET', 'PATCH'])
    expect(
      (await ann.send(method, `/api/v2/userprofile/${bobs.get(profile)}/`, method === 'GET' ? undefined : { height: 180 })).status,
    ).toBe(404);
  expect(await ofBob(profile)).toEqual(before);
  expect((await fitgraph.anyone.query('{ viewer { profile { id } } }')).data).toEqual({ viewer: null });
});

describe.each(types)('%s', (_name, entity) => {
  const { one, many, fact } = resourceOf(entity)!;
  const own = () => annas.get(entity)!;
  const foreign = () => bobs.get(entity)!;
  let before: unknown;
  beforeAll(async () => {
    before = await ofBob(entity);
    expect(before).toHaveLength(1);
  });
  afterAll(async () => expect(await ofBob(entity)).toEqual(before));

  test('a list holds the own row only', async () => {
    const { text, data } = await ann.query(
      `{ rows: ${many}(first: 1000) { totalCount nodes { id } } given: ${many}(where: { id: { in: [${own()}, ${foreign()}] } }) { totalCount nodes { id } } }`,
    );
    const mine = { totalCount: 1, nodes: [{ id: String(own()) }] };
    expect(data).toEqual({ rows: mine, given: mine });
    expectNothingOf(bobs, text);
    for (const { rest } of fact.views) {
      const list = await ann.get(`/${rest}/?limit=1000`);
      expect(list.body).toMatchObject({ count: 1, results: [expect.anything()] });
      expectNothingOf(bobs, list.text);
    }
  });

  test('nobody in particular sees none', async () => {
    const { text, data } = await fitgraph.anyone.query(`{ rows: ${many}(first: 1000) { totalCount nodes { id } } }`);
    expect(data.rows).toEqual({ totalCount: 0, nodes: [] });
    expectNothingOf(annas, text);
    expect((await fitgraph.anyone.query(`{ ${one}(id: ${foreign()}) { id } }`)).code).toBe('NOT_FOUND');
  });

  test('a foreign row is not found', async () => {
    expect((await ann.query('query ($id: ID!) { row: node(nodeId: $id) { nodeId } }', { id: nodeIdOf(entity.name, foreign()) })).code).toBe(
      'NOT_FOUND',
    );
    expect((await ann.query(`query ($id: ID!) { row: ${one}(id: $id) { id } }`, { id: foreign() })).code).toBe('NOT_FOUND');
    for (const { rest } of fact.views) expect((await ann.get(`/${rest}/${foreign()}/`)).status).toBe(404);
  });

  test('neither is it changed nor deleted', async () => {
    const input = fact.create ? inputOf(entity, 2, parentsIn(annas)) : {};
    const { rest, permits } = fact.views[0]!;
    if (fact.update) {
      const update = `mutation ($id: ID!, $input: ${entity.name}Patch!) { row: ${fact.update}(id: $id, input: $input) { errors { code } } }`;
      expect((await ann.ask(update, { id: foreign(), input })).row.errors).toEqual(UNKNOWN);
    }
    if (fact.remove) {
      const remove = `mutation ($id: ID!) { row: ${fact.remove}(id: $id) { errors { code } } }`;
      expect((await ann.ask(remove, { id: foreign() })).row.errors).toEqual(UNKNOWN);
    }
    if (fact.removeMany) {
      const remove = `mutation ($rows: [RowVersion!]!) { row: ${fact.removeMany}(rows: $rows) { errors { code } } }`;
      expect((await ann.ask(remove, { rows: [{ id: own() }, { id: foreign() }] })).row.errors).toEqual(UNKNOWN);
    }
    const status = (method: string) => (permits && !permits.includes(method) ? 403 : 404);
    const body = bodyOf(entity, 2, parentsIn(annas));
    expect((await ann.put(`/${rest}/${foreign()}/`, body)).status).toBe(status('PUT'));
    expect((await ann.patch(`/${rest}/${foreign()}/`, fact.create ? body : {})).status).toBe(status('PATCH'));
    expect((await ann.delete(`/${rest}/${foreign()}/`)).status).toBe(status('DELETE'));
  });

  const parents = ownedParents(entity).map((field): [string, typeof field] => [field.name, field]);
  if (parents.length)
    test.each(parents)('no row is made below a foreign %s', async (_field, field) => {
      const theirs = bobs.get(field.target!())!;
      const create = `mutation ($input: ${entity.name}Input!) { row: ${fact.create}(input: $input) { errors { path code } } }`;
      const { data } = await ann.query(create, { input: { ...inputOf(entity, 3, parentsIn(annas)), [field.name]: theirs } });
      expect(data.row.errors).toEqual([{ path: ['input', field.name], code: 'NOT_FOUND' }]);
      const { rest } = fact.views[0]!;
      if (!field.hidden)
        expect((await ann.post(`/${rest}/`, { ...bodyOf(entity, 3, parentsIn(annas)), [field.rest]: theirs })).status).toBe(403);
    });
});

test('only own rows are counted and put together', async () => {
  const { rows } = await ann.ask('{ rows: weightEntriesGrouped(groupBy: [{ date: { by: YEAR } }]) { count } }');
  expect(rows).toEqual([{ count: 1 }]);
});

test("nobody's account is reached but one's own", async () => {
  const node = (id: number) => ann.query('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { id: nodeIdOf('User', id) });
  expect((await node(bob.id)).code).toBe('NOT_FOUND');
  expect((await node(ann.id)).errors).toBeUndefined();
});

describe('changes', () => {
  const CHANGES = 'query ($since: String) { changes(since: $since, first: 500) { cursor changes { type rowId } } }';
  afterEach(() => (mockReadsChangesOf = undefined));

  test('those of another user are not told of', async () => {
    const { changes: start } = await bob.ask(CHANGES);
    const { changes: anns } = await ann.ask(CHANGES);
    await bob.patch(`/weightentry/${bobs.get(entityOf('WeightEntry'))}/`, { weight: '81.50' });
    expect((await bob.ask(CHANGES, { since: start.cursor })).changes.changes).toHaveLength(1);
    mockReadsChangesOf = bob.id;
    expect((await ann.ask(CHANGES, { since: anns.cursor })).changes.changes).toEqual([]);
  });

  test('nor are subscribers, who are woken', async () => {
    const CHANGED = 'subscription ($since: String) { changed(since: $since) { cursor changes { rowId } } }';
    const { changes: start } = await bob.ask(CHANGES);
    mockReadsChangesOf = bob.id;
    const follow = ({ token }: Person) => {
      const heard: string[] = [];
      const client = createClient({
        url: `${fitgraph.url}/graphql/stream`,
        headers: { Authorization: `Token ${token}` },
        retryAttempts: 0,
      });
      const following = (async () => {
        for await (const event of client.iterate({ query: CHANGED, variables: { since: start.cursor } })) heard.push(JSON.stringify(event));
      })().catch(() => undefined);
      return { heard, end: async () => (client.dispose(), following) };
    };
    const id = bobs.get(entityOf('WeightEntry'))!;
    const [anns, bobsOwn] = [follow(ann), follow(bob)];
    await until('both are followed', () => fitgraph.services.changeLog.watcherCount === 2);
    for (const weight of ['82.00', '83.00', '84.00']) await bob.patch(`/weightentry/${id}/`, { weight });
    await until('bob has heard of it', () => bobsOwn.heard.some((event) => event.includes(`"${id}"`)));
    await Promise.all([anns.end(), bobsOwn.end()]);
    expect(anns.heard.join()).not.toContain(String(id));
  });
});

const entityOf = (name: string) => types.find(([known]) => known === name)![1];
