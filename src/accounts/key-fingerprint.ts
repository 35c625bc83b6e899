/**
 * Check of the secret key at start. With another key than before, the server could not show the API
 * keys that were encrypted with the old one.
 */
import { fingerprintOf, readStoredFingerprint } from '../database/secret-key';
import type { Database } from '../database/connection';
import { ConfigError } from '../shared/config';
import { TokenVault } from './tokens';

/**
 * Number of API keys with which a secret key is tested if its fingerprint is not stored. Only the
 * newest ones are tested, because older ones may still be encrypted with an earlier secret key.
 */
const MAX_TESTED_API_KEYS = 1_000;

const WRONG_KEY_PROBLEM =
  'it is not the key of this database, whose API keys were encrypted with another one';

/**
 * Describes what is wrong with a secret key, if anything. If no fingerprint is stored, the key must
 * decrypt one of the newest API keys.
 */
export async function findSecretKeyProblem(
  { pool }: Database,
  secretKey: string,
): Promise<string | undefined> {
  const fingerprint = await readStoredFingerprint(pool);

  if (fingerprint) {
    return fingerprint.equals(fingerprintOf(secretKey)) ? undefined : WRONG_KEY_PROBLEM;
  }

  if (!(await pool.query(`SELECT to_regclass('token') AS "table"`)).rows[0].table) return undefined;
  const { rows } = await pool.query(
    `SELECT "sealed" FROM "token" ORDER BY "created" DESC LIMIT ${MAX_TESTED_API_KEYS}`,
  );
  const tokenVault = new TokenVault(secretKey);

  const isDecryptable = rows.some(
    ({ sealed }) => tokenVault.decrypt(sealed as Buffer) !== undefined,
  );

  return !rows.length || isDecryptable ? undefined : WRONG_KEY_PROBLEM;
}

/** Throws a ConfigError if this database was used with another secret key before. */
export async function checkSecretKey(database: Database, secretKey: string): Promise<void> {
  const problem = await findSecretKeyProblem(database, secretKey);

  if (problem) {
    throw new ConfigError(
      `SECRET_KEY (or the file secret-key in DATA_DIR): ${problem}. Set the key that was used before; fitgraph rotate-key replaces it`,
    );
  }
}

/**
 * Stores the fingerprint of the secret key on first use. Throws a ConfigError if another process
 * has stored a different one.
 */
export async function recordKeyFingerprint(database: Database, secretKey: string): Promise<void> {
  await checkSecretKey(database, secretKey);
  await database.queryAsServer(
    'INSERT INTO "secret_key_fingerprint" ("fingerprint") VALUES ($1) ON CONFLICT DO NOTHING',
    [fingerprintOf(secretKey)],
  );
  await checkSecretKey(database, secretKey);
}
