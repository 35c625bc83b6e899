/**
 * A change of the password may exempt one session, that of the browser in which it is made, by the
 * setting "fitgraph.kept_session" in its transaction.
 */
import type { Migration } from '../migration-modules';

export const oldestVersion = '0.3.0';

const endSessionsFunctionSql = (exception: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_end_sessions"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW."is_active" AND current_setting('fitgraph.same_password', true) = 'on' THEN
    RETURN NULL;
  END IF;
  DELETE FROM "session" WHERE "user_id" = NEW."id"${exception};
  IF OLD."password" IS DISTINCT FROM NEW."password" THEN
    DELETE FROM "token" WHERE "user_id" = NEW."id";
    DELETE FROM "access_token" WHERE "user_id" = NEW."id";
  END IF;
  RETURN NULL;
END $$;
`;

export const up: Migration = async (query) => {
  // The setting is an empty string in later transactions of a connection that has used it.
  await query(
    endSessionsFunctionSql(
      ` AND encode("digest", 'hex') <> coalesce(current_setting('fitgraph.kept_session', true), '')`,
    ),
  );
};

export const down: Migration = async (query) => {
  await query(endSessionsFunctionSql(''));
};
