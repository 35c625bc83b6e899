/**
 * createdAt, updatedAt and version of a row: set by the database, visible in GraphQL, absent from
 * REST.
 */
import { partFields, type Entity } from '../../../src/engine/declare/fields';
import { resourceOf } from '../../../src/engine/declare/registry';
import { validateDump } from '../../../src/transfer/dump';
import { importDumpRows } from '../../../src/transfer/importer';
import { createOwnedRows, ownedTypes, parentsIn, type OwnedRowIds } from '../../setup/owned-rows';
import { fitgraphForThisFile } from '../../setup/fitgraph';
import { readRow, updateOf } from '../../setup/generic-lists';
import type { Person } from '../../setup/person';
import { inputOf } from '../../setup/sample-values';

const fitgraph = fitgraphForThisFile();
let ann: Person;
let ownedRowIds: OwnedRowIds;

beforeAll(async () => {
  ann = await fitgraph.user('ann');
  ownedRowIds = await createOwnedRows(ann);
});

const types = ownedTypes().map((entity): [string, Entity] => [entity.name, entity]);

interface Stamps {
  createdAt: string;
  updatedAt: string;
  version: string;
}

async function stampsOf(entity: Entity): Promise<Stamps> {
  return readRow(ann, entity, ownedRowIds.get(entity)!, 'createdAt updatedAt version');
}

async function updateRow(entity: Entity): Promise<void> {
  const { metadata } = resourceOf(entity)!;
  const input = metadata.createMutationName
    ? inputOf(entity, 2, parentsIn(ownedRowIds))
    : { height: 180 };
  const { made } = await ann.ask(updateOf(entity, '{ errors { path } }'), {
    id: ownedRowIds.get(entity),
    input,
  });

  expect(made.errors).toEqual([]);
}

test.each(types)(
  'updates updatedAt and version, but not createdAt, when a %s changes',
  async (_name, entity) => {
    const before = await stampsOf(entity);

    expect(Math.abs(Date.now() - Date.parse(before.createdAt))).toBeLessThan(60_000);
    // The parts of a row are created after it, which updates the row.
    if (partFields(entity).length) {
      expect(before.updatedAt > before.createdAt).toBe(true);
    } else expect(before.updatedAt).toBe(before.createdAt);
    await updateRow(entity);
    const after = await stampsOf(entity);

    expect(after.createdAt).toBe(before.createdAt);
    expect(Date.parse(after.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect(after.version).not.toBe(before.version);
    expect(await stampsOf(entity)).toEqual(after);
  },
);

test.each(types)(
  'does not show, order or filter %s by timestamps or version over REST',
  async (_name, entity) => {
    const { restName } = resourceOf(entity)!.metadata.views[0]!;
    const detail = await ann.get(`/${restName}/${ownedRowIds.get(entity)}/`);

    expect(detail.status).toBe(200);
    const options = await ann.options(`/${restName}/`);
    const { components, paths } = (await fitgraph.anonymous.get('/schema')).body;
    const described = JSON.stringify([
      components.schemas[restName],
      components.schemas[`${restName}.body`],
      paths[`/${restName}/`].get,
    ]);

    for (const text of [detail.text, options.text, described]) {
      expect(text).not.toMatch(/created_?at|updated_?at|"-?version"/i);
    }

    const plain = await ann.get(`/${restName}/`);

    for (const key of ['created_at', 'updated_at', 'version']) {
      expect((await ann.get(`/${restName}/?ordering=-${key}`)).body).toEqual(plain.body);
      expect((await ann.get(`/${restName}/?${key}=2000-01-01`)).body).toEqual(plain.body);
    }

    const page = await ann.withHeaders({ Accept: 'text/html' }).get(`/${restName}/`);

    expect(page.text).not.toMatch(/name="(created_at|updated_at|version)"/);
  },
);

test('updates updatedAt and version of a training day when its weekdays change', async () => {
  const day = types.find(([name]) => name === 'TrainingDay')![1];
  const before = await stampsOf(day);

  expect((await ann.patch(`/day/${ownedRowIds.get(day)}/`, { day: [2, 3] })).status).toBe(200);
  const after = await stampsOf(day);

  expect(after.version).not.toBe(before.version);
  expect(Date.parse(after.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
});

test('filters and orders by createdAt and updatedAt, but not by version', async () => {
  const eve = await fitgraph.user('eve');
  const ids: string[] = [];

  for (const date of ['2021-01-01', '2021-01-02', '2021-01-03']) {
    ids.push(
      (
        await eve.ask(
          `mutation { c: createWeightEntry(input: { date: "${date}", weight: "80" }) { weightEntry { id } } }`,
        )
      ).c.weightEntry.id,
    );
  }

  await eve.patch(`/weightentry/${ids[0]}/`, { weight: '81' });
  const list = async (args: string) =>
    (await eve.ask(`{ page: weightEntries(${args}) { nodes { id updatedAt } } }`)).page.nodes;
  const byChange = await list('orderBy: [{ updatedAt: DESC }]');

  expect(byChange.map(({ id }: { id: string }) => id)).toEqual([ids[0], ids[2], ids[1]]);
  const since = await list(
    `where: { updatedAt: { gt: "${byChange[1].updatedAt}" } }, orderBy: [{ createdAt: ASC }]`,
  );

  expect(since.map(({ id }: { id: string }) => id)).toEqual([ids[0]]);
  const { errors } = await eve.query(
    '{ weightEntries(orderBy: [{ version: ASC }]) { totalCount } }',
  );

  expect(errors).toBeDefined();
});

test('prevents clients and SQL updates from setting createdAt or version', async () => {
  const create =
    'mutation { createWeightEntry(input: { date: "2001-01-01", weight: "80", createdAt: "2001-01-01T00:00:00Z" }) { errors { path } } }';

  expect((await ann.query(create)).status).toBe(400);
  const [row] = await fitgraph.sql(
    'SELECT "id", "created_at", "version" FROM "weight_entry" WHERE "user_id" = $1',
    [ann.id],
  );
  const set = `UPDATE "weight_entry" SET "created_at" = '2001-01-01', "version" = "version" WHERE "id" = $1 RETURNING "created_at", "version"`;
  const [after] = await fitgraph.sql(set, [row!.id]);

  expect(after!.created_at).toEqual(row!.created_at);
  expect(after!.version).not.toBe(row!.version);
});

test('assigns a new version to a row that an imported dump replaces', async () => {
  const dump = (weight: string) =>
    validateDump([
      {
        model: 'weight.weightentry',
        pk: 900,
        fields: { user: ann.id, date: '1999-01-01', weight },
      },
    ]);
  const version = async () =>
    (await fitgraph.sql('SELECT "version" FROM "weight_entry" WHERE "id" = 900'))[0]!.version;
  const { tokenVault, database } = fitgraph;

  await importDumpRows(dump('80.00'), database, { tokenVault });
  const first = await version();

  await importDumpRows(dump('81.00'), database, { tokenVault, shouldReplaceExisting: true });
  expect(await version()).not.toBe(first);
});
