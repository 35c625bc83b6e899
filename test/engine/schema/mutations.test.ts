/** Optimistic locking: a write with `ifVersion` succeeds only for that version of the row. */
import type { Entity } from '../../../src/engine/declare/fields';
import { resourceOf } from '../../../src/engine/declare/registry';
import { createOwnedRows, ownedTypes, parentsIn, type OwnedRowIds } from '../../setup/owned-rows';
import { Fitgraph, fitgraphForThisFile } from '../../setup/fitgraph';
import { readRow, updateOf } from '../../setup/generic-lists';
import { Person } from '../../setup/person';
import { inputOf } from '../../setup/sample-values';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let ownedRowIds: OwnedRowIds;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  ownedRowIds = await createOwnedRows(ann);
});

const CONFLICT = {
  path: ['ifVersion'],
  code: 'CONFLICT',
  message: 'The row has another version now.',
};
const UNKNOWN = [{ path: ['id'], code: 'NOT_FOUND' }];
const PAYLOAD =
  '{ weightEntry { weight version } errors { path code message conflict { ... on WeightEntry { id weight version } } } }';
const UPDATE = `mutation ($id: ID!, $weight: Decimal!, $ifVersion: String) { answer: updateWeightEntry(id: $id, input: { weight: $weight }, ifVersion: $ifVersion) ${PAYLOAD} }`;
const DELETE = `mutation ($id: ID!, $ifVersion: String) { answer: deleteWeightEntry(id: $id, ifVersion: $ifVersion) { deletedIds deletedNodeIds errors { path code message conflict { ... on WeightEntry { id weight version } } } } }`;

let day = 0;

interface Entry {
  id: string;
  weight: string;
  version: string;
}

async function entry(person = ann): Promise<Entry> {
  day += 1;
  const date = new Date(Date.UTC(2010, 0, day)).toISOString().slice(0, 10);
  const { made } = await person.ask(
    `mutation { made: createWeightEntry(input: { date: "${date}", weight: "80" }) { weightEntry { id weight version } } }`,
  );

  return made.weightEntry;
}

const readEntry = async ({ id }: Entry) =>
  (await ann.ask('query ($id: ID!) { row: weightEntry(id: $id) { id weight version } }', { id }))
    .row as Entry;

test('updates a row of the expected version and returns the new version', async () => {
  const { id, version } = await entry();
  const { answer } = await ann.ask(UPDATE, { id, weight: '81', ifVersion: version });

  expect(answer).toEqual({
    weightEntry: { weight: '81.00', version: expect.any(String) },
    errors: [],
  });
  expect(answer.weightEntry.version).not.toBe(version);
  const next = await ann.ask(UPDATE, { id, weight: '82', ifVersion: answer.weightEntry.version });

  expect(next.answer.weightEntry.weight).toBe('82.00');
});

test('rejects an update or delete with a stale version and returns the current row', async () => {
  const before = await entry();

  await ann.patch(`/weightentry/${before.id}/`, { weight: '90' });
  const current = await readEntry(before);

  for (const ifVersion of [before.version, '', 'nonsense', before.version.toUpperCase()]) {
    const { answer } = await ann.ask(UPDATE, { id: before.id, weight: '81', ifVersion });

    const errors = [{ ...CONFLICT, conflict: current }];

    expect(answer).toEqual({ weightEntry: null, errors });
    expect((await ann.ask(DELETE, { id: before.id, ifVersion })).answer).toEqual({
      deletedIds: [],
      deletedNodeIds: [],
      errors,
    });
  }

  expect(await readEntry(before)).toEqual(current);
});

test('updates any version when `ifVersion` is omitted or null', async () => {
  const { id } = await entry();

  expect((await ann.ask(UPDATE, { id, weight: '81', ifVersion: null })).answer.errors).toEqual([]);
  expect((await ann.ask(UPDATE, { id, weight: '82' })).answer.weightEntry.weight).toBe('82.00');
});

