/** Runs one import of the catalogue at a time. */
import type { Client } from 'pg';
import { ADVISORY_LOCK_KEYS } from '../../database/advisory-locks';
import type { Database } from '../../database/connection';
import { failImport } from '../dump';

/** Throws BAD_USER_INPUT if another import runs. */
export const importExclusively = <T>(
  database: Database,
  work: (client: Client) => Promise<T>,
): Promise<T> =>
  database.withoutTimeouts(async (client) => {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS "isLocked"', [
      ADVISORY_LOCK_KEYS.catalogue,
    ]);

    if (!rows[0].isLocked) failImport('Another import of the catalogue runs.');

    return work(client);
  });
