/** The secret key that encrypts API keys: from SECRET_KEY, or generated at the first start and stored beside the embedded database. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { UUID_SOURCE } from '../contract/bounds';
import { ConfigError, type Config } from '../platform/config';
import { createFolder } from '../platform/folders';
import { MIN_SECRET_KEY } from '../platform/settings';
import type { Database } from './connection';

export const keyFile = (dataDir: string): string => join(dataDir, 'secret-key');

const HOW =
  'restore it, for example from a backup. If it is lost, create a new one (openssl rand -hex 32); existing tokens remain valid but can no longer be shown';

export async function secretKeyOf({ secretKey, databaseUrl, dataDir }: Config, database: Database): Promise<string> {
  if (secretKey) return secretKey;
  if (databaseUrl) throw new ConfigError('SECRET_KEY is missing: DATABASE_URL requires it');
  const file = keyFile(dataDir);
  await publishRestored(dataDir, database);
  const kept = readKey(file);
  if (kept !== undefined) return kept;
  // Generating another key would hide that the old one is missing.
  if (await hasAccounts(database)) throw new ConfigError(`SECRET_KEY: the file ${file} is missing, but the database has accounts: ${HOW}`);
  writeKey(file, randomBytes(32).toString('hex'));
  // A concurrent process may have written its key first.
  return readKey(file)!;
}

const stagedName = (id: string): string => `secret-key.restored-${id}`;
const STAGED = new RegExp(`^secret-key\\.restored-(${UUID_SOURCE})$`);

/** Stores the key of a backup, to be published after its rows are committed. */
export function stageKey(dataDir: string, id: string, key: string): void {
  createFolder(dataDir);
  fs.writeFileSync(join(dataDir, stagedName(id)), `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
}

export const publishKey = (dataDir: string, id: string): void => fs.renameSync(join(dataDir, stagedName(id)), keyFile(dataDir));

export const discardKey = (dataDir: string, id: string): void => fs.rmSync(join(dataDir, stagedName(id)), { force: true });

/** Publishes the key of a restore that committed its rows and was killed before publishing the key. */
async function publishRestored(dataDir: string, { pool }: Database): Promise<void> {
  const ids = fs.existsSync(dataDir) ? fs.readdirSync(dataDir).flatMap((name) => STAGED.exec(name)?.[1] ?? []) : [];
  if (!ids.length || !(await pool.query(`SELECT to_regclass('restored') AS "table"`)).rows[0].table) return;
  const { rows } = await pool.query('SELECT "id" FROM "restored" WHERE "id" = ANY($1) ORDER BY "at"', [ids]);
  for (const { id } of rows) publishKey(dataDir, id);
}

/** Undefined if the file does not exist. */
export function readKey(file: string): string | undefined {
  if (!fs.existsSync(file)) return undefined;
  const key = fs.readFileSync(file, 'utf8').trim();
  if (key.length >= MIN_SECRET_KEY) return key;
  throw new ConfigError(
    `SECRET_KEY: the file ${file} ${key ? `has ${key.length} characters instead of ${MIN_SECRET_KEY} or more` : 'is empty'}: ${HOW}`,
  );
}

/** Creates the file atomically; an existing file is not replaced. */
function writeKey(file: string, key: string): void {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  createFolder(join(file, '..'));
  fs.writeFileSync(draft, `${key}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    fs.linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(draft);
  }
}

async function hasAccounts({ pool }: Database): Promise<boolean> {
  const present = await pool.query(`SELECT to_regclass('user_account') IS NOT NULL AS "present"`);
  return present.rows[0].present && (await pool.query('SELECT EXISTS (SELECT FROM "user_account") AS "some"')).rows[0].some;
}
