/**
 * Lets later migrations fill a column of parts without changing the versions of their wholes. Migration 0070 did the same for the trigger functions of owned
 * rows; they are replaced again for databases that an early build of version 0.3 has migrated.
 */
import type { Migration } from '../migrationmodules';
import { rowFunctions, skipBackfill } from './0070-weight-units';

export const oldestVersion = '0.3.0';

const partFunction = (skipSql: (result: string) => string) => `
CREATE OR REPLACE FUNCTION "fitgraph_part_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${skipSql('NULL')}
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed'
    || CASE TG_OP WHEN 'UPDATE' THEN ' UNION SELECT %1$I FROM former' ELSE '' END || ')', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
`;

export const up: Migration = async (query) => {
  await query(rowFunctions(skipBackfill) + partFunction(skipBackfill));
};

export const down: Migration = async (query) => {
  await query(partFunction(() => ''));
};
