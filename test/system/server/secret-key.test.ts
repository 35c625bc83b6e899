/**
 * The secret key of a database: a start with another one is refused, and `rotate-key` replaces it
 * and re-encrypts all API keys.
 */
import fs from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { createUser, getOrCreateApiKey } from '../../../src/accounts/accounts';
import { TokenVault } from '../../../src/accounts/tokens';
import { createDatabase, open, SECRET_KEY } from '../../setup/databases';
import { build, Installation, run } from '../../setup/server-process';

const OTHER_KEY = 'another secret key, also long enough';
const REFUSAL =
  /^fitgraph: SECRET_KEY [^\n]*it is not the key of this database, whose API keys were encrypted with another one[^\n]*\n$/;

beforeAll(build);

describe('a database with API keys', () => {
  const installation = new Installation();
  let testDatabase: Awaited<ReturnType<typeof createDatabase>>;
  let client: Client;
  const tokens = new Map<string, string>();

  const environment = (key: string) => ({
    DATABASE_URL: testDatabase.url,
    SECRET_KEY: key,
    DATA_DIR: installation.dataDir,
    LOG_LEVEL: 'silent',
  });
  const command = (key: string, ...args: string[]) => run('command', environment(key), args);

  const decryptedTokens = async (key: string) => {
    const { rows } = await client.query(
      'SELECT "username", "sealed" FROM "token" JOIN "user_account" u ON u."id" = "user_id"',
    );

    return new Map(
      rows.map(({ username, sealed }) => [
        username as string,
        new TokenVault(key).decrypt(sealed as Buffer),
      ]),
    );
  };

  const fingerprints = async () =>
    (await client.query('SELECT "fingerprint" FROM "secret_key_fingerprint"')).rows;

  beforeAll(async () => {
    testDatabase = await createDatabase('catalogue');
    client = new Client(testDatabase.connection);
    await client.connect();
    const database = open(testDatabase.connection);

    for (const username of ['ann', 'bob']) {
      const id = await createUser(
        { username, password: 'a good password' },
        database.createSession(),
      );

      tokens.set(
        username,
        await getOrCreateApiKey(id, database.createSession(), new TokenVault(SECRET_KEY)),
      );
    }

    await database.close();
  });
  afterAll(async () => {
    await client.end();
    await testDatabase.drop();
    await installation.remove();
  });

  test('accepts only the key that decrypts them, before and after its fingerprint is stored', async () => {
    const expectKeyRejected = async () => {
      for (const answer of [
        await run('server', environment(OTHER_KEY)),
        await command(OTHER_KEY, 'user', 'token', 'ann'),
      ]) {
        expect(answer).toMatchObject({ status: 1, stdout: '' });
        expect(answer.stderr).toMatch(REFUSAL);
      }

      const examined = await command(OTHER_KEY, 'doctor');

      expect(examined.status).toBe(1);
      expect(examined.stdout).toMatch(/^FAIL {2}Secret key: it is not the key of this database/m);
    };

    expect(await fingerprints()).toEqual([]);
    await expectKeyRejected();
    expect(await fingerprints()).toEqual([]);
    expect((await command(SECRET_KEY, 'doctor')).stdout).not.toMatch(/^FAIL {2}Secret key/m);
    expect((await command(SECRET_KEY, 'user', 'token', 'ann')).stdout).toBe(
      `${tokens.get('ann')}\n`,
    );
    expect(await fingerprints()).toHaveLength(1);
    await client.query('CREATE TABLE "aside" AS TABLE "token"');
    await client.query('DELETE FROM "token"');
    await expectKeyRejected();
    await client.query('INSERT INTO "token" TABLE "aside"');
    await client.query('DROP TABLE "aside"');
  });

  test('gets a new key, and its API keys stay the same', async () => {
    const file = path.join(installation.folder, 'new-key');

    expect(await command(SECRET_KEY, 'rotate-key', file)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('does not exist'),
    });
    fs.writeFileSync(file, 'short\n');
    expect((await command(SECRET_KEY, 'rotate-key', file)).stderr).toMatch(
      /^fitgraph: SECRET_KEY: the file \S+ has 5 characters instead of/,
    );
    fs.writeFileSync(file, `${OTHER_KEY}\n`);
    const listener = new Client({
      ...testDatabase.connection,
      application_name: 'fitgraph listener',
    });

    await listener.connect();
    expect((await command(SECRET_KEY, 'rotate-key', file)).stderr).toMatch(
      /A running server uses this database and would use the old key/,
    );
    await listener.end();
    // Nothing is changed if the old key is wrong.
    expect((await command(OTHER_KEY, 'rotate-key', file)).stderr).toMatch(REFUSAL);
    // An error in the last statement rolls back everything that was encrypted before.
    await client.query(
      'ALTER TABLE "secret_key_fingerprint" ADD CONSTRAINT "fixed" CHECK (false) NOT VALID',
    );
    expect((await command(SECRET_KEY, 'rotate-key', file)).status).toBe(1);
    await client.query('ALTER TABLE "secret_key_fingerprint" DROP CONSTRAINT "fixed"');
    expect(await decryptedTokens(SECRET_KEY)).toEqual(tokens);
    await client.query(`CREATE FUNCTION "lose"() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER "lose" AFTER UPDATE ON "token" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION "lose"()`);
    expect(await command(SECRET_KEY, 'rotate-key', file)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /^fitgraph: the connection was lost during COMMIT, so the changes may or may not have been saved: /,
      ),
    });
    await client.query('DROP FUNCTION "lose"() CASCADE');

    const rotated = await command(SECRET_KEY, 'rotate-key', file);

    expect(rotated).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Re-encrypted 2 API keys\.\nSet SECRET_KEY to the new key/),
    });
    expect(await decryptedTokens(OTHER_KEY)).toEqual(tokens);
    expect((await run('server', environment(SECRET_KEY))).stderr).toMatch(REFUSAL);
  });

  test('gets a new key when the old one is lost, and its API keys can no longer be shown', async () => {
    const file = path.join(installation.folder, 'next-key');
    const key = `${OTHER_KEY}, too`;

    fs.writeFileSync(file, key);
    const rotated = await command(key, 'rotate-key', file, '--lost');

    expect(rotated.stdout).toMatch(
      /^Re-encrypted 0 API keys\.\n2 API keys cannot be decrypted and can no longer be shown, but remain valid\.\n/,
    );
    expect((await command(key, 'user', 'token', 'ann')).stderr).toMatch(
      /^fitgraph: The token was encrypted with another SECRET_KEY/,
    );
    expect((await command(key, 'user', 'token', 'ann', '--new')).stdout).toMatch(
      /^[0-9a-f]{40}\n$/,
    );
  });
});

