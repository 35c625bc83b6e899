/** Seeding of reference data and of a demo account. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createUser, getOrCreateApiKey } from '../auth/accounts';
import type { TokenVault } from '../auth/tokens';
import { todayIn } from '../core/model/clock';
import type { Database } from '../database/connection';
import { User } from '../resources/user';
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

async function hasNoReferenceData(database: Database): Promise<boolean> {
  const [row] = await database.queryAsServer(
    'SELECT NOT EXISTS (SELECT 1 FROM "language") AS empty',
  );
  return row!.empty;
}

/** Seeds an empty database. Returns false, and changes nothing, if it already has reference data. */
export async function seedReferenceData(
  { database, tokenVault, timeZone, reportProgress }: SeedOptions,
  media: Media,
): Promise<boolean> {
  if (!(await hasNoReferenceData(database))) return false;
  // Image files are written before the rows that refer to them, so that no row refers to a missing file.
  for (const [path, content] of exerciseImages())
    await media.files.write(path, (localPath) => writeFile(localPath, content));
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

/** Creates the demo account with its data. Returns undefined, and changes nothing, if it already exists. */
export async function seedDemo({
  database,
  tokenVault,
  timeZone,
  reportProgress,
}: SeedOptions): Promise<DemoAccount | undefined> {
  const session = database.createSession();
  const demoAccountCount = await session.transaction((transaction) =>
    User.count({ where: { username: DEMO_USERNAME }, transaction, ...session.sequelizeOptions }),
  );
  if (demoAccountCount) return undefined;
  // The password is random for each installation, so that no server has a demo account with a publicly known password.
  const password = `demo-${randomBytes(6).toString('hex')}`;
  const id = await createUser({ username: DEMO_USERNAME, password }, session);
  try {
    await importDumpRows(validateDump(demo(todayIn(timeZone), id)), database, {
      tokenVault,
      shouldAssignNewIds: true,
      reportProgress,
    });
  } catch (error) {
    await session.transaction((transaction) =>
      User.destroy({ where: { id }, transaction, ...session.sequelizeOptions }),
    );
    throw error;
  }
  return {
    username: DEMO_USERNAME,
    password,
    token: await getOrCreateApiKey(id, session, tokenVault),
  };
}
