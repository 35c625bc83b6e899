/**
 * What all tables of users' rows have in common. Creates the triggers that set versions and times of changes, those that log changes, and row-level
 * security.
 */
import type { Migration } from '../migrate';

/** Tables of owned rows, with the column of the owner. */
const OWNED = Object.entries({
  user_account: 'id',
  user_profile: 'user_id',
  workout: 'user_id',
  training_day: 'user_id',
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
});

/** The links of training days to weekdays are part of the training day. */
const LINK = 'training_day_weekday';

/** Rows of the service itself about a user: they have neither versions nor logged changes. */
const INTERNAL = ['idempotency_key', 'idempotency_usage'];

/** The user in whose name a request runs; null denies all rows. A subquery, so that it is evaluated once for a statement. */
const VIEWER = `(SELECT nullif(current_setting('fitgraph.viewer', true), '')::integer)`;

const stamped = (table: string) => `
CREATE TRIGGER "${table}_stamped" BEFORE UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "fitgraph_stamped"();`;

const logged = (table: string, call: string) =>
  Object.entries({ INSERT: 'NEW', UPDATE: 'NEW', DELETE: 'OLD' })
    .map(
      ([operation, rows]) => `
CREATE TRIGGER "${table}_${operation.toLowerCase()}_logged" AFTER ${operation} ON "${table}"
  REFERENCING ${rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${call};`,
    )
    .join('') +
  `
CREATE TRIGGER "${table}_truncate_logged" AFTER TRUNCATE ON "${table}" FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_log_broken"();`;

const guarded = (table: string, owner = 'user_id') => `
ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "own_rows" ON "${table}" USING ("${owner}" = ${VIEWER}) WITH CHECK ("${owner}" = ${VIEWER});`;

const GUARDED: [table: string, owner?: string][] = [...OWNED, [LINK], ...INTERNAL.map((table): [string] => [table])];

export const up: Migration = async (query) => {
  await query(`
-- Versions are random, not counted: a row that was restored or imported again never has a version that a client has already seen.
CREATE FUNCTION "fitgraph_stamped"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."created_at" := OLD."created_at";
  -- Of two transactions the one that began earlier may write later.
  NEW."updated_at" := greatest(now(), OLD."updated_at");
  NEW."version" := gen_random_uuid();
  RETURN NEW;
END $$;
${OWNED.map(([table]) => stamped(table)).join('')}

CREATE FUNCTION "fitgraph_rows_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO "change" ("user_id", "table", "row_id", "operation") SELECT %I, %L, "id", %L FROM changed ORDER BY "id"',
    TG_ARGV[0], TG_TABLE_NAME, TG_OP);
  EXECUTE format('SELECT pg_notify(''fitgraph_change'', owner::text) FROM (SELECT DISTINCT %I AS owner FROM changed) owners', TG_ARGV[0]);
  RETURN NULL;
END $$;
${OWNED.map(([table, owner]) => logged(table, `"fitgraph_rows_changed"('${owner}')`)).join('')}

-- Updates the linked row, whose own triggers set its version and log the change. If that row is being deleted, no row matches.
CREATE FUNCTION "fitgraph_links_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed)', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
${logged(LINK, `"fitgraph_links_changed"('training_day_id', 'training_day')`)}

-- Row-level security binds the role of requests to the rows of the viewer. The owner of the tables is not bound: neither are commands, cascades of foreign
-- keys, and the view below.
${GUARDED.map(([table, owner]) => guarded(table, owner)).join('')}

-- Triggers log changes of every user, independently of the viewer.
ALTER TABLE "change" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "own_changes" ON "change" FOR SELECT USING ("user_id" IS NULL OR "user_id" = ${VIEWER});
CREATE POLICY "noted" ON "change" FOR INSERT WITH CHECK (true);

-- Accounts as the login reads them, before there is a viewer.
CREATE VIEW "account" AS SELECT "id", "username", "password", "is_superuser", "is_active", "last_login" FROM "user_account";
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP VIEW "account";
DROP POLICY "noted" ON "change";
DROP POLICY "own_changes" ON "change";
ALTER TABLE "change" DISABLE ROW LEVEL SECURITY;
${GUARDED.map(([table]) => `DROP POLICY "own_rows" ON "${table}"; ALTER TABLE "${table}" DISABLE ROW LEVEL SECURITY;`).join('\n')}
${[...OWNED, [LINK]].map(([table]) => `DROP TRIGGER "${table}_truncate_logged" ON "${table}";`).join('\n')}
DROP FUNCTION "fitgraph_links_changed"() CASCADE;
DROP FUNCTION "fitgraph_rows_changed"() CASCADE;
DROP FUNCTION "fitgraph_stamped"() CASCADE;
`);
};
