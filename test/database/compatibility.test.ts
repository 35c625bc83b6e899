/**
 * A database that a newer version has migrated: whether a server starts and stays ready, and which
 * messages it prints.
 */
import { checkSchemaIsSupported, readSchemaState } from '../../src/database/compatibility';
import { migrateUp } from '../../src/database/migrate';
import { VERSION } from '../../src/shared/version';
import { fitgraphForThisFile } from '../setup/fitgraph';
import { until } from '../setup/waits';

const fitgraph = fitgraphForThisFile();

/** Inserts the record of a migration of version 99.1.0. */
const record = (oldestVersion: string | null) =>
  fitgraph.sql(
    `INSERT INTO "migration" ("name", "version", "oldest_version") VALUES ('9999-from-tomorrow', '99.1.0', $1)`,
    [oldestVersion],
  );

afterEach(() => fitgraph.sql(`DELETE FROM "migration" WHERE "name" LIKE '9999%'`));

const readiness = async () => (await fitgraph.anonymous.send('GET', '/health/ready')).status;

test.each([VERSION, '0.0.1', '0.2.9'])(
  'supports a newer migration whose oldest version is %s',
  async (oldestVersion) => {
    await record(oldestVersion);
    expect(await readSchemaState(fitgraph.database)).toBe('current');
    expect(await checkSchemaIsSupported(fitgraph.database.pool)).toEqual(['9999-from-tomorrow']);
    expect(await migrateUp(fitgraph.database)).toEqual([]);
  },
);

test.each([['99.1.0'], ['0.100.0'], [null]])(
  'rejects a newer migration whose oldest version is %s',
  async (oldestVersion) => {
    await record(oldestVersion);
    expect(await readSchemaState(fitgraph.database)).toBe('incompatible');
    await expect(migrateUp(fitgraph.database)).rejects.toThrow(
      `The database has the schema of Fitgraph 99.1.0 (9999-from-tomorrow), but Fitgraph ${VERSION} supports it only up to`,
    );
  },
);

test('a running server reports not ready once a newer version has applied a migration that it does not support', async () => {
  // The server may still report the state that an earlier test has made.
  await until('the server is ready', async () => (await readiness()) === 200);
  await record('99.1.0');
  await until('the server is not ready', async () => (await readiness()) === 503);
  expect((await fitgraph.anonymous.send('GET', '/health/ready')).body).toEqual({
    status: 'unavailable',
    reason: 'a newer version has migrated the database and does not support this one',
  });
  await fitgraph.sql(`UPDATE "migration" SET "oldest_version" = $1 WHERE "name" LIKE '9999%'`, [
    VERSION,
  ]);
  await until('the server is ready again', async () => (await readiness()) === 200);
});
