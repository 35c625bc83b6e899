/**
 * Links of one use by which users set their password. An account has at most one, which a change of
 * the password deletes.
 */
import type { Migration } from '../migrate';

export const oldestVersion = '0.4.0';

export const up: Migration = async (query) => {
  await query(`
-- Only the SHA-256 of the token in the link is stored.
CREATE TABLE "password_link" (
  "user_id" integer PRIMARY KEY REFERENCES "user_account" ("id") ON DELETE CASCADE,
  "digest" bytea NOT NULL UNIQUE,
  "expires_at" timestamptz NOT NULL
);
CREATE FUNCTION "fitgraph_end_password_link"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "password_link" WHERE "user_id" = NEW."id";
  RETURN NULL;
END $$;
CREATE TRIGGER "end_password_link" AFTER UPDATE OF "password" ON "user_account" FOR EACH ROW
  WHEN (OLD."password" IS DISTINCT FROM NEW."password") EXECUTE FUNCTION "fitgraph_end_password_link"();
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP FUNCTION "fitgraph_end_password_link"() CASCADE;
DROP TABLE "password_link";
`);
};
