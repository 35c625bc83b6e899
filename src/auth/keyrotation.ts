/** Rotation of the secret key: re-encrypts all API keys in one transaction. */
import type { ClientBase } from 'pg';
import { fingerprintOf } from '../database/secretkey';
import { inTransaction } from '../database/transaction';
import { TokenVault } from './tokens';

const PAGE_SIZE = 1_000;

export interface KeyRotationResult {
  rotatedCount: number;
  /** Number of API keys that the old key does not decrypt. They are not changed: they remain valid but can no longer be shown. */
  unreadableCount: number;
}

/** Replaces the secret key and re-encrypts all API keys. `oldKey` is undefined if the old secret key is lost. */
export const rotateSecretKey = (
  client: ClientBase,
  oldKey: string | undefined,
  newKey: string,
): Promise<KeyRotationResult> =>
  inTransaction(client, async () => {
    await client.query('LOCK TABLE "token" IN SHARE ROW EXCLUSIVE MODE');
    const result = await reencryptTokens(
      client,
      oldKey === undefined ? undefined : new TokenVault(oldKey),
      new TokenVault(newKey),
    );
    await client.query(
      `INSERT INTO "secret_key_fingerprint" ("fingerprint") VALUES ($1)
       ON CONFLICT ("id") DO UPDATE SET "fingerprint" = excluded."fingerprint", "since" = now()`,
      [fingerprintOf(newKey)],
    );
    return result;
  });

async function reencryptTokens(
  client: ClientBase,
  oldVault: TokenVault | undefined,
  newVault: TokenVault,
): Promise<KeyRotationResult> {
  const result = { rotatedCount: 0, unreadableCount: 0 };
  for (let lastId = 0, hasMore = true; hasMore;) {
    const { rows } = await client.query(
      `SELECT "user_id" AS "userId", "sealed" FROM "token" WHERE "user_id" > $1 ORDER BY "user_id" LIMIT ${PAGE_SIZE}`,
      [lastId],
    );
    const reencryptedTokens = rows.flatMap(({ userId, sealed }) => {
      const token = oldVault?.decrypt(sealed as Buffer);
      return token === undefined
        ? []
        : [{ userId: userId as number, sealed: newVault.encrypt(token) }];
    });
    await client.query(
      `UPDATE "token" SET "sealed" = n."sealed" FROM unnest($1::int[], $2::bytea[]) AS n ("user_id", "sealed") WHERE "token"."user_id" = n."user_id"`,
      [
        reencryptedTokens.map(({ userId }) => userId),
        reencryptedTokens.map(({ sealed }) => sealed),
      ],
    );
    result.rotatedCount += reencryptedTokens.length;
    result.unreadableCount += rows.length - reencryptedTokens.length;
    lastId = rows.at(-1)?.userId ?? lastId;
    hasMore = rows.length === PAGE_SIZE;
  }
  return result;
}
