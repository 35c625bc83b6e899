/**
 * Tables for idempotency keys with the stored responses and their size, for the query cost that
 * each client has spent (budgets), for contributors of images, for files to be removed, and for
 * restored backups.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
-- For the meaning see idempotency.ts. "instance" is the process that has claimed the key. Once it has ended, the key can be claimed again.
CREATE TABLE "idempotency_key" (
  "user_id" integer NOT NULL REFERENCES "user_account" ("id") ON DELETE CASCADE,
  "key" varchar(255) NOT NULL,
  "request" bytea NOT NULL,
  "claim" uuid,
  "written" boolean NOT NULL DEFAULT false,
  "status" smallint,
  "headers" json,
  "body" bytea,
  "at" timestamptz NOT NULL DEFAULT now(),
  "instance" integer,
  PRIMARY KEY ("user_id", "key")
);
CREATE INDEX ON "idempotency_key" ("at");

-- Total size of the stored responses of each user, which is limited.
CREATE TABLE "idempotency_usage" (
  "user_id" integer PRIMARY KEY REFERENCES "user_account" ("id") ON DELETE CASCADE,
  "bytes" bigint NOT NULL CHECK ("bytes" >= 0)
);

CREATE FUNCTION "forget_answer"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "idempotency_usage" SET "bytes" = "bytes" - octet_length(OLD."body") WHERE "user_id" = OLD."user_id";
  RETURN NULL;
END $$;
CREATE TRIGGER "idempotency_key_answer_replaced" AFTER UPDATE OF "body" ON "idempotency_key" FOR EACH ROW
  WHEN (OLD."body" IS NOT NULL) EXECUTE FUNCTION "forget_answer"();

CREATE FUNCTION "forget_answers"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "idempotency_usage" u SET "bytes" = u."bytes" - gone."bytes"
    FROM (SELECT "user_id", sum(octet_length("body")) AS "bytes" FROM "deleted" WHERE "body" IS NOT NULL GROUP BY "user_id") AS gone
    WHERE u."user_id" = gone."user_id";
  RETURN NULL;
END $$;
CREATE TRIGGER "idempotency_key_answers_deleted" AFTER DELETE ON "idempotency_key" REFERENCING OLD TABLE AS "deleted"
  FOR EACH STATEMENT EXECUTE FUNCTION "forget_answers"();

-- Cost that users and network addresses have spent on operations, in all instances together. A crash of PostgreSQL empties this table, which only resets the
-- budgets.
CREATE UNLOGGED TABLE "budget" (
  "key" text COLLATE "C" PRIMARY KEY,
  "level" double precision NOT NULL,
  "rate" double precision NOT NULL,
  "at" timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON "budget" ("at");

-- The user who added an image, and the size of the image, whose total is limited for each user. It is not part of "exercise_image", because the catalogue
-- refers to no accounts, and images are kept when all accounts are deleted, for example by an import.
CREATE TABLE "exercise_image_contributor" (
  "row_id" integer PRIMARY KEY REFERENCES "exercise_image" ("id") ON DELETE CASCADE,
  "user_id" integer NOT NULL REFERENCES "user_account" ("id") ON DELETE CASCADE,
  "bytes" bigint NOT NULL DEFAULT 0 CHECK ("bytes" >= 0)
);
CREATE INDEX ON "exercise_image_contributor" ("user_id");

-- Files of deleted rows, recorded in the transaction of the deletion. A server deletes the file and sets "settled". The row stays, so that no other file gets
-- the path: browsers cache its content for a year.
CREATE TABLE "removed_file" (
  "path" text COLLATE "C" PRIMARY KEY,
  "settled" boolean NOT NULL DEFAULT false
);
CREATE INDEX ON "removed_file" ("path") WHERE NOT "settled";

CREATE FUNCTION "note_removed_image"() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  INSERT INTO "removed_file" VALUES (OLD."image") ON CONFLICT ("path") DO UPDATE SET "settled" = false;
  PERFORM pg_notify('fitgraph_removed_file', '');
  RETURN NULL;
END $body$;
CREATE TRIGGER "exercise_image_file_removed" AFTER DELETE OR UPDATE OF "image" ON "exercise_image"
  FOR EACH ROW EXECUTE FUNCTION "note_removed_image"();

-- Restored backups, recorded in the transaction of their rows. If a restore was killed, its files and its secret key are published only if its id is here.
CREATE TABLE "restored" (
  "id" uuid PRIMARY KEY,
  "taken" timestamptz NOT NULL,
  "program" text NOT NULL,
  "at" timestamptz NOT NULL DEFAULT now()
);
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP TABLE "restored", "removed_file", "exercise_image_contributor", "budget", "idempotency_usage", "idempotency_key";
DROP FUNCTION "note_removed_image"() CASCADE;
DROP FUNCTION "forget_answers"();
DROP FUNCTION "forget_answer"();
`);
};
