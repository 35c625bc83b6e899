/** Seeds the database with catalogue data and a demo account. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createUser, getOrCreateApiKey } from '../accounts/accounts';
import type { TokenVault } from '../accounts/tokens';
import { todayIn } from '../engine/declare/clock';
import type { Database } from '../database/connection';
import { User } from '../accounts/user';
import { demo } from '../../seeders/demo';
import { exerciseImages, exercises } from '../../seeders/exercises';
import { ingredients } from '../../seeders/ingredients';
import { reference } from '../../seeders/reference';
import type { Media } from '../files/media';
import { validateDump } from './dump';
import { importDumpRows, type ImportOptions } from './importer';

export const DEMO_USERNAME = 'demo';

export interface SeedOptions {
  database: Database;
  tokenVault: TokenVault;
  timeZone: string;
  reportProgress?: ImportOptions['reportProgress'];
}

export interface DemoAccount {
  username: string;
  password: string;
  token: string;
}

async function isDatabaseEmpty(database: Database): Promise<boolean> {
  const [row] = await database.queryAsServer(
    'SELECT NOT EXISTS (SELECT 1 FROM "language") AS empty',
  );

  return row!.empty;
}

/**
 * Seeds an empty database with catalogue data. Returns false if the database already has such data.
 */
export async function seedReferenceData(
  { database, tokenVault, timeZone, reportProgress }: SeedOptions,
  media: Media,
): Promise<boolean> {
  if (!(await isDatabaseEmpty(database))) return false;

  // Writes image files before rows, so that no row refers to a missing file.
  for (const [path, content] of exerciseImages()) {
    await media.files.write(path, (localPath) => writeFile(localPath, content));
  }

  await importDumpRows(
    validateDump([...reference(), ...exercises(todayIn(timeZone)), ...ingredients()]),
    database,
    {
      tokenVault,
      reportProgress,
    },
  );

  return true;
}

/** Creates the demo account with its data, unless it exists. */
export async function seedDemo({
  database,
  tokenVault,
  timeZone,
  reportProgress,
}: SeedOptions): Promise<DemoAccount | undefined> {
  const session = database.createSession();
  const demoAccountCount = await session.transaction((transaction) =>
    transaction.model(User).count({ where: { username: DEMO_USERNAME } }),
  );

  if (demoAccountCount) return undefined;
  // The password is random, so that no server has a demo account with a publicly known password.
  const password = `demo-${randomBytes(6).toString('hex')}`;
  const id = await createUser({ username: DEMO_USERNAME, password }, session);

  try {
    await importDumpRows(validateDump(demo(todayIn(timeZone), id)), database, {
      tokenVault,
      shouldAssignNewIds: true,
      reportProgress,
    });
  } catch (error) {
    await session.transaction((transaction) => transaction.model(User).destroy({ where: { id } }));
    throw error;
  }

  return {
    username: DEMO_USERNAME,
    password,
    token: await getOrCreateApiKey(id, session, tokenVault),
  };
}