test('returns NOT_FOUND for a deleted row or a row of another user, whatever the version', async () => {
  const mine = await entry();
  const bob = await fitgraph.user('bob');

  for (const [document, variables] of [
    [UPDATE, { weight: '81' }],
    [DELETE, {}],
  ] as const) {
    for (const ifVersion of [mine.version, 'x']) {
      expect(
        (await bob.ask(document, { id: mine.id, ifVersion, ...variables })).answer.errors,
      ).toMatchObject(UNKNOWN);
    }
  }

  const { answer } = await ann.ask(DELETE, { id: mine.id, ifVersion: mine.version });

  expect(answer).toMatchObject({ deletedIds: [mine.id], errors: [] });
  expect(
    (await ann.ask(UPDATE, { id: mine.id, weight: '81', ifVersion: mine.version })).answer.errors,
  ).toMatchObject(UNKNOWN);
});

test('checks the version of an update without changes', async () => {
  const { id, version } = await entry();
  const document =
    'mutation ($id: ID!, $v: String) { a: updateWeightEntry(id: $id, input: {}, ifVersion: $v) { errors { conflict { ... on WeightEntry { id } } } weightEntry { version } } }';

  expect((await ann.ask(document, { id, v: version })).a).toEqual({
    errors: [],
    weightEntry: { version },
  });
  expect((await ann.ask(document, { id, v: 'x' })).a).toEqual({
    errors: [{ conflict: { id } }],
    weightEntry: null,
  });
});

test('checks the version of each mutation of a request after the earlier ones', async () => {
  const { id, version } = await entry();
  const document = `mutation ($id: ID!, $v: String) { a: updateWeightEntry(id: $id, input: { weight: "81" }, ifVersion: $v) ${PAYLOAD} b: updateWeightEntry(id: $id, input: { weight: "82" }, ifVersion: $v) ${PAYLOAD} }`;
  const { a, b } = await ann.ask(document, { id, v: version });

  expect(a.weightEntry.weight).toBe('81.00');
  expect(b).toMatchObject({
    weightEntry: null,
    errors: [{ conflict: { weight: '81.00', version: a.weightEntry.version } }],
  });
});

describe('a bulk mutation', () => {
  const UPDATE_MANY =
    'mutation ($changes: [WeightEntryChange!]!) { answer: updateWeightEntries(changes: $changes) { weightEntries { weight } errors { path code message conflict { ... on WeightEntry { id weight version } } } } }';
  const REMOVE =
    'mutation ($rows: [RowVersion!]!) { answer: deleteWeightEntries(rows: $rows) { deletedIds deletedNodeIds errors { path code message conflict { ... on WeightEntry { id weight version } } } } }';

  test('writes nothing when one of the rows has a stale version', async () => {
    const rows = [await entry(), await entry(), await entry(), await entry()];

    for (const { id } of [rows[1]!, rows[3]!]) {
      await ann.patch(`/weightentry/${id}/`, { weight: '90' });
    }

    const currentRows = await Promise.all(rows.map(readEntry));
    const versions = rows.map(({ version }) => version);
    const changes = rows.map(({ id }, index) => ({
      id,
      input: { weight: '70' },
      ifVersion: versions[index],
    }));

    expect((await ann.ask(UPDATE_MANY, { changes })).answer).toEqual({
      weightEntries: null,
      errors: [1, 3].map((index) => ({
        ...CONFLICT,
        path: ['changes', String(index), 'ifVersion'],
        conflict: currentRows[index],
      })),
    });
    expect(
      (
        await ann.ask(REMOVE, {
          rows: rows.map(({ id }, index) => ({ id, ifVersion: versions[index] })),
        })
      ).answer,
    ).toEqual({
      deletedIds: [],
      deletedNodeIds: [],
      errors: [1, 3].map((index) => ({
        ...CONFLICT,
        path: ['rows', String(index), 'ifVersion'],
        conflict: currentRows[index],
      })),
    });
    expect(await Promise.all(rows.map(readEntry))).toEqual(currentRows);
    // Rows without `ifVersion` may have any version.
    const some = changes.map((change, index) =>
      index % 2 ? { ...change, ifVersion: null } : change,
    );

    expect((await ann.ask(UPDATE_MANY, { changes: some })).answer).toMatchObject({
      errors: [],
      weightEntries: Array(4).fill({ weight: '70.00' }),
    });
    const currentAgain = await Promise.all(rows.map(readEntry));
    const { answer } = await ann.ask(REMOVE, {
      rows: currentAgain.map(({ id, version }, index) => ({
        id,
        ifVersion: index ? version : null,
      })),
    });

    expect(answer).toMatchObject({ deletedIds: rows.map(({ id }) => id), errors: [] });
  });
});