test('replaces the key file of the embedded database, also when the command was killed after the commit', async () => {
  const installation = await Installation.started();

  try {
    const { stdout: token } = await installation.command('user', 'token', 'demo');

    expect(token).toMatch(/^[0-9a-f]{40}\n$/);
    const [file, keyFile] = [
      path.join(installation.folder, 'new-key'),
      path.join(installation.dataDir, 'secret-key'),
    ];
    const oldKey = fs.readFileSync(keyFile, 'utf8');

    fs.writeFileSync(file, OTHER_KEY);
    expect((await installation.command('rotate-key', file)).stdout).toMatch(
      /^Re-encrypted 1 API key\.\nThe new key is in \S+secret-key\.\n$/,
    );
    expect(fs.readFileSync(keyFile, 'utf8')).toBe(`${OTHER_KEY}\n`);
    expect((await installation.command('user', 'token', 'demo')).stdout).toBe(token);
    // Recreates the state that a killed command leaves: the file of the new key still has its
    // temporary name.
    fs.renameSync(
      keyFile,
      path.join(installation.dataDir, 'secret-key.restored-5d0d3f5e-0a0c-4c3b-9a55-0a3f1f0f9d11'),
    );
    fs.writeFileSync(keyFile, oldKey);
    expect((await installation.command('user', 'token', 'demo')).stdout).toBe(token);
    expect(fs.readFileSync(keyFile, 'utf8')).toBe(`${OTHER_KEY}\n`);
  } finally {
    await installation.remove();
  }
});
