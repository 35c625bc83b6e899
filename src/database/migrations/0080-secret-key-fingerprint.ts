/**
 * Table with the fingerprint of the SECRET_KEY that encrypts the tokens of this database: one row,
 * or none before the first start.
 */
import type { Migration } from '../migration-modules';

export const oldestVersion = '0.3.0';

export const up: Migration = async (query) => {
  await query(`
CREATE TABLE "secret_key_fingerprint" (
  "id" boolean PRIMARY KEY DEFAULT true CHECK ("id"),
  "fingerprint" bytea NOT NULL,
  "since" timestamptz NOT NULL DEFAULT now()
);
`);
};

export const down: Migration = async (query) => {
  await query('DROP TABLE "secret_key_fingerprint"');
};