const written = ownedTypes().map((entity): [string, Entity] => [entity.name, entity]);

test.each(written)('checks `ifVersion` of %s', async (_name, entity) => {
  const { singularName, metadata } = resourceOf(entity)!;
  const id = ownedRowIds.get(entity)!;
  const input = metadata.createMutationName
    ? inputOf(entity, 2, parentsIn(ownedRowIds))
    : { height: 170 };
  const document = updateOf(
    entity,
    `{ row: ${singularName} { version } errors { path code conflict { ... on ${entity.name} { id version } } } }`,
  );
  const { version } = await readRow(ann, entity, id, 'version');
  const { made: a } = await ann.ask(document, { id, input, ifVersion: version });

  expect(a).toEqual({ row: { version: expect.any(String) }, errors: [] });
  const mismatch = {
    path: ['ifVersion'],
    code: 'CONFLICT',
    conflict: { id: String(id), version: a.row.version },
  };
  const stale = await ann.ask(document, { id, input, ifVersion: version });

  expect(stale.made).toEqual({
    row: null,
    errors: [mismatch],
  });
  if (!metadata.deleteMutationName) return;
  const { d } = await ann.ask(
    `mutation ($id: ID!) { d: ${metadata.deleteMutationName}(id: $id, ifVersion: "x") { deletedIds errors { path code conflict { ... on ${entity.name} { id version } } } } }`,
    {
      id,
    },
  );

  expect(d).toEqual({
    deletedIds: [],
    errors: [mismatch],
  });
});

describe('concurrent writes with the same version', () => {
  let two: Fitgraph;

  beforeAll(async () => {
    two = await Fitgraph.start({ sameDatabaseAs: fitgraph });
  });
  afterAll(() => two.stop());

  test.each([1, 2, 3, 4, 5])(
    'let exactly one update and one delete succeed (round %i)',
    async () => {
      const onOtherInstance = new Person(two.url, { id: ann.id, token: ann.token });
      const { id, version } = await entry();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => {
          const person = index % 2 ? ann : onOtherInstance;

          return person.ask(UPDATE, { id, weight: `${60 + index}`, ifVersion: version });
        }),
      );
      const won = answers.filter(({ answer }) => answer.weightEntry);

      expect(won).toHaveLength(1);
      const storedWeight = (await readEntry({ id } as Entry)).weight;

      // No other write succeeds, so the stored row is that of the winner.
      expect(won[0].answer.weightEntry.weight).toBe(storedWeight);

      for (const { answer } of answers) {
        if (!answer.weightEntry) {
          expect(answer.errors).toMatchObject([{ conflict: { id, weight: storedWeight } }]);
        }
      }

      const { version: next } = await readEntry({ id } as Entry);
      const removed = await Promise.all(
        [ann, onOtherInstance, ann, onOtherInstance].map((person) =>
          person.ask(DELETE, { id, ifVersion: next }),
        ),
      );

      expect(removed.filter(({ answer }) => answer.deletedIds[0] === id)).toHaveLength(1);

      for (const { answer } of removed) {
        if (!answer.deletedIds.length) expect(answer.errors).toMatchObject(UNKNOWN);
      }
    },
  );

  test('let either the GraphQL or the REST update succeed', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id, version } = await entry();
      const [one, other] = await Promise.all([
        ann.ask(UPDATE, { id, weight: '61', ifVersion: version }),
        ann
          .withHeaders({ 'If-Match': `"${version}"` })
          .patch(`/weightentry/${id}/`, { weight: '62' }),
      ]);

      expect([one.answer.weightEntry !== null, other.status]).toEqual(
        other.status === 200 ? [false, 200] : [true, 412],
      );
    }
  });
});

test('needs one more statement when `ifVersion` is given', async () => {
  const { id, version } = await entry();
  const plain = await ann.query(UPDATE, { id, weight: '81' });
  const updated = await ann.query(UPDATE, {
    id,
    weight: '82',
    ifVersion: plain.data.answer.weightEntry.version,
  });

  expect(updated.statements).toBe(plain.statements + 1);
  expect(version).not.toBe(updated.data.answer.weightEntry.version);
});
