/** Curators may write the catalogue. */
import type { OnlineMigration } from '../migration-modules';

export const transactional = false;
export const oldestVersion = '0.4.0';

const ACCOUNT_COLUMNS = '"id", "username", "password", "is_superuser", "is_active", "last_login"';

export const up: OnlineMigration = async (change) => {
  await change.addColumn('user_account', 'is_curator', 'boolean NOT NULL DEFAULT false');
  await change.run(
    `CREATE OR REPLACE VIEW "account" AS SELECT ${ACCOUNT_COLUMNS}, "is_curator" FROM "user_account"`,
  );
};

export const down: OnlineMigration = async (change) => {
  await change.run(`
DROP VIEW "account";
CREATE VIEW "account" AS SELECT ${ACCOUNT_COLUMNS} FROM "user_account";
`);
  await change.alterTable('user_account', 'DROP COLUMN IF EXISTS "is_curator"');
};
