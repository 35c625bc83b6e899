/** The reference data and the demo account. */
import { randomBytes } from 'node:crypto';
import { createUser, tokenOf } from '../auth/accounts';
import type { TokenVault } from '../auth/tokens';
import { today } from '../core/model/clock';
import type { Database } from '../database/connection';
import { User } from '../resources/user';
import { demo } from '../../seeders/demo';
import { exercises } from '../../seeders/exercises';
import { ingredients } from '../../seeders/ingredients';
import { reference } from '../../seeders/reference';
import { asDump } from './dump';
import { writeRows, type WriteOptions } from './writer';

export const DEMO_NAME = 'demo';

export interface Seeding {
  database: Database;
  vault: TokenVault;
  timeZone: string;
  progress?: WriteOptions['progress'];
}

export interface DemoAccount {
  username: string;
  password: string;
  token: string;
}

async function isEmpty(database: Database): Promise<boolean> {
  const [row] = await database.ask('SELECT NOT EXISTS (SELECT 1 FROM "language") AS empty');
  return row!.empty;
}

/** Fills a database that has none; false where it has some already, and nothing was done. */
export async function seedReference({ database, vault, timeZone, progress }: Seeding): Promise<boolean> {
  if (!(await isEmpty(database))) return false;
  await writeRows(asDump([...reference(), ...exercises(today(timeZone)), ...ingredients()]), database, { vault, progress });
  return true;
}

/** Undefined where there is a demo account already, and nothing was done. */
export async function seedDemo({ database, vault, timeZone, progress }: Seeding): Promise<DemoAccount | undefined> {
  const session = database.session();
  const isThere = await session.transaction((transaction) =>
    User.count({ where: { username: DEMO_NAME }, transaction, ...session.counted }),
  );
  if (isThere) return undefined;
  // Made anew for every installation, so that no server on a network has a demo account that everybody can enter.
  const password = `demo-${randomBytes(6).toString('hex')}`;
  const id = await createUser({ username: DEMO_NAME, password }, session);
  try {
    await writeRows(asDump(demo(today(timeZone), id)), database, { vault, renumber: true, progress });
  } catch (error) {
    await session.transaction((transaction) => User.destroy({ where: { id }, transaction, ...session.counted }));
    throw error;
  }
  return { username: DEMO_NAME, password, token: await tokenOf(id, session, vault) };
}
