/**
 * Owned rows carry when they were made and last changed, and a version that changes with them. The database sets all three, whoever writes. Of
 * rows from before nobody knows the moments, so theirs is that of this migration.
 */
import type { Migration } from '../migrate';
import { stamped, unstamped } from '../stamps';

const OWNED = [
  ...['user_account', 'user_profile', 'workout', 'training_day', 'workout_set', 'setting', 'workout_session', 'workout_log', 'schedule'],
  ...['schedule_step', 'nutrition_plan', 'meal', 'meal_item', 'diary_entry', 'weight_entry'],
];

export const up: Migration = async (query) => {
  await query(`
-- A version is drawn, not counted: that of a row which was restored or imported anew is never one that somebody has seen before.
CREATE FUNCTION "fitgraph_stamped"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."created_at" := OLD."created_at";
  -- Of two transactions the one that began earlier may write later.
  NEW."updated_at" := greatest(now(), OLD."updated_at");
  NEW."version" := gen_random_uuid();
  RETURN NEW;
END $$;
${OWNED.map(stamped).join('')}

-- The row itself is written, and its own triggers log that. The links of a row that goes itself find none.
CREATE OR REPLACE FUNCTION "fitgraph_links_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed)', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
`);
};

export const down: Migration = async (query) => {
  await query(`
CREATE OR REPLACE FUNCTION "fitgraph_links_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO "change" ("user_id", "table", "row_id", "operation")
    SELECT DISTINCT r."user_id", %2$L, r."id", ''UPDATE'' FROM changed c JOIN %2$I r ON r."id" = c.%1$I', TG_ARGV[0], TG_ARGV[1]);
  PERFORM pg_notify('fitgraph_change', "user_id"::text) FROM changed GROUP BY "user_id";
  RETURN NULL;
END $$;
${OWNED.map(unstamped).join('')}
DROP FUNCTION "fitgraph_stamped"();
`);
};
