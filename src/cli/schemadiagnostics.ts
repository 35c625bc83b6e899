/** Diagnostics of the database schema: its version, each difference from the objects that the migrations create, and required extensions. */
import type { Database } from '../database/connection';
import { pendingMaintenance, refuseUnsupported, schemaState } from '../database/compatibility';
import { compareSchema } from '../database/schemaobjects';
import type { Note } from './finding';

/** Returns whether no table or column is missing. */
export async function examineSchema(database: Database, note: Note): Promise<boolean> {
  const isPresent = (await database.pool.query(`SELECT to_regclass('migration') AS "table"`)).rows[0].table !== null;
  const newer = isPresent ? await refuseUnsupported(database.pool) : [];
  const isCurrent = (await schemaState(database)) === 'current';
  const isComplete = isCurrent && !newer.length ? await compare(database, note) : undefined;
  const maintenance = isCurrent ? undefined : await pendingMaintenance(database);
  if (maintenance !== undefined)
    note({
      state: 'warning',
      about: 'Schema',
      said: `older than this version; the migration ${maintenance} needs a maintenance window, so this version does not start`,
      advice: 'stop all servers, take a backup and run fitgraph migrate --maintenance',
    });
  else if (!isCurrent) note({ state: 'ok', about: 'Schema', said: 'older than this version; the next start migrates it' });
  else if (newer.length)
    note({ state: 'ok', about: 'Schema', said: `of a newer version that this one supports (${newer[0]}); its objects are not compared` });
  const { rows } = await database.pool.query(
    `SELECT "name" FROM unnest(ARRAY['pg_trgm', 'unaccent']) AS "name" WHERE "name" NOT IN (SELECT "name" FROM pg_available_extensions)`,
  );
  if (rows.length)
    note({
      state: 'failure',
      about: 'Extensions',
      said: `${rows.map(({ name }) => name).join(', ')} missing`,
      advice: "install PostgreSQL's contrib package",
    });
  return isComplete ?? true;
}

async function compare({ pool }: Database, note: Note): Promise<boolean> {
  const { faults, isIncomplete, additions } = await compareSchema(pool);
  for (const said of faults)
    note({ state: 'failure', about: 'Schema', said, advice: 'undo the change, or restore a backup: fitgraph restore FILE --replace' });
  if (additions.length)
    note({
      state: 'warning',
      about: 'Schema',
      said: `${additions.join(', ')}: created by no migration`,
      advice: 'keep own objects in a schema of their own: a later version may create others of the same name',
    });
  if (!faults.length) note({ state: 'ok', about: 'Schema', said: 'up to date, all objects are as the migrations create them' });
  return !isIncomplete;
}
