/**
 * The log of changes knows on which server it goes on. A database that was put back, or a standby that has taken over, lacks transactions that
 * clients have seen, and gives their numbers to others. So every start of PostgreSQL begins a new log that goes on with the one before, up to
 * the number from which on that server has counted; a cursor that has seen more than that tells of what is no longer there.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "former_change_log" (
  "id" uuid PRIMARY KEY,
  "ended" xid8 NOT NULL,
  "at" timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE "change_log" ADD COLUMN "server" text NOT NULL DEFAULT '';
UPDATE "change_log" SET "place" = format('%s/%s', "place", 'change_log'::regclass::oid) WHERE "place" <> '';

-- By its start: whatever is put back is started.
CREATE FUNCTION "fitgraph_server"() RETURNS text LANGUAGE sql STABLE AS $$ SELECT extract(epoch FROM pg_postmaster_start_time())::text $$;

-- The first number of a transaction that this server may have given itself: those before are the same on all that went on from here.
CREATE FUNCTION "fitgraph_first_transaction"() RETURNS xid8 LANGUAGE plpgsql AS $$
DECLARE
  "counted" text;
BEGIN
  SELECT (split_part("next_xid", ':', 1)::numeric * 4294967296 + split_part("next_xid", ':', 2)::numeric)::text
    INTO "counted" FROM pg_control_checkpoint();
  RETURN least("counted"::xid8, pg_snapshot_xmax(pg_current_snapshot()));
EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
  RETURN pg_snapshot_xmin(pg_current_snapshot());
END $$;

-- In a copy of the database, such as a restored dump, all transactions have other numbers, so that nothing is gone on with.
CREATE FUNCTION "fitgraph_take_place"() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "here" text;
  "log" "change_log";
BEGIN
  SELECT format('%s/%s/%s', c."system_identifier", d."oid", 'change_log'::regclass::oid) INTO "here"
    FROM pg_control_system() c, pg_database d WHERE d."datname" = current_database();
  SELECT * INTO "log" FROM "change_log" FOR UPDATE;
  IF "log"."place" <> "here" THEN
    DELETE FROM "former_change_log";
    DELETE FROM "change";
    DELETE FROM "table_change";
    UPDATE "change_log" SET "id" = gen_random_uuid(), "place" = "here", "server" = "fitgraph_server"();
  ELSIF "log"."server" = '' THEN
    UPDATE "change_log" SET "server" = "fitgraph_server"();
  ELSIF "log"."server" <> "fitgraph_server"() THEN
    INSERT INTO "former_change_log" ("id", "ended") VALUES ("log"."id", "fitgraph_first_transaction"());
    UPDATE "change_log" SET "id" = gen_random_uuid(), "server" = "fitgraph_server"();
  END IF;
END $$;

CREATE OR REPLACE FUNCTION "fitgraph_log_broken"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "former_change_log";
  UPDATE "change_log" SET "id" = gen_random_uuid();
  INSERT INTO "table_change" ("table") VALUES (TG_TABLE_NAME) ON CONFLICT DO NOTHING;
  PERFORM pg_notify('fitgraph_change', '');
  RETURN NULL;
END $$;
`);
};

export const down: Migration = async (query) => {
  await query(`
CREATE OR REPLACE FUNCTION "fitgraph_log_broken"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "change_log" SET "id" = gen_random_uuid();
  INSERT INTO "table_change" ("table") VALUES (TG_TABLE_NAME) ON CONFLICT DO NOTHING;
  PERFORM pg_notify('fitgraph_change', '');
  RETURN NULL;
END $$;
DROP FUNCTION "fitgraph_take_place"();
DROP FUNCTION "fitgraph_first_transaction"();
DROP FUNCTION "fitgraph_server"();
UPDATE "change_log" SET "place" = regexp_replace("place", '^([0-9]+/[0-9]+)/[0-9]+$', '\\1');
ALTER TABLE "change_log" DROP COLUMN "server";
DROP TABLE "former_change_log";
`);
};
