/**
 * Changes of owned rows: each is reported once and in order, whichever instance writes and however
 * long the client was offline.
 */
import { getNamedType, isLeafType, isNonNullType, type GraphQLObjectType } from 'graphql';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { partFields, type Entity } from '../../../src/engine/declare/fields';
import { findEntity, resourceOf } from '../../../src/engine/declare/registry';
import { buildGraphQLSchema } from '../../../src/graphql/schema';
import { createOwnedRows, ownedParents, ownedTypes } from '../../setup/owned-rows';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { Person } from '../../setup/person';
import { inputOf } from '../../setup/sample-values';
import { randomFor, seeded } from '../../setup/random';
import { lockIsAwaited } from '../../setup/waits';
import { messagesByPath } from '../../setup/input-errors';

const one = fitgraphForThisFile();
let two: Fitgraph;
let ann: Person;
let annElsewhere: Person;

beforeAll(async () => {
  two = await Fitgraph.start({ sameDatabaseAs: one });
  ann = await one.user('ann');
  annElsewhere = new Person(two.url, { id: ann.id, token: ann.token });
});
afterAll(() => two.stop());

const CHANGES = `query ($since: String, $types: [RowType!], $first: Int) {
  changes(since: $since, types: $types, first: $first) { cursor hasMore changes { type rowId rowNodeId operation occurredAt node { nodeId } } } }`;

interface Change {
  type: string;
  rowId: string;
  operation: string;
  node: object | null;
}

/** Reads all changes since the cursor, and returns them with the next cursor. */
async function changesSince(
  cursor: string | null,
  person = ann,
  first = 100,
): Promise<{ cursor: string; changes: Change[] }> {
  const all: Change[] = [];

  for (;;) {
    const { changes } = await person.ask(CHANGES, { since: cursor, first });

    all.push(...changes.changes);
    cursor = changes.cursor;
    if (!changes.hasMore) return { cursor: cursor!, changes: all };
  }
}

const summarize = (changes: Change[]) =>
  changes.map(({ type, rowId, operation }) => `${operation} ${type} ${rowId}`);

test('returns only a cursor when `since` is omitted', async () => {
  await ann.post('/weightentry/', { date: '2020-01-01', weight: '80' });
  expect((await changesSince(null)).changes).toEqual([]);
});

/** More than a read of a few rows takes. */
const ROW_READ_MS = 500;

test.each([
  '{ weightEntries { nodes { id } } changes { cursor } }',
  '{ changes { cursor } weightEntries { nodes { id } } }',
  'query ($since: String) { weightEntries { nodes { id } } changes(since: $since) { cursor } }',
])('returns a cursor that is not newer than the rows of the same query: %s', async (document) => {
  const eve = await one.user('cursor');

  await one.sql('DELETE FROM "weight_entry" WHERE "user_id" = $1', [eve.id]);
  const since = (await changesSince(null, eve)).cursor;
  const locker = new Client(one.database.options.connection);

  await locker.connect();

  try {
    // The rows are read, but the changes wait for the lock, after which a row is committed.
    await locker.query('BEGIN; LOCK TABLE "change_log" IN ACCESS EXCLUSIVE MODE');
    const answer = eve.ask(document, { since });

    await lockIsAwaited(one);
    await sleep(ROW_READ_MS);
    await locker.query(
      `INSERT INTO "weight_entry" ("date", "weight", "user_id") VALUES ('2020-01-01', 80, ${eve.id})`,
    );
    await locker.query('COMMIT');
    const { weightEntries, changes } = await answer;

    expect(weightEntries.nodes).toEqual([]);
    expect((await changesSince(changes.cursor, eve)).changes).toMatchObject([
      { operation: 'CREATED', type: 'WEIGHT_ENTRY' },
    ]);
  } finally {
    await locker.end();
  }
});

