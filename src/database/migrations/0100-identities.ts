/**
 * Accounts of an OpenID Connect provider, and whether the e-mail address of an account is known to
 * belong to its user, so that a provider's user with this address may sign in to it.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.4.0';

export const up: OnlineMigration = async (change) => {
  await change.addColumn('user_account', 'email_verified', 'boolean NOT NULL DEFAULT false');
  await change.run(`
CREATE OR REPLACE FUNCTION "fitgraph_email_changed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."email_verified" := NEW."email_verified" AND NOT OLD."email_verified";
  RETURN NEW;
END $$;
-- A new address is not verified, unless the same statement says so.
CREATE OR REPLACE TRIGGER "user_account_email_changed" BEFORE UPDATE ON "user_account" FOR EACH ROW
  WHEN (OLD."email" IS DISTINCT FROM NEW."email") EXECUTE FUNCTION "fitgraph_email_changed"();
`);
  await change.createIndex(
    'user_account_email',
    `"user_account" (lower("email")) WHERE "email" <> ''`,
  );
  await change.run(`
CREATE TABLE IF NOT EXISTS "identity" (
  "issuer" text COLLATE "C" NOT NULL,
  "subject" varchar(255) COLLATE "C" NOT NULL,
  "user_id" integer NOT NULL REFERENCES "user_account" ("id") ON DELETE CASCADE,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY ("issuer", "subject"),
  UNIQUE ("user_id", "issuer")
);
ALTER TABLE "identity" ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS "own_rows" ON "identity";
CREATE POLICY "own_rows" ON "identity"
  USING ("user_id" = (SELECT nullif(current_setting('fitgraph.viewer', true), '')::integer))
  WITH CHECK ("user_id" = (SELECT nullif(current_setting('fitgraph.viewer', true), '')::integer));
`);
};

export const down: OnlineMigration = async (change) => {
  await change.run('DROP TABLE IF EXISTS "identity"');
  await change.dropIndex('user_account_email');
  await change.run('DROP FUNCTION IF EXISTS "fitgraph_email_changed"() CASCADE');
  await change.alterTable('user_account', 'DROP COLUMN IF EXISTS "email_verified"');
};
