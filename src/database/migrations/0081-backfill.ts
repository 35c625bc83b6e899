/**
 * A later migration can fill a column of owned rows without changing their versions and without writing each row to the change log. The setting has no effect
 * for roles to which row-level security applies.
 */
import type { Migration } from '../migrate';

export const oldestVersion = '0.3.0';

const skipBackfill = (result: string) => `
  IF current_setting('fitgraph.backfill', true) = 'on' AND NOT row_security_active(TG_RELID) THEN
    RETURN ${result};
  END IF;`;

const functions = (skip: (result: string) => string) => `
CREATE OR REPLACE FUNCTION "fitgraph_stamped"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${skip('NEW')}
  NEW."created_at" := OLD."created_at";
  -- Of two transactions the one that began earlier may write later.
  NEW."updated_at" := greatest(now(), OLD."updated_at");
  NEW."version" := gen_random_uuid();
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION "fitgraph_rows_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${skip('NULL')}
  EXECUTE format('INSERT INTO "change" ("user_id", "table", "row_id", "operation") SELECT %I, %L, "id", %L FROM changed ORDER BY "id"',
    TG_ARGV[0], TG_TABLE_NAME, TG_OP);
  EXECUTE format('SELECT pg_notify(''fitgraph_change'', owner::text) FROM (SELECT DISTINCT %I AS owner FROM changed) owners', TG_ARGV[0]);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION "fitgraph_part_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${skip('NULL')}
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed'
    || CASE TG_OP WHEN 'UPDATE' THEN ' UNION SELECT %1$I FROM former' ELSE '' END || ')', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
`;

export const up: Migration = async (query) => void (await query(functions(skipBackfill)));

export const down: Migration = async (query) => void (await query(functions(() => '')));
