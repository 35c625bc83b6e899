/**
 * A new password ends the token too, by whichever way it was set. A hash that a login only renews, because it was imported, is no new password:
 * the login says so by a setting of its transaction.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE OR REPLACE FUNCTION "fitgraph_end_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW."is_active" AND current_setting('fitgraph.same_password', true) = 'on' THEN
    RETURN NULL;
  END IF;
  DELETE FROM "session" WHERE "user_id" = NEW."id";
  IF OLD."password" IS DISTINCT FROM NEW."password" THEN
    DELETE FROM "token" WHERE "user_id" = NEW."id";
  END IF;
  RETURN NULL;
END $$;
`);
};

export const down: Migration = async (query) => {
  await query(`
CREATE OR REPLACE FUNCTION "fitgraph_end_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "session" WHERE "user_id" = NEW."id";
  RETURN NULL;
END $$;
`);
};
