/** How costly the imported passwords are, so that every sign-in can take as long. */
import type { Migration } from '../migrate';

export const up: Migration = async (query) => {
  await query(`
CREATE INDEX "user_account_iterations" ON "user_account" ((substring("password" FROM '^pbkdf2_sha256\\$(\\d{1,7})\\$')::integer))
  WHERE "password" LIKE 'pbkdf2\\_sha256$%';
`);
};

export const down: Migration = async (query) => {
  await query('DROP INDEX "user_account_iterations"');
};
