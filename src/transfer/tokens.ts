/**
 * Imports API keys, which are stored as digest and ciphertext. Error messages contain only the
 * first characters of a key.
 */
import type { ClientBase } from 'pg';
import { sha256, type TokenVault } from '../accounts/tokens';
import { failImport, DJANGO_TOKEN_MODEL, type DumpRow, nameRowInErrors } from './dump';

const maskToken = (row: DumpRow): DumpRow => ({ ...row, pk: `${String(row.pk).slice(0, 4)}…` });

export async function insertTokens(
  rows: readonly DumpRow[],
  client: ClientBase,
  tokenVault: TokenVault,
): Promise<void> {
  const referencedUserIds = rows
    .map(({ fields }) => fields.user)
    .filter((id) => Number.isInteger(id));
  const { rows: users } = await client.query(
    'SELECT "id" FROM "user_account" WHERE "id" = ANY($1)',
    [referencedUserIds],
  );
  const existingUserIds = new Set(users.map(({ id }) => id));

  for (const row of rows) {
    if (!existingUserIds.has(row.fields.user)) {
      failImport(
        `${DJANGO_TOKEN_MODEL} ${maskToken(row).pk}: user refers to auth.user ${JSON.stringify(row.fields.user)}, which does not exist.`,
      );
    }
  }

  const tokens = rows.map(({ pk }) => String(pk));

  await nameRowInErrors([maskToken(rows[0]!)], () =>
    client.query(
      `INSERT INTO "token" ("user_id", "digest", "sealed", "created")
       SELECT "user_id", "digest", "sealed", COALESCE("created", now())
       FROM unnest($1::int[], $2::bytea[], $3::bytea[], $4::timestamptz[]) AS t ("user_id",
         "digest", "sealed", "created")`,
      [
        rows.map(({ fields }) => fields.user),
        tokens.map(sha256),
        tokens.map((token) => tokenVault.encrypt(token)),
        rows.map(({ fields }) => fields.created ?? null),
      ],
    ),
  );
}
