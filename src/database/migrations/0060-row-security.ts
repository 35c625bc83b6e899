/**
 * Row-level security: whoever is bound by it sees and writes rows of the viewer alone, as `fitgraph.viewer` names them, and none where it names
 * nobody. The owner of the tables is not bound: neither are its commands, what follows from a foreign key, and views of its own.
 */
import type { Migration } from '../migrate';

/** Tables of owned rows, with the column of the owner. */
const OWNED: Record<string, string> = {
  user_account: 'id',
  user_profile: 'user_id',
  workout: 'user_id',
  training_day: 'user_id',
  training_day_weekday: 'user_id',
  workout_set: 'user_id',
  setting: 'user_id',
  workout_session: 'user_id',
  workout_log: 'user_id',
  schedule: 'user_id',
  schedule_step: 'user_id',
  nutrition_plan: 'user_id',
  meal: 'user_id',
  meal_item: 'user_id',
  diary_entry: 'user_id',
  weight_entry: 'user_id',
  // What the service keeps of a user.
  idempotency_key: 'user_id',
  idempotency_usage: 'user_id',
};

/** A query of its own, so that it is worked out once for a statement. */
const VIEWER = `(SELECT nullif(current_setting('fitgraph.viewer', true), '')::integer)`;

export const up: Migration = async (query) => {
  for (const [table, owner] of Object.entries(OWNED))
    await query(`
ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "own_rows" ON "${table}" USING ("${owner}" = ${VIEWER}) WITH CHECK ("${owner}" = ${VIEWER});`);
  await query(`
-- Everybody's changes are noted, by whatever makes them; whoever signs in is nobody yet.
ALTER TABLE "change" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "own_changes" ON "change" FOR SELECT USING ("user_id" IS NULL OR "user_id" = ${VIEWER});
CREATE POLICY "noted" ON "change" FOR INSERT WITH CHECK (true);

-- Where accounts are looked up before it is known who asks.
CREATE VIEW "account" AS SELECT "id", "username", "password", "is_superuser", "is_active", "last_login" FROM "user_account";
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP VIEW "account";
DROP POLICY "own_changes" ON "change";
DROP POLICY "noted" ON "change";
ALTER TABLE "change" DISABLE ROW LEVEL SECURITY;`);
  for (const table of Object.keys(OWNED))
    await query(`DROP POLICY "own_rows" ON "${table}"; ALTER TABLE "${table}" DISABLE ROW LEVEL SECURITY;`);
};
