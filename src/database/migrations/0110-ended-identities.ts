/**
 * A change of the password also ends the connected sign-ins of the account, like its sessions and
 * tokens. An account without a password keeps them when it receives its first one.
 */
import type { Migration } from '../migration-modules';

export const oldestVersion = '0.4.0';

/** SECURITY DEFINER: row-level security hides connected sign-ins from the user of a link. */
const endSessionsFunctionSql = (security: string, identityDeletion: string) => `
CREATE OR REPLACE FUNCTION "fitgraph_end_sessions"() RETURNS trigger LANGUAGE plpgsql ${security} AS $$
BEGIN
  IF NEW."is_active" AND current_setting('fitgraph.same_password', true) = 'on' THEN
    RETURN NULL;
  END IF;
  DELETE FROM "session" WHERE "user_id" = NEW."id"
    AND encode("digest", 'hex') <> coalesce(current_setting('fitgraph.kept_session', true), '');
  IF OLD."password" IS DISTINCT FROM NEW."password" THEN
    DELETE FROM "token" WHERE "user_id" = NEW."id";
    DELETE FROM "access_token" WHERE "user_id" = NEW."id";${identityDeletion}
  END IF;
  RETURN NULL;
END $$;
`;

export const up: Migration = async (query) => {
  await query(
    endSessionsFunctionSql(
      'SECURITY DEFINER SET search_path FROM CURRENT',
      `
    DELETE FROM "identity" WHERE "user_id" = NEW."id" AND OLD."password" <> '';`,
    ),
  );
};

export const down: Migration = async (query) => {
  await query(endSessionsFunctionSql('', ''));
};