test('lists creates, updates and deletes of either API and instance', async () => {
  const { cursor } = await changesSince(null);
  const { body } = await annElsewhere.post('/weightentry/', { date: '2020-02-01', weight: '80' });

  await ann.ask(
    `mutation ($id: ID!) { updateWeightEntry(id: $id, input: { weight: "81" }) { weightEntry { id } } }`,
    { id: body.id },
  );
  await annElsewhere.delete(`/weightentry/${body.id}/`);
  const read = await changesSince(cursor);

  expect(summarize(read.changes)).toEqual(
    ['CREATED', 'UPDATED', 'DELETED'].map((what) => `${what} WEIGHT_ENTRY ${body.id}`),
  );
  // The row is deleted, so its earlier changes have no node either.
  expect(read.changes.map(({ node }) => node)).toEqual([null, null, null]);
  expect((await changesSince(read.cursor)).changes).toEqual([]);
});

test('reports the deletion of all rows below a deleted row', async () => {
  const ownedRowIds = await createOwnedRows(ann);
  const { cursor } = await changesSince(null);
  const deleted = new Set<Entity>([findEntity('Workout')!]);

  for (const entity of ownedTypes()) {
    if (ownedParents(entity).some(({ target }) => deleted.has(target!()))) deleted.add(entity);
  }

  // A schedule step is part of its schedule, so its deletion updates the schedule.
  const updated = ownedTypes().filter(
    (entity) =>
      !deleted.has(entity) && partFields(entity).some(({ target }) => deleted.has(target())),
  );
  const changeOf = (operation: string) => (entity: Entity) =>
    `${operation} ${entity.name.replace(/(?!^)[A-Z]/g, '_$&').toUpperCase()} ${ownedRowIds.get(entity)}`;
  const expected = [...[...deleted].map(changeOf('DELETED')), ...updated.map(changeOf('UPDATED'))];

  for (const change of [
    'DELETED PLANNED_SET',
    'DELETED WORKOUT_LOG',
    'DELETED SCHEDULE_STEP',
    'UPDATED SCHEDULE',
  ]) {
    expect(expected).toContainEqual(expect.stringContaining(`${change} `));
  }

  await ann.delete(`/workout/${ownedRowIds.get(findEntity('Workout')!)}/`);
  const { changes } = await changesSince(cursor);

  expect(summarize(changes).sort()).toEqual(expected.sort());
});

test('reports a training day as updated when its weekdays change', async () => {
  const workout = (await ann.post('/workout/', { comment: '' })).body.id;
  const day = (await ann.post('/day/', { training: workout, description: 'Legs', day: [1] })).body
    .id;
  const { cursor } = await changesSince(null);

  await ann.patch(`/day/${day}/`, { day: [2, 5] });
  const { changes } = await changesSince(cursor);

  expect(new Set(summarize(changes))).toEqual(
    new Set([`UPDATED TRAINING_DAY ${day}`, `UPDATED WORKOUT ${workout}`]),
  );
});

test('pages through changes of the requested types, and hides those of other users', async () => {
  const eve = await one.user('eve');
  const [{ cursor }, eves] = [await changesSince(null), await changesSince(null, eve)];

  for (const day of [1, 2, 3, 4, 5]) {
    await ann.post('/weightentry/', { date: `2020-03-0${day}`, weight: '80' });
  }

  await ann.post('/workout/', { comment: 'a workout' });
  expect((await changesSince(cursor, ann, 2)).changes).toHaveLength(6);
  const { changes } = await ann.ask(CHANGES, { since: cursor, types: ['WORKOUT'] });

  expect(changes.changes).toHaveLength(1);
  expect((await changesSince(eves.cursor, eve)).changes).toEqual([]);
  // The cursor of another user grants no access.
  expect((await changesSince(cursor, eve)).changes).toEqual([]);
});

