/** Requests that were sent with an Idempotency-Key, and what was answered. Its comment is in idempotency.ts. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
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
  PRIMARY KEY ("user_id", "key")
);
CREATE INDEX ON "idempotency_key" ("at");
`);
};

export const down: Migration = async (query) => {
  await query('DROP TABLE "idempotency_key"');
};
