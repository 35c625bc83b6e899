/**
 * Common properties of all tables whose rows belong to users (owned rows): triggers that set the
 * row version and the time of the change, triggers that write the change log, and row-level
 * security.
 */
import type { Migration } from '../migrate';

/** Tables whose rows belong to users, with the column that contains the owner. */
const OWNED_TABLES = Object.entries({
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

/**
 * Table that links training days to weekdays. Its rows have no versions of their own: a change of a
 * link is a change of the training day.
 */
const LINK_TABLE = 'training_day_weekday';

/**
 * Internal tables with rows about a user. They have row-level security, but no versions, and their
 * changes are not logged.
 */
const INTERNAL_TABLES = ['idempotency_key', 'idempotency_usage'];

/**
 * SQL: id of the session user, or NULL, which gives access to no row. It is a subquery, because
 * PostgreSQL evaluates a subquery once per statement.
 */
const SESSION_USER_SQL = `(SELECT nullif(current_setting('fitgraph.viewer', true), '')::integer)`;

const rowVersionTriggerSql = (table: string) => `
CREATE TRIGGER "${table}_stamped" BEFORE UPDATE ON "${table}" FOR EACH ROW EXECUTE FUNCTION "fitgraph_stamped"();`;

const changeLogTriggersSql = (table: string, call: string) =>
  Object.entries({ INSERT: 'NEW', UPDATE: 'NEW', DELETE: 'OLD' })
    .map(
      ([operation, rows]) => `
CREATE TRIGGER "${table}_${operation.toLowerCase()}_logged" AFTER ${operation} ON "${table}"
  REFERENCING ${rows} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION ${call};`,
    )
    .join('') +
  `
CREATE TRIGGER "${table}_truncate_logged" AFTER TRUNCATE ON "${table}" FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_log_broken"();`;

const rowLevelSecuritySql = (table: string, owner = 'user_id') => `
ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "own_rows" ON "${table}" USING ("${owner}" = ${SESSION_USER_SQL}) WITH CHECK ("${owner}" = ${SESSION_USER_SQL});`;

const TABLES_WITH_ROW_SECURITY: [table: string, owner?: string][] = [
  ...OWNED_TABLES,
  [LINK_TABLE],
  ...INTERNAL_TABLES.map((table): [string] => [table]),
];

export const up: Migration = async (query) => {
  await query(`
-- Versions are random instead of counted, so that a row that is restored or imported again does not get a version that a client has already seen.
CREATE FUNCTION "fitgraph_stamped"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."created_at" := OLD."created_at";
  -- Of two transactions the one that began earlier may write later.
  NEW."updated_at" := greatest(now(), OLD."updated_at");
  NEW."version" := gen_random_uuid();
  RETURN NEW;
END $$;
${OWNED_TABLES.map(([table]) => rowVersionTriggerSql(table)).join('')}

CREATE FUNCTION "fitgraph_rows_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('INSERT INTO "change" ("user_id", "table", "row_id", "operation") SELECT %I, %L, "id", %L FROM changed ORDER BY "id"',
    TG_ARGV[0], TG_TABLE_NAME, TG_OP);
  EXECUTE format('SELECT pg_notify(''fitgraph_change'', owner::text) FROM (SELECT DISTINCT %I AS owner FROM changed) owners', TG_ARGV[0]);
  RETURN NULL;
END $$;
${OWNED_TABLES.map(([table, owner]) => changeLogTriggersSql(table, `"fitgraph_rows_changed"('${owner}')`)).join('')}

-- Updates the row to which the link belongs, whose own triggers set its version and log the change. If that row is being deleted, no row matches.
CREATE FUNCTION "fitgraph_links_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %2$I SET "version" = "version" WHERE "id" IN (SELECT %1$I FROM changed)', TG_ARGV[0], TG_ARGV[1]);
  RETURN NULL;
END $$;
${changeLogTriggersSql(LINK_TABLE, `"fitgraph_links_changed"('training_day_id', 'training_day')`)}

-- Row-level security restricts the role of requests to the rows of the viewer. It does not apply to the owner of the tables, and so not to commands, cascades
-- of foreign keys, and the view below.
${TABLES_WITH_ROW_SECURITY.map(([table, owner]) => rowLevelSecuritySql(table, owner)).join('')}

-- The viewer reads only their own changes, but the triggers may log changes of any user.
ALTER TABLE "change" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "own_changes" ON "change" FOR SELECT USING ("user_id" IS NULL OR "user_id" = ${SESSION_USER_SQL});
CREATE POLICY "noted" ON "change" FOR INSERT WITH CHECK (true);

-- Accounts for the login, which reads them before there is a viewer.
CREATE VIEW "account" AS SELECT "id", "username", "password", "is_superuser", "is_active", "last_login" FROM "user_account";
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP VIEW "account";
DROP POLICY "noted" ON "change";
DROP POLICY "own_changes" ON "change";
ALTER TABLE "change" DISABLE ROW LEVEL SECURITY;
${TABLES_WITH_ROW_SECURITY.map(([table]) => `DROP POLICY "own_rows" ON "${table}"; ALTER TABLE "${table}" DISABLE ROW LEVEL SECURITY;`).join('\n')}
${[...OWNED_TABLES, [LINK_TABLE]].map(([table]) => `DROP TRIGGER "${table}_truncate_logged" ON "${table}";`).join('\n')}
DROP FUNCTION "fitgraph_links_changed"() CASCADE;
DROP FUNCTION "fitgraph_rows_changed"() CASCADE;
DROP FUNCTION "fitgraph_stamped"() CASCADE;
`);
};
