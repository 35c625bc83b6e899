import { KnownError } from '../core/model/errors';
import type { Database } from '../database/connection';
import { lastMigration, migrateDown, migrateUp } from '../database/migrate';
import { confirm } from './asking';
import { noteOf, operate, say, type OperatorContext } from './operator';

/** Every server hears of changes by a connection of this name. */
const SERVERS = `SELECT count(*)::int AS "servers" FROM pg_stat_activity
  WHERE "application_name" = 'fitgraph listener' AND "datname" = current_database()`;

export const migrate = ({ down, yes }: { down?: boolean; yes?: boolean }): Promise<void> =>
  operate((desk) => (down ? takeBack(desk, yes) : apply(desk.database)), { migrate: false });

async function apply(database: Database): Promise<void> {
  const names = await migrateUp(database);
  say(names.length ? `Applied: ${names.join(', ')}` : 'Nothing to do.');
}

async function takeBack({ database, session }: OperatorContext, yes = false): Promise<void> {
  const name = await lastMigration(database);
  if (name === undefined) return say('Nothing to do.');
  const { servers } = (await database.ask(SERVERS))[0]!;
  if (servers)
    throw new KnownError('CONFLICT', 'A server runs on this database, and would fail without what is taken back: stop it first.');
  const question = `${name} will be taken back, with all data that only it has a place for. Type its name to go on: `;
  if (!yes && !(await confirm(question, name))) throw new KnownError('BAD_USER_INPUT', 'That is another name: nothing was changed.');
  const names = await migrateDown(database);
  // The log itself may be what was taken back.
  await noteOf({ kind: 'COMMAND', detail: `migrate --down: ${names.join(', ')}` }, session).catch(() => undefined);
  say(`Taken back: ${names.join(', ')}`);
}
