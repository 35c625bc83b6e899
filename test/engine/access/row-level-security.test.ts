/**
 * Row-level security alone isolates users: with the conditions of `src/engine/access/access.ts`
 * mocked away, nobody can read, change or delete a row of another user over either interface.
 *
 * @alone
 */
import 'reflect-metadata';
import { createClient } from 'graphql-sse';
import type { Entity } from '../../../src/engine/declare/fields';
import type { SqlCondition } from '../../../src/engine/access/conditions';
import { nodeIdOf } from '../../../src/engine/declare/node';
import { findEntity, resourceOf } from '../../../src/engine/declare/registry';
import {
  createOwnedRows,
  ownedParents,
  ownedTypes,
  parentsIn,
  spreadIds,
  type OwnedRowIds,
} from '../../setup/owned-rows';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { isListed } from '../../setup/generic-lists';
import type { Person } from '../../setup/person';
import { bodyOf, inputOf } from '../../setup/sample-values';
import { until } from '../../setup/waits';

type Access = typeof import('../../../src/engine/access/access');

/** The user whose changes are read instead of the viewer's. */
let mockReadsChangesOf: number | undefined;

jest.mock('../../../src/engine/access/access', (): Access => {
  const access: Access = jest.requireActual('../../../src/engine/access/access');
  const isOwned = (entity: Entity) =>
    jest.requireActual('../../../src/engine/declare/registry').resourceOf(entity)
      .isOwned as boolean;
  const withoutConditions =
    <Args extends unknown[]>(conditions: (entity: Entity, ...args: Args) => SqlCondition[]) =>
    (entity: Entity, ...args: Args) =>
      isOwned(entity) ? [] : conditions(entity, ...args);

  return {
    ...access,
    ownerConditions: withoutConditions(access.ownerConditions),
    visibleRowConditions: withoutConditions(access.visibleRowConditions),
    referencedRowConditions: withoutConditions(access.referencedRowConditions),
    referenceableRowConditions: withoutConditions(access.referenceableRowConditions),
    writableRowConditions: withoutConditions(access.writableRowConditions),
    ownerIdForChangeLog: (...args) => mockReadsChangesOf ?? access.ownerIdForChangeLog(...args),
  };
});

const fitgraph = fitgraphForThisFile({ environment: { ROW_SECURITY: 'required' } });
let ann: Person;
let bob: Person;
let annas: OwnedRowIds;
let bobs: OwnedRowIds;

beforeAll(async () => {
  await spreadIds(fitgraph);
  [ann, bob] = [await fitgraph.user('ann'), await fitgraph.user('bob')];
  [annas, bobs] = [await createOwnedRows(ann), await createOwnedRows(bob)];
});

const types = ownedTypes()
  .filter(isListed)
  .map((entity): [string, Entity] => [entity.name, entity]);
const ofBob = (entity: Entity) =>
  fitgraph.sql(`SELECT * FROM "${resourceOf(entity)!.table}" WHERE "user_id" = $1 ORDER BY "id"`, [
    bob.id,
  ]);

const UNKNOWN = [{ code: 'NOT_FOUND' }];

function expectNothingOf(ownedRowIds: OwnedRowIds, text: string): void {
  for (const id of ownedRowIds.values()) expect(text).not.toContain(String(id));
}

test('users see all rows when row-level security is off too', async () => {
  const open = await Fitgraph.start({
    sameDatabaseAs: fitgraph,
    environment: { ROW_SECURITY: 'off' },
  });

  try {
    for (const [, entity] of types) {
      const { rows } = await ann
        .atInstance(open.url)
        .ask(`{ rows: ${resourceOf(entity)!.pluralName} { nodes { id } } }`);

      expect(rows.nodes).toHaveLength(2);
    }
  } finally {
    await open.stop();
  }
});

