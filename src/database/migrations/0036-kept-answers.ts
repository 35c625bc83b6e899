/** How many bytes of answers are kept for each user's Idempotency-Keys, counted by the database, so that it can be bounded. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "idempotency_usage" (
  "user_id" integer PRIMARY KEY REFERENCES "user_account" ("id") ON DELETE CASCADE,
  "bytes" bigint NOT NULL CHECK ("bytes" >= 0)
);
INSERT INTO "idempotency_usage" ("user_id", "bytes")
  SELECT "user_id", sum(octet_length("body")) FROM "idempotency_key" WHERE "body" IS NOT NULL GROUP BY "user_id";

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
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP TRIGGER "idempotency_key_answers_deleted" ON "idempotency_key";
DROP TRIGGER "idempotency_key_answer_replaced" ON "idempotency_key";
DROP FUNCTION "forget_answers";
DROP FUNCTION "forget_answer";
DROP TABLE "idempotency_usage";
`);
};
