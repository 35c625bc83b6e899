/** The queries of models that `src/database/internals/sequelize.ts` binds to a transaction. */
import { User } from '../../../src/accounts/user';
import '../../../src/graphql/schema';
import type { Database } from '../../../src/database/connection';
import { errorCodeOf } from '../../../src/database/errors';
import { createDatabase, open } from '../../setup/databases';

let ownDatabase: Awaited<ReturnType<typeof createDatabase>>;
let database: Database;

beforeAll(async () => {
  ownDatabase = await createDatabase('tables');
  database = open(ownDatabase.connection);
});
afterAll(async () => {
  await database.close();
  await ownDatabase.drop();
});

const account = (username: string) => ({ username, password: 'none', email: '' });
const names = async () =>
  (await database.queryAsServer('SELECT "username" FROM "user_account"')).map(
    ({ username }) => username as string,
  );

test('are part of the transaction, and are counted and timed', async () => {
  const session = database.createSession();

  await session.transaction(async (transaction) => {
    const users = transaction.model(User);
    const { id } = await users.create(account('ann'));

    expect(await users.findOne({ where: { id }, attributes: ['username'], raw: true })).toEqual({
      username: 'ann',
    });
    expect(await names()).toEqual([]);
    expect(await transaction.query('SELECT "username" FROM "user_account"')).toEqual([
      { username: 'ann' },
    ]);
  });
  expect(await names()).toEqual(['ann']);
  // BEGIN, INSERT, two SELECTs and COMMIT.
  expect(session.statementCount).toBe(5);
  expect(session.statementMs).toBeGreaterThan(0);
});

test('are rolled back with the transaction or its savepoint', async () => {
  const failing = database.createSession().transaction(async (transaction) => {
    await transaction
      .model(User)
      .update({ email: 'ann@example.com' }, { where: { username: 'ann' } });
    throw new Error('rolled back');
  });

  await expect(failing).rejects.toThrow('rolled back');
  await database.createSession().transaction(async (transaction) => {
    const users = transaction.model(User);
    const failingSavepoint = transaction.savepoint(async () => {
      await users.create(account('bob'));
      await transaction.savepoint(() => users.create(account('cem')));
      throw new Error('rolled back');
    });

    await expect(failingSavepoint).rejects.toThrow('rolled back');
    await transaction.savepoint(() => users.create(account('dan')));
  });
  expect(await names()).toEqual(['ann', 'dan']);
  expect(await database.queryAsServer(`SELECT FROM "user_account" WHERE "email" <> ''`)).toEqual(
    [],
  );
});

test('fail with the error of PostgreSQL', async () => {
  const failing = database
    .createSession()
    .transaction((transaction) => transaction.model(User).create(account('ann')));

  expect(errorCodeOf(await failing.catch((error: unknown) => error))).toBe('23505');
});

test('run one after the other, whatever else the transaction runs', async () => {
  const warn = jest.spyOn(process, 'emitWarning');
  const [sleepingFor, counted] = await database
    .createSession()
    .transaction((transaction) =>
      Promise.all([
        transaction.query('SELECT 1 AS "one", pg_sleep(0.05)'),
        transaction.model(User).count({ where: { username: 'ann' } }),
      ]),
    );

  expect([sleepingFor[0]!.one, counted]).toEqual([1, 1]);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});
