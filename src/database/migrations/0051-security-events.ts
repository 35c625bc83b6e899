/**
 * The audit log: who signed in or failed to, what became of passwords, tokens, sessions and accounts, what operators did. Nothing in it is ever
 * changed, and nothing is deleted before it is a month old: the database holds to that, whoever asks. It names accounts without referring to
 * them, so that it outlives them.
 */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "security_event" (
  "id" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "at" timestamptz NOT NULL DEFAULT now(),
  "kind" text COLLATE "C" NOT NULL,
  "user_id" integer,
  "address" text COLLATE "C",
  "operator" text COLLATE "C",
  "detail" text COLLATE "C",
  "is_last" boolean NOT NULL DEFAULT false
);
CREATE INDEX ON "security_event" ("user_id", "id");
CREATE INDEX ON "security_event" ("user_id", "at");
CREATE INDEX ON "security_event" ("at");
CREATE INDEX "security_event_failures" ON "security_event" ("at") WHERE "kind" IN ('SIGN_IN_FAILED', 'PASSWORD_REFUSED');

CREATE FUNCTION "fitgraph_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND OLD."at" < now() - interval '30 days' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'what is in % stays as it is', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE ON "security_event" FOR EACH ROW EXECUTE FUNCTION "fitgraph_append_only"();
CREATE TRIGGER "append_only_as_a_whole" BEFORE TRUNCATE ON "security_event" FOR EACH STATEMENT EXECUTE FUNCTION "fitgraph_append_only"();
`);
};

export const down: Migration = async (query) => {
  await query(`
DROP TABLE "security_event";
DROP FUNCTION "fitgraph_append_only"();
`);
};