test('a profile can be read and changed by its user only', async () => {
  const profile = findEntity('UserProfile')!;
  const { body } = await ann.get('/userprofile/?limit=1000');

  expect(body).toMatchObject({ count: 1, results: [{ id: annas.get(profile) }] });
  const before = await ofBob(profile);

  for (const method of ['GET', 'PATCH']) {
    expect(
      (
        await ann.send(
          method,
          `/api/v2/userprofile/${bobs.get(profile)}/`,
          method === 'GET' ? undefined : { height: 180 },
        )
      ).status,
    ).toBe(404);
  }

  expect(await ofBob(profile)).toEqual(before);
  expect((await fitgraph.anonymous.query('{ viewer { profile { id } } }')).data).toEqual({
    viewer: null,
  });
});

describe.each(types)('%s', (_name, entity) => {
  const { singularName, pluralName, metadata } = resourceOf(entity)!;
  const ownId = () => annas.get(entity)!;
  const foreignId = () => bobs.get(entity)!;
  let before: unknown;

  beforeAll(async () => {
    before = await ofBob(entity);
    expect(before).toHaveLength(1);
  });
  afterAll(async () => expect(await ofBob(entity)).toEqual(before));

  test('lists only rows of the viewer', async () => {
    const { text, data } = await ann.query(
      `{ rows: ${pluralName}(first: 1000) { totalCount nodes { id } } given: ${pluralName}(where: { id: { in: [${ownId()}, ${foreignId()}] } }) { totalCount nodes { id } } }`,
    );
    const mine = { totalCount: 1, nodes: [{ id: String(ownId()) }] };

    expect(data).toEqual({ rows: mine, given: mine });
    expectNothingOf(bobs, text);

    for (const { restName } of metadata.views) {
      const list = await ann.get(`/${restName}/?limit=1000`);

      expect(list.body).toMatchObject({ count: 1, results: [expect.anything()] });
      expectNothingOf(bobs, list.text);
    }
  });

  test('shows no rows to anonymous clients', async () => {
    const { text, data } = await fitgraph.anonymous.query(
      `{ rows: ${pluralName}(first: 1000) { totalCount nodes { id } } }`,
    );

    expect(data.rows).toEqual({ totalCount: 0, nodes: [] });
    expectNothingOf(annas, text);
    expect(
      await fitgraph.anonymous.ask(`{ row: ${singularName}(id: ${foreignId()}) { id } }`),
    ).toEqual({ row: null });
  });

  test('does not find a foreign row by its ids', async () => {
    expect(
      await ann.ask('query ($id: ID!) { row: node(nodeId: $id) { nodeId } }', {
        id: nodeIdOf(entity.name, foreignId()),
      }),
    ).toEqual({ row: null });
    expect(
      await ann.ask(`query ($id: ID!) { row: ${singularName}(id: $id) { id } }`, {
        id: foreignId(),
      }),
    ).toEqual({ row: null });

    for (const { restName } of metadata.views) {
      expect((await ann.get(`/${restName}/${foreignId()}/`)).status).toBe(404);
    }
  });

  test('rejects updates and deletions of a foreign row', async () => {
    const input = metadata.createMutationName ? inputOf(entity, 2, parentsIn(annas)) : {};
    const { restName, permittedMethods } = metadata.views[0]!;

    if (metadata.updateMutationName) {
      const update = `mutation ($id: ID!, $input: ${entity.name}Patch!) { row: ${metadata.updateMutationName}(id: $id, input: $input) { errors { code } } }`;

      expect((await ann.ask(update, { id: foreignId(), input })).row.errors).toEqual(UNKNOWN);
    }

    if (metadata.deleteMutationName) {
      const remove = `mutation ($id: ID!) { row: ${metadata.deleteMutationName}(id: $id) { errors { code } } }`;

      expect((await ann.ask(remove, { id: foreignId() })).row.errors).toEqual(UNKNOWN);
    }

    if (metadata.bulkDeleteMutationName) {
      const remove = `mutation ($rows: [RowVersion!]!) { row: ${metadata.bulkDeleteMutationName}(rows: $rows) { errors { code } } }`;

      expect(
        (await ann.ask(remove, { rows: [{ id: ownId() }, { id: foreignId() }] })).row.errors,
      ).toEqual(UNKNOWN);
    }

    const status = (method: string) =>
      permittedMethods && !permittedMethods.includes(method) ? 403 : 404;
    const body = bodyOf(entity, 2, parentsIn(annas));

    expect((await ann.put(`/${restName}/${foreignId()}/`, body)).status).toBe(status('PUT'));
    expect(
      (await ann.patch(`/${restName}/${foreignId()}/`, metadata.createMutationName ? body : {}))
        .status,
    ).toBe(status('PATCH'));
    expect((await ann.delete(`/${restName}/${foreignId()}/`)).status).toBe(status('DELETE'));
  });

  const parents = ownedParents(entity).map((field): [string, typeof field] => [field.name, field]);

  if (parents.length) {
    test.each(parents)('rejects creating a row with a foreign %s', async (_field, field) => {
      const theirs = bobs.get(field.target!())!;
      const create = `mutation ($input: ${entity.name}Input!) { row: ${metadata.createMutationName}(input: $input) { errors { path code } } }`;
      const { data } = await ann.query(create, {
        input: { ...inputOf(entity, 3, parentsIn(annas)), [field.name]: theirs },
      });

      expect(data.row.errors).toEqual([{ path: ['input', field.name], code: 'NOT_FOUND' }]);
      const { restName } = metadata.views[0]!;

      if (!field.hiddenInRest) {
        expect(
          (
            await ann.post(`/${restName}/`, {
              ...bodyOf(entity, 3, parentsIn(annas)),
              [field.restKey]: theirs,
            })
          ).status,
        ).toBe(403);
      }
    });
  }
});

