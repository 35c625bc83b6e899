/** The secret key of a database: a start with another one is refused, because it could not show the API keys that were encrypted with the first. */
import { fingerprintOf, storedFingerprint } from '../database/secretkey';
import type { Database } from '../database/connection';
import { ConfigError } from '../platform/config';
import { TokenVault } from './tokens';

/** The newest tokens decide about a database without a fingerprint: only they can have been encrypted after a key was replaced. */
const MAX_TESTED_TOKENS = 1_000;

const PROBLEM = 'it is not the key of this database, whose API keys were encrypted with another one';

/** What is wrong with the key; undefined for the right one. Without a fingerprint the key must decrypt at least one of the newest tokens, if there are any. */
export async function secretKeyProblem({ pool }: Database, secretKey: string): Promise<string | undefined> {
  const fingerprint = await storedFingerprint(pool);
  if (fingerprint) return fingerprint.equals(fingerprintOf(secretKey)) ? undefined : PROBLEM;
  if (!(await pool.query(`SELECT to_regclass('token') AS "table"`)).rows[0].table) return undefined;
  const { rows } = await pool.query(`SELECT "sealed" FROM "token" ORDER BY "created" DESC LIMIT ${MAX_TESTED_TOKENS}`);
  const vault = new TokenVault(secretKey);
  return !rows.length || rows.some(({ sealed }) => vault.open(sealed as Buffer) !== undefined) ? undefined : PROBLEM;
}

/** Throws a ConfigError for a key that does not belong to this database. */
export async function checkSecretKey(database: Database, secretKey: string): Promise<void> {
  const problem = await secretKeyProblem(database, secretKey);
  if (problem)
    throw new ConfigError(
      `SECRET_KEY (or the file secret-key in DATA_DIR): ${problem}. Set the key that was used before; fitgraph rotate-key replaces it`,
    );
}

/** Stores the fingerprint of the key if there is none yet. Another process may store that of another key first, which is refused then. */
export async function recordSecretKey(database: Database, secretKey: string): Promise<void> {
  await checkSecretKey(database, secretKey);
  await database.ask('INSERT INTO "secret_key_fingerprint" ("fingerprint") VALUES ($1) ON CONFLICT DO NOTHING', [fingerprintOf(secretKey)]);
  await checkSecretKey(database, secretKey);
}
