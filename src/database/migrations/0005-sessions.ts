/** Sessions of browsers. Whoever changes a password or locks an account, by whichever way, ends that user's sessions. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "session" (
  "digest" bytea PRIMARY KEY,
  "user_id" integer NOT NULL REFERENCES "user_account" ("id") ON DELETE CASCADE,
  "created" timestamptz NOT NULL DEFAULT now(),
  "seen" timestamptz NOT NULL DEFAULT now(),
  "expires" timestamptz NOT NULL
);
CREATE INDEX ON "session" ("user_id");
CREATE INDEX ON "session" ("expires");

CREATE FUNCTION "fitgraph_end_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "session" WHERE "user_id" = NEW."id";
  RETURN NULL;
END $$;
CREATE TRIGGER "end_sessions" AFTER UPDATE OF "password", "is_active" ON "user_account" FOR EACH ROW
  WHEN (OLD."password" IS DISTINCT FROM NEW."password" OR NOT NEW."is_active") EXECUTE FUNCTION "fitgraph_end_sessions"();
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP TRIGGER "end_sessions" ON "user_account";
DROP FUNCTION "fitgraph_end_sessions"();
DROP TABLE "session";
`);
};
