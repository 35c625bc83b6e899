/**
 * Squashed migrations: the 38 migrations of Fitgraph 0.2, for which a few replacements create the
 * same schema. If a database has all squashed migrations, the replacements count as applied. A
 * database with only some of the squashed migrations is not supported.
 */
import type { ClientBase } from 'pg';

const SQUASHED_MIGRATIONS: readonly string[] = [
  ...[
    '0001-reference',
    '0002-catalogue',
    '0003-accounts',
    '0004-search',
    '0005-sessions',
    '0006-changes',
    '0007-likeness',
  ],
  ...[
    '0008-unique-at-the-end',
    '0009-idempotency',
    '0010-search-order',
    '0011-search-pieces',
    '0012-removed-files',
    '0013-former-files',
  ],
  ...[
    '0014-no-search-pieces',
    '0015-names-changed',
    '0016-one-of-several',
    '0017-contributors',
    '0018-row-versions',
  ],
  ...[
    '0020-catalogue-changes',
    '0021-reader-order',
    '0022-typos',
    '0023-comments-shown',
    '0024-rank-by-length',
    '0030-budget',
  ],
  ...[
    '0031-imported-passwords',
    '0032-password-ends-tokens',
    '0035-image-sizes',
    '0036-kept-answers',
    '0040-claims-of-instances',
  ],
  ...[
    '0040-timelines',
    '0041-restores',
    '0050-access-tokens',
    '0051-security-events',
    '0060-row-security',
    '0061-log-volume',
  ],
  ...['0062-exponential-mean', '0063-fewer-indexes', '0064-owners-of-parents'],
];

/** Migrations that replace the squashed ones. */
const REPLACEMENT_MIGRATIONS: readonly string[] = [
  ...[
    '0052-catalogue',
    '0053-accounts',
    '0054-training-and-food',
    '0055-search',
    '0056-change-log',
    '0057-requests-and-files',
  ],
  ...['0058-owned-rows', '0059-analyses'],
];

/** Finds a squashed migration that is missing although others are applied. */
export function findMissingSquashedMigration(
  appliedMigrations: readonly string[],
): string | undefined {
  if (!SQUASHED_MIGRATIONS.some((name) => appliedMigrations.includes(name))) return undefined;

  return SQUASHED_MIGRATIONS.find((name) => !appliedMigrations.includes(name));
}

/**
 * Names of the applied migrations in order, with the replacements in place of the squashed
 * migrations if all of those are applied.
 */
export function replaceSquashedNames(appliedMigrations: readonly string[]): string[] {
  if (!SQUASHED_MIGRATIONS.every((name) => appliedMigrations.includes(name))) {
    return [...appliedMigrations];
  }

  return [
    ...new Set([
      ...REPLACEMENT_MIGRATIONS,
      ...appliedMigrations.filter((name) => !SQUASHED_MIGRATIONS.includes(name)),
    ]),
  ].sort();
}

/**
 * Adds the replacements to the migration table if it contains squashed migrations, which stay
 * there: without them, running servers of version 0.2 would report "not ready".
 */
export const recordReplacementMigrations = (client: ClientBase): Promise<unknown> =>
  client.query(
    `INSERT INTO "migration" ("name", "applied", "version")
       SELECT r."name", max("applied"), max("version") FROM "migration" m,
         unnest($2::text[]) AS r("name") WHERE m."name" = ANY($1) GROUP BY r."name"
       ON CONFLICT DO NOTHING`,
    [SQUASHED_MIGRATIONS, REPLACEMENT_MIGRATIONS],
  );

/**
 * Removes the squashed migrations from the migration table if a replacement is reverted. Otherwise
 * the replacement would still count as applied.
 */
export async function deleteSquashedMigrations(
  client: ClientBase,
  revertedMigrations: readonly string[],
): Promise<void> {
  if (revertedMigrations.some((name) => REPLACEMENT_MIGRATIONS.includes(name))) {
    await client.query('DELETE FROM "migration" WHERE "name" = ANY($1)', [SQUASHED_MIGRATIONS]);
  }
}
