/** What users and addresses have spent on operations, as instances tell each other. Lost with a crash, which forgives everybody. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE UNLOGGED TABLE "budget" (
  "key" text COLLATE "C" PRIMARY KEY,
  "level" double precision NOT NULL,
  "rate" double precision NOT NULL,
  "at" timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON "budget" ("at");
`);
};

export const down: Migration = async (query) => {
  await query('DROP TABLE "budget"');
};
