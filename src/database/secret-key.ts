/**
 * The secret key, from which the keys for encrypting API keys and for signatures are derived:
 * SECRET_KEY, or a key generated at the first start and stored next to the embedded database. The
 * database stores its fingerprint.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { UUID_REGEX_SOURCE } from '../shared/bounds';
import { ConfigError, type Config } from '../shared/config';
import { createFolder } from '../shared/folders';
import { MIN_SECRET_KEY_LENGTH } from '../shared/settings';
import type { Database } from './connection';

export const secretKeyPath = (dataDir: string): string => join(dataDir, 'secret-key');

const RECOVERY_ADVICE =
  'restore it, for example from a backup. If it is lost, write a new one to another file (openssl rand -hex 32 > FILE) and run: fitgraph rotate-key FILE --lost';

/** Loads the secret key, or generates it for a new embedded database. */
export async function loadSecretKey(
  { secretKey, databaseUrl, dataDir }: Config,
  database: Database,
): Promise<string> {
  if (secretKey) return secretKey;
  if (databaseUrl) throw new ConfigError('SECRET_KEY is missing: DATABASE_URL requires it');
  const file = secretKeyPath(dataDir);

  await finishInterruptedKeyChanges(dataDir, database);
  const existingKey = readKey(file);

  if (existingKey !== undefined) return existingKey;

  // Does not generate another key, which would hide that the old one is missing.
  if (await hasAccounts(database)) {
    throw new ConfigError(
      `SECRET_KEY: the file ${file} is missing, but the database has accounts: ${RECOVERY_ADVICE}`,
    );
  }

  writeKey(file, randomBytes(32).toString('hex'));
  // Reads the key back from the file, because a concurrent process may have written its own key
  // first.
  return readKey(file)!;
}

/**
 * Fingerprint that identifies a key without revealing it, derived by HKDF-SHA-256 independently of
 * the keys for encryption and signatures.
 */
export const fingerprintOf = (secretKey: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey, '', 'fitgraph fingerprint', 32));

/** Reads the fingerprint of the secret key that belongs to this database. */
export async function readStoredFingerprint(
  client: Pick<ClientBase, 'query'>,
): Promise<Buffer | undefined> {
  const { rows } = await client.query(
    `SELECT to_regclass('secret_key_fingerprint') IS NOT NULL AS "present"`,
  );

  if (!rows[0].present) return undefined;

  return (await client.query('SELECT "fingerprint" FROM "secret_key_fingerprint"')).rows[0]
    ?.fingerprint as Buffer | undefined;
}

const stagedKeyFileName = (id: string): string => `secret-key.restored-${id}`;
const STAGED_KEY_FILE_PATTERN = new RegExp(`^secret-key\\.restored-(${UUID_REGEX_SOURCE})$`);

/**
 * Stores the key of a restore or rotation in a temporary file. `activateStagedKey` puts it into
 * effect after the rows are committed.
 */
export function stageKey(dataDir: string, id: string, key: string): void {
  createFolder(dataDir);
  fs.writeFileSync(join(dataDir, stagedKeyFileName(id)), `${key}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
}

export const activateStagedKey = (dataDir: string, id: string): void =>
  fs.renameSync(join(dataDir, stagedKeyFileName(id)), secretKeyPath(dataDir));

export const discardStagedKey = (dataDir: string, id: string): void =>
  fs.rmSync(join(dataDir, stagedKeyFileName(id)), { force: true });

/**
 * Activates the staged key of a restore or rotation that was killed between committing its rows and
 * activating the key.
 */
export async function finishInterruptedKeyChanges(
  dataDir: string,
  { pool }: Database,
): Promise<void> {
  const dataDirEntries = fs.existsSync(dataDir) ? fs.readdirSync(dataDir) : [];
  const stagedKeyIds = dataDirEntries.flatMap(
    (name) => STAGED_KEY_FILE_PATTERN.exec(name)?.[1] ?? [],
  );

  if (
    !stagedKeyIds.length ||
    !(await pool.query(`SELECT to_regclass('restored') AS "table"`)).rows[0].table
  ) {
    return;
  }

  const { rows } = await pool.query(
    'SELECT "id" FROM "restored" WHERE "id" = ANY($1) ORDER BY "at"',
    [stagedKeyIds],
  );

  for (const { id } of rows) activateStagedKey(dataDir, id);
  const fingerprint = await readStoredFingerprint(pool);

  const isRotatedKey = (id: string) => {
    const file = join(dataDir, stagedKeyFileName(id));

    return (
      fs.existsSync(file) &&
      fingerprint?.equals(fingerprintOf(fs.readFileSync(file, 'utf8').trim()))
    );
  };

  const rotatedKeyId = stagedKeyIds.find(isRotatedKey);

  if (rotatedKeyId !== undefined) activateStagedKey(dataDir, rotatedKeyId);
}

/** Reads a key file. Throws a ConfigError that ends with `advice` if the key is too short. */
export function readKey(file: string, advice = RECOVERY_ADVICE): string | undefined {
  if (!fs.existsSync(file)) return undefined;
  const key = fs.readFileSync(file, 'utf8').trim();

  if (key.length >= MIN_SECRET_KEY_LENGTH) return key;
  throw new ConfigError(
    `SECRET_KEY: the file ${file} ${key ? `has ${key.length} characters instead of ${MIN_SECRET_KEY_LENGTH} or more` : 'is empty'}: ${advice}`,
  );
}

/** Creates the key file atomically, without replacing an existing one. */
function writeKey(file: string, key: string): void {
  const temporaryFile = `${file}.${randomBytes(4).toString('hex')}`;

  createFolder(join(file, '..'));
  fs.writeFileSync(temporaryFile, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });

  try {
    fs.linkSync(temporaryFile, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(temporaryFile);
  }
}

async function hasAccounts({ pool }: Database): Promise<boolean> {
  const presenceResult = await pool.query(
    `SELECT to_regclass('user_account') IS NOT NULL AS "present"`,
  );

  return (
    presenceResult.rows[0].present &&
    (await pool.query('SELECT EXISTS (SELECT FROM "user_account") AS "some"')).rows[0].some
  );
}
