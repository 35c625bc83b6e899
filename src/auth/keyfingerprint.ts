/** Check of the secret key. A server does not start with a different key than before, because it could not show API keys encrypted with the old one. */
import { fingerprintOf, readStoredFingerprint } from '../database/secretkey';
import type { Database } from '../database/connection';
import { ConfigError } from '../platform/config';
import { TokenVault } from './tokens';

/**
 * Maximum number of API keys with which a secret key is tested if no fingerprint of the key is stored. Only the newest API keys are tested, because
 * older ones may still be encrypted with an earlier secret key.
 */
const MAX_TESTED_TOKENS = 1_000;

const WRONG_KEY_PROBLEM =
  'it is not the key of this database, whose API keys were encrypted with another one';

/** Returns the problem with a secret key; undefined if it is correct. Without a fingerprint, it must decrypt one of the newest API keys, if any. */
export async function findSecretKeyProblem(
  { pool }: Database,
  secretKey: string,
): Promise<string | undefined> {
  const fingerprint = await readStoredFingerprint(pool);
  if (fingerprint)
    return fingerprint.equals(fingerprintOf(secretKey)) ? undefined : WRONG_KEY_PROBLEM;
  if (!(await pool.query(`SELECT to_regclass('token') AS "table"`)).rows[0].table) return undefined;
  const { rows } = await pool.query(
    `SELECT "sealed" FROM "token" ORDER BY "created" DESC LIMIT ${MAX_TESTED_TOKENS}`,
  );
  const tokenVault = new TokenVault(secretKey);
  return !rows.length ||
    rows.some(({ sealed }) => tokenVault.decrypt(sealed as Buffer) !== undefined)
    ? undefined
    : WRONG_KEY_PROBLEM;
}

/** Throws a ConfigError if the configured secret key is not the one that this database has been used with. */
export async function checkSecretKey(database: Database, secretKey: string): Promise<void> {
  const problem = await findSecretKeyProblem(database, secretKey);
  if (problem)
    throw new ConfigError(
      `SECRET_KEY (or the file secret-key in DATA_DIR): ${problem}. Set the key that was used before; fitgraph rotate-key replaces it`,
    );
}

/** Stores the fingerprint of the secret key if there is none yet. Throws a ConfigError if another process has stored a different one first. */
export async function recordKeyFingerprint(database: Database, secretKey: string): Promise<void> {
  await checkSecretKey(database, secretKey);
  await database.queryAsServer(
    'INSERT INTO "secret_key_fingerprint" ("fingerprint") VALUES ($1) ON CONFLICT DO NOTHING',
    [fingerprintOf(secretKey)],
  );
  await checkSecretKey(database, secretKey);
}