test('does not miss a transaction that commits after a later one was read', async () => {
  const client = await one.database.pool.connect();

  try {
    await client.query('BEGIN');
    const insert =
      'INSERT INTO "workout" ("creation_date", "comment", "user_id") VALUES ($1, $2, $3)';

    await client.query(insert, ['2020-01-01', 'slow', ann.id]);
    await ann.post('/workout/', { comment: 'quick' });
    const early = await changesSince(null);

    await ann.post('/workout/', { comment: 'quick too' });
    const middle = await changesSince(early.cursor);

    expect(middle.changes).toHaveLength(1);
    await client.query('COMMIT');
    expect((await changesSince(middle.cursor)).changes).toHaveLength(1);
    expect((await changesSince(early.cursor)).changes).toHaveLength(2);
  } finally {
    client.release();
  }
});

test.each([
  ['a malformed cursor', 'x'],
  ['a cursor of another list', Buffer.from('["id",1]').toString('base64url')],
  ['a cursor without a snapshot', Buffer.from('["a",1,"2"]').toString('base64url')],
  ['a cursor with an invalid snapshot', Buffer.from('["a",1,"9:3:"]').toString('base64url')],
])('rejects %s', async (_name, cursor) => {
  const { errors, code } = await ann.query(CHANGES, { since: cursor });

  expect(code).toBe('BAD_USER_INPUT');
  expect(messagesByPath(errors![0]!)).toEqual({
    since: ['This is not a valid cursor of changes.'],
  });
});

test('limits `first` to 1 to 500 and rejects anonymous clients', async () => {
  for (const first of [0, 501]) {
    expect(messagesByPath((await ann.query(CHANGES, { first })).errors![0]!)).toHaveProperty(
      'first',
    );
  }

  // Clients may send null for an omitted argument.
  expect(Object.keys((await ann.ask(CHANGES, { first: null })).changes)).toContain('cursor');
  expect((await one.anonymous.query(CHANGES)).code).toBe('UNAUTHENTICATED');
});

test('reads a page of changes with a constant number of statements', async () => {
  const statements = async (entries: number) => {
    const { cursor } = await changesSince(null);

    await one.sql(
      `INSERT INTO "weight_entry" ("date", "weight", "user_id") SELECT date '1990-01-01' + n + (SELECT count(*)::int FROM "weight_entry"), 70, $1 FROM generate_series(1, $2) n`,
      [ann.id, entries],
    );
    const answer = await ann.query(
      CHANGES.replace('nodeId }', 'nodeId ... on WeightEntry { date weight } }'),
      {
        since: cursor,
        first: 500,
      },
    );

    expect(answer.data.changes.changes).toHaveLength(entries);
    return answer.statements;
  };

  const few = await statements(1);

  expect([await statements(20), await statements(400)]).toEqual([few, few]);
  expect(few).toBeLessThanOrEqual(3);
});

