/**
 * Lets later migrations fill a column of parts, such as meals, without changing the versions of the
 * wholes to which they belong, such as nutrition plans. Also replaces the trigger functions of
 * migration 0070 once more, because an early build of version 0.3 created them without this
 * exception for migrations.
 */
import type { Migration } from '../migration-modules';
import { rowTriggerFunctionsSql, skipBackfillSql } from './0070-weight-units';

export const oldestVersion = '0.3.0';

const partChangedFunctionSql = (skipSql: (result: string) => string) => `
CREATE OR REPLACE FUNCTION "fitgraph_part_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${skipSql('NULL')}
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed'
    || CASE TG_OP WHEN 'UPDATE' THEN ' UNION SELECT %1$I FROM former' ELSE '' END || ')', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
`;

export const up: Migration = async (query) => {
  await query(rowTriggerFunctionsSql(skipBackfillSql) + partChangedFunctionSql(skipBackfillSql));
};

export const down: Migration = async (query) => {
  await query(partChangedFunctionSql(() => ''));
};
