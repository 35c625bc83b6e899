/**
 * What the service keeps of requests and files. Creates the requests that were sent with an Idempotency-Key and the bytes of their responses; the spent
 * budgets of users and addresses; contributors and removed files of images; and the backups that were restored.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
-- Documented in idempotency.ts. "instance" holds the claim: the key is free once that process has ended.
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

-- Bytes of the stored responses of each user, which are limited.
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

-- What users and addresses have spent on operations, summed over all instances. A crash empties it, so everybody starts again.
CREATE UNLOGGED TABLE "budget" (
  "key" text COLLATE "C" PRIMARY KEY,
  "level" double precision NOT NULL,
  "rate" double precision NOT NULL,
  "at" timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON "budget" ("at");

-- Who added an image, and its size, which is limited for each user. Not a column of the image: the catalogue names no accounts, and images stay when
-- all accounts are deleted, as by an import.
CREATE TABLE "exercise_image_contributor" (
  "row_id" integer PRIMARY KEY REFERENCES "exercise_image" ("id") ON DELETE CASCADE,
  "user_id" integer NOT NULL REFERENCES "user_account" ("id") ON DELETE CASCADE,
  "bytes" bigint NOT NULL DEFAULT 0 CHECK ("bytes" >= 0)
);
CREATE INDEX ON "exercise_image_contributor" ("user_id");

-- Files of deleted rows, recorded in the transaction of the deletion. A server deletes them and sets "settled". The path stays: browsers cache for a year
-- what they got there, so that no other file may have it.
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

-- Restored backups, recorded in the transaction of their rows: the files and the key of a killed restore are published if its row is here.
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
