/**
 * Time zone and language that a user prefers, and a view from which the authentication reads both
 * before there is a viewer.
 */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.4.0';

export const up: OnlineMigration = async (change) => {
  await change.addColumn('user_profile', 'time_zone', 'varchar(64) COLLATE "C"');
  await change.addColumn('user_profile', 'preferred_language_id', 'integer');
  await change.addConstraint(
    'user_profile',
    'user_profile_preferred_language_id_fkey',
    'FOREIGN KEY ("preferred_language_id") REFERENCES "language" ("id") ON DELETE SET NULL',
  );
  await change.createIndex(
    'user_profile_preferred_language',
    '"user_profile" ("preferred_language_id", "user_id")',
  );
  await change.run(`
CREATE OR REPLACE VIEW "preference" AS SELECT p."user_id", p."time_zone", l."short_name" AS "language"
  FROM "user_profile" p LEFT JOIN "language" l ON l."id" = p."preferred_language_id";
`);
};

export const down: OnlineMigration = async (change) => {
  await change.run('DROP VIEW IF EXISTS "preference"');
  await change.dropIndex('user_profile_preferred_language');

  for (const column of ['preferred_language_id', 'time_zone']) {
    await change.alterTable('user_profile', `DROP COLUMN IF EXISTS "${column}"`);
  }
};
