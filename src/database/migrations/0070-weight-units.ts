/**
 * Stores with each body weight the unit in which it was logged. Existing rows, and rows that are
 * written without a unit, get the unit that their owner prefers. An update without a unit that does
 * not change the weight keeps the unit.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.3.0';

const IS_BACKFILL_SQL = `current_setting('fitgraph.backfill', true) = 'on' AND NOT row_security_active(TG_RELID)`;

/**
 * SQL: makes a trigger function return `result` and do nothing else while the setting
 * `fitgraph.backfill` is on. The setting has no effect for roles to which row-level security
 * applies.
 */
export const skipBackfillSql = (result: string): string => `
  IF ${IS_BACKFILL_SQL} THEN
    RETURN ${result};
  END IF;`;

/**
 * SQL: trigger functions of the tables whose rows belong to users. While a migration fills a
 * column, they neither change row versions nor write the change log.
 */
export const rowTriggerFunctionsSql = (skipSql: (result: string) => string): string => `
CREATE OR REPLACE FUNCTION "fitgraph_stamped"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${skipSql('NEW')}
  NEW."created_at" := OLD."created_at";
  -- Of two transactions the one that began earlier may write later.
  NEW."updated_at" := greatest(now(), OLD."updated_at");
  NEW."version" := gen_random_uuid();
  RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION "fitgraph_rows_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN${skipSql('NULL')}
  EXECUTE format('INSERT INTO "change" ("user_id", "table", "row_id", "operation") SELECT %I, %L, "id", %L FROM changed ORDER BY "id"',
    TG_ARGV[0], TG_TABLE_NAME, TG_OP);
  EXECUTE format('SELECT pg_notify(''fitgraph_change'', owner::text) FROM (SELECT DISTINCT %I AS owner FROM changed) owners', TG_ARGV[0]);
  RETURN NULL;
END $$;
`;

export const up: OnlineMigration = async (change) => {
  await change.run(rowTriggerFunctionsSql(skipBackfillSql));
  await change.addColumn('weight_entry', 'unit', `varchar(2) NOT NULL DEFAULT 'kg'`);
  await change.run(`
CREATE OR REPLACE FUNCTION "fitgraph_weight_unit"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW."weight" = OLD."weight" THEN
    NEW."unit" := OLD."unit";
  ELSE
    NEW."unit" := coalesce((SELECT p."weight_unit" FROM "user_profile" p WHERE p."user_id" = NEW."user_id"), 'kg');
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER "weight_entry_unit" BEFORE INSERT OR UPDATE ON "weight_entry" FOR EACH ROW WHEN (NEW."unit" IS NULL)
  EXECUTE FUNCTION "fitgraph_weight_unit"();
ALTER TABLE "weight_entry" ALTER COLUMN "unit" DROP DEFAULT;
`);
  const prefersPounds = `"user_id" IN (SELECT p."user_id" FROM "user_profile" p WHERE p."weight_unit" = 'lb')`;

  await change.updateRows('weight_entry', `"unit" = 'lb'`, `"unit" = 'kg' AND ${prefersPounds}`);
};

export const down: OnlineMigration = async (change) => {
  await change.run(`
DROP TRIGGER IF EXISTS "weight_entry_unit" ON "weight_entry";
DROP FUNCTION IF EXISTS "fitgraph_weight_unit"();
ALTER TABLE "weight_entry" DROP COLUMN IF EXISTS "unit";
`);
  await change.run(rowTriggerFunctionsSql(() => ''));
};