describe('a client that applies changes', () => {
  const schema = buildGraphQLSchema();
  const types = ownedTypes().filter((entity) => resourceOf(entity)!.metadata.createMutationName);
  const leafFields = (entity: Entity) =>
    Object.values((schema.getType(entity.name) as GraphQLObjectType).getFields())
      .filter(
        ({ type, args }) =>
          isLeafType(getNamedType(type)) && !args.some((argument) => isNonNullType(argument.type)),
      )
      .map(({ name }) => name)
      .join(' ');
  const FOLLOW =
    `query ($since: String!) { changes(since: $since, first: 7) { cursor hasMore changes { operation rowNodeId node { nodeId
    ${types.map((entity) => `... on ${entity.name} { ${leafFields(entity)} }`).join(' ')} } } } }`
      // Each type has its own aliases, because fields of the same name conflict if only one of them
      // is nullable.
      .replace(/\.\.\. on (\w+) \{ ([^}]*) \}/g, (_, type: string, names: string) => {
        const aliased = names
          .split(' ')
          .map((name) => (name === 'nodeId' ? name : `${type}_${name}: ${name}`));

        return `... on ${type} { ${aliased.join(' ')} }`;
      });

  test.each([1, 2, 3])(
    seeded('has the same rows as the server after random writes (client %i)'),
    async (client) => {
      const random = randomFor(`actions of client ${client}`);
      const reader = randomFor(`requests of client ${client}`);
      const person = await one.user(`client${client}`);
      const onOtherInstance = new Person(two.url, { id: person.id, token: person.token });
      const rows = new Map<Entity, number[]>(types.map((entity) => [entity, []]));
      const state = new Map<string, object>();
      let { cursor } = await changesSince(null, person);
      let number = 0;

      const pick = (list: number[]) => list[random.below(list.length)];

      const create = async (entity: Entity, by: Person) => {
        let possible = true;
        const input = inputOf(entity, (number += 1), (field) => {
          const own = rows.get(field.target!());
          const id = own ? pick(own) : 1;

          possible &&= id !== undefined;
          return field.relation!.isToMany ? [id] : id;
        });

        if (!possible) return;
        const { singularName: name, metadata } = resourceOf(entity)!;
        const { data } = await by.query(
          `mutation ($input: ${entity.name}Input!) { made: ${metadata.createMutationName}(input: $input) { ${name} { id } } }`,
          { input },
        );

        // The parent may have been deleted in the meantime.
        if (data?.made?.[name]) rows.get(entity)!.push(Number(data.made[name].id));
      };

      const act = async () => {
        const by = random.pick([person, onOtherInstance]);
        const entity = random.pick(types);
        const { metadata } = resourceOf(entity)!;
        const id = pick(rows.get(entity)!);

        if (id === undefined || random.below(3)) return create(entity, by);

        if (random.below(4)) {
          return void (await by.query(
            `mutation ($id: ID!) { ${metadata.deleteMutationName}(id: $id) { deletedIds } }`,
            { id },
          ));
        }

        const input = inputOf(entity, (number += 1), () => null);
        const values = Object.fromEntries(
          Object.entries(input).filter(([, value]) => value !== null && !Array.isArray(value)),
        );

        await by.query(
          `mutation ($id: ID!, $input: ${entity.name}Patch!) { ${metadata.updateMutationName}(id: $id, input: $input) { errors { path } } }`,
          {
            id,
            input: values,
          },
        );
      };

      const sync = async () => {
        for (let more = true; more;) {
          const { changes } = await reader
            .pick([person, onOtherInstance])
            .ask(FOLLOW, { since: cursor });

          for (const { rowNodeId, node } of changes.changes) {
            if (node) state.set(rowNodeId, node);
            else state.delete(rowNodeId);
          }

          cursor = changes.cursor;
          more = changes.hasMore;
        }
      };

      for (const entity of types) await create(entity, person);

      for (let round = 0; round < 12; round += 1) {
        const actions = Array.from({ length: random.int(1, 12) }, act);

        // The client synchronizes during the writes or is offline.
        if (random.chance(0.5)) await sync();
        await Promise.all(actions);
      }

      // Ensures that rows of almost every type exist, below new parents.
      for (const ids of rows.values()) ids.length = 0;
      for (const entity of types) await create(entity, person);
      await sync();

      const server = new Map<string, object>();

      for (const entity of types) {
        const { pluralName } = resourceOf(entity)!;
        const fields = leafFields(entity)
          .split(' ')
          .map((name) => (name === 'nodeId' ? name : `${entity.name}_${name}: ${name}`));
        const { page } = await person.ask(
          `{ page: ${pluralName}(first: 1000) { nodes { ${fields.join(' ')} } } }`,
        );

        for (const node of page.nodes) server.set(node.nodeId, node);
      }

      expect(server.size).toBeGreaterThanOrEqual(types.length);
      const sorted = (map: Map<string, object>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

      expect(sorted(state)).toEqual(sorted(server));
    },
  );
});

test('expires cursors when a table is truncated', async () => {
  const { cursor } = await changesSince(null);

  await one.sql('TRUNCATE "weight_entry"');
  expect((await ann.query(CHANGES, { since: cursor })).code).toBe('CURSOR_EXPIRED');
  const anew = await changesSince(null);

  expect((await changesSince(anew.cursor)).changes).toEqual([]);
});
