/** Private members of Sequelize that `src/internals/sequelize.ts` uses. */
import { Pool, type PoolClient } from 'pg';
import { Sequelize } from 'sequelize';
import {
  connectionOf,
  replaceBeginStatement,
  replaceConnectionPool,
} from '../../src/internals/sequelize';
import { backendKeyOf } from '../../src/internals/pg';
import { createDatabase } from '../setup/databases';

let database: Awaited<ReturnType<typeof createDatabase>>;
let pool: Pool;
let sequelize: Sequelize;

beforeAll(async () => {
  database = await createDatabase('nothing');
});
afterAll(() => database.drop());

beforeEach(() => {
  pool = new Pool({ ...database.connection, max: 2 });
  pool.on('connect', (client) => client.on('error', () => undefined)).on('error', () => undefined);
  sequelize = new Sequelize({ dialect: 'postgres', logging: false });
  replaceConnectionPool<PoolClient>(sequelize, {
    getConnection: () => pool.connect(),
    releaseConnection: (client) => client.release(),
    destroyConnection: async (client) => client.release(true),
  });
});
afterEach(() => pool.end());

const poolCounts = () => ({ total: pool.totalCount, idle: pool.idleCount });

test('a transaction runs on a connection of the other pool and returns it', async () => {
  await sequelize.transaction(async (transaction) => {
    expect(poolCounts()).toEqual({ total: 1, idle: 0 });
    const [[row]] = await sequelize.query('SELECT pg_backend_pid() AS "pid"', { transaction });
    expect(row).toEqual({ pid: backendKeyOf(connectionOf(transaction)).processID });
  });
  expect(poolCounts()).toEqual({ total: 1, idle: 1 });
});

test('a connection whose COMMIT fails is destroyed', async () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const broken = sequelize.transaction(async (transaction) => {
    const { processID } = backendKeyOf(connectionOf(transaction));
    await pool.query('SELECT pg_terminate_backend($1)', [processID]);
  });
  await expect(broken).rejects.toThrow();
  warn.mockRestore();
  expect(poolCounts()).toEqual({ total: 1, idle: 1 });
});

test('BEGIN is extended by the options of the transaction, a savepoint is not', async () => {
  const statements: string[] = [];
  const logging = (text: string) =>
    void statements.push(text.replace(/^Executing \([\w-]+\): /, ''));
  replaceBeginStatement(
    sequelize,
    ({ sessionUserId: sessionUserId }) => `BEGIN; SET LOCAL test.viewer = '${sessionUserId}'`,
  );
  const options = { sessionUserId: 'ann', logging };
  await sequelize.transaction(options, async (transaction) => {
    const [[row]] = await sequelize.query(`SELECT current_setting('test.viewer') AS "viewer"`, {
      transaction,
    });
    expect(row).toEqual({ viewer: 'ann' });
    await sequelize.transaction({ transaction, logging }, () => Promise.resolve());
  });
  expect(statements[0]).toBe(`BEGIN; SET LOCAL test.viewer = 'ann'`);
  // The transaction begins with a single round trip; no statement sets an isolation level.
  expect(statements.slice(1)).toEqual([expect.stringMatching(/^SAVEPOINT "[^"]+";$/), 'COMMIT;']);
});