test('groups count only rows of the viewer', async () => {
  const { rows } = await ann.ask(
    '{ rows: weightEntriesGrouped(groupBy: [{ date: { by: YEAR } }]) { count } }',
  );

  expect(rows).toEqual([{ count: 1 }]);
});

test('an account can be read by its user only', async () => {
  const node = (id: number) =>
    ann.ask('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { id: nodeIdOf('User', id) });

  expect(await node(bob.id)).toEqual({ node: null });
  expect(await node(ann.id)).toEqual({ node: { nodeId: nodeIdOf('User', ann.id) } });
});

describe('the change log', () => {
  const CHANGES =
    'query ($since: String) { changes(since: $since, first: 500) { cursor changes { type rowId } } }';

  afterEach(() => (mockReadsChangesOf = undefined));

  test('returns no changes of another user', async () => {
    const { changes: start } = await bob.ask(CHANGES);
    const { changes: anns } = await ann.ask(CHANGES);

    await bob.patch(`/weightentry/${bobs.get(entityOf('WeightEntry'))}/`, { weight: '81.50' });
    expect((await bob.ask(CHANGES, { since: start.cursor })).changes.changes).toHaveLength(1);
    mockReadsChangesOf = bob.id;
    expect((await ann.ask(CHANGES, { since: anns.cursor })).changes.changes).toEqual([]);
  });

  test('sends no changes of another user to subscribers', async () => {
    const CHANGED =
      'subscription ($since: String) { changed(since: $since) { cursor changes { rowId } } }';
    const { changes: start } = await bob.ask(CHANGES);

    mockReadsChangesOf = bob.id;

    const follow = ({ token }: Person) => {
      const received: string[] = [];
      const client = createClient({
        url: `${fitgraph.url}/graphql/stream`,
        headers: { Authorization: `Token ${token}` },
        retryAttempts: 0,
      });
      const following = (async () => {
        for await (const event of client.iterate({
          query: CHANGED,
          variables: { since: start.cursor },
        })) {
          received.push(JSON.stringify(event));
        }
      })().catch(() => undefined);

      return { received, end: async () => (client.dispose(), following) };
    };

    const id = bobs.get(entityOf('WeightEntry'))!;
    const [anns, bobsOwn] = [follow(ann), follow(bob)];

    await until(
      'both subscriptions are active',
      () => fitgraph.services.changeLog.watcherCount === 2,
    );

    for (const weight of ['82.00', '83.00', '84.00']) {
      await bob.patch(`/weightentry/${id}/`, { weight });
    }

    await until('bob has received the change', () =>
      bobsOwn.received.some((event) => event.includes(`"${id}"`)),
    );
    await Promise.all([anns.end(), bobsOwn.end()]);
    expect(anns.received.join()).not.toContain(String(id));
  });
});

const entityOf = (name: string) => types.find(([known]) => known === name)![1];
