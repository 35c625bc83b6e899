/** `fitgraph rotate-key`: replaces the secret key and re-encrypts all API keys. */
import { randomUUID } from 'node:crypto';
import { checkSecretKey } from '../accounts/key-fingerprint';
import { ClientError } from '../engine/declare/errors';
import { CommitOutcomeUnknown } from '../database/errors';
import {
  discardStagedKey,
  activateStagedKey,
  finishInterruptedKeyChanges,
  readKey,
  loadSecretKey,
  stageKey,
  fingerprintOf,
} from '../database/secret-key';
import {
  requireNoRunningServer,
  printLine,
  recordOperatorEvent,
  withDatabase,
} from './command-context';
import { formatCount } from '../shared/messages';
import type { ClientBase } from 'pg';
import { inTransaction } from '../database/transaction';
import { TokenVault } from '../accounts/tokens';

const PAGE_SIZE = 1_000;

interface KeyRotationResult {
  reencryptedCount: number;

  /**
   * Number of API keys that the old key does not decrypt. They remain valid, but can no longer be
   * shown.
   */
  unreadableCount: number;
}

/**
 * Replaces the secret key and re-encrypts all API keys. If the old key is lost (`oldKey` is
 * undefined), no API key can be re-encrypted.
 */
const rotateSecretKey = (
  client: ClientBase,
  oldKey: string | undefined,
  newKey: string,
): Promise<KeyRotationResult> =>
  inTransaction(client, async () => {
    await client.query('LOCK TABLE "token" IN SHARE ROW EXCLUSIVE MODE');
    const result = await reencryptApiKeys(
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

async function reencryptApiKeys(
  client: ClientBase,
  oldVault: TokenVault | undefined,
  newVault: TokenVault,
): Promise<KeyRotationResult> {
  const result = { reencryptedCount: 0, unreadableCount: 0 };

  for (let lastId = 0, hasMore = true; hasMore;) {
    const { rows } = await client.query(
      `SELECT "user_id" AS "userId", "sealed" FROM "token" WHERE "user_id" > $1 ORDER BY "user_id"
        LIMIT ${PAGE_SIZE}`,
      [lastId],
    );
    const reencryptedApiKeys = rows.flatMap(({ userId, sealed }) => {
      const apiKey = oldVault?.decrypt(sealed as Buffer);

      if (apiKey === undefined) return [];

      return [{ userId: userId as number, sealed: newVault.encrypt(apiKey) }];
    });

    await client.query(
      `UPDATE "token" SET "sealed" = n."sealed"
        FROM unnest($1::int[], $2::bytea[]) AS n ("user_id", "sealed")
        WHERE "token"."user_id" = n."user_id"`,
      [
        reencryptedApiKeys.map(({ userId }) => userId),
        reencryptedApiKeys.map(({ sealed }) => sealed),
      ],
    );
    result.reencryptedCount += reencryptedApiKeys.length;
    result.unreadableCount += rows.length - reencryptedApiKeys.length;
    lastId = rows.at(-1)?.userId ?? lastId;
    hasMore = rows.length === PAGE_SIZE;
  }

  return result;
}

export async function rotateKey(
  newKeyFile: string,
  { lost: isOldKeyLost = false }: { lost?: boolean },
): Promise<void> {
  const newKey = readKey(newKeyFile, 'write the output of openssl rand -hex 32 to it');

  if (newKey === undefined) {
    throw new ClientError(
      'NOT_FOUND',
      `${newKeyFile} does not exist: create it with openssl rand -hex 32 > ${newKeyFile}`,
    );
  }

  await withDatabase(
    async ({ config, database, session }) => {
      await requireNoRunningServer(database, 'would use the old key');
      // Without SECRET_KEY and DATABASE_URL, the key is in a file next to the embedded database.
      // The file is replaced after the commit.
      const isKeyInFile = config.secretKey === undefined && config.databaseUrl === undefined;

      if (isKeyInFile) await finishInterruptedKeyChanges(config.dataDir, database);
      const oldKey = isOldKeyLost ? undefined : await loadSecretKey(config, database);

      if (oldKey !== undefined) await checkSecretKey(database, oldKey);
      const stagedKeyId = randomUUID();

      if (isKeyInFile) stageKey(config.dataDir, stagedKeyId, newKey);
      const { reencryptedCount, unreadableCount } = await database
        .withoutTimeouts((client) => rotateSecretKey(client, oldKey, newKey))
        .catch((error) => {
          // Keeps the staged file with the new key if the connection was lost during COMMIT. The
          // next start uses this key if it matches the fingerprint in the database.
          if (isKeyInFile && !(error instanceof CommitOutcomeUnknown)) {
            discardStagedKey(config.dataDir, stagedKeyId);
          }

          throw error;
        });

      if (isKeyInFile) activateStagedKey(config.dataDir, stagedKeyId);
      await recordOperatorEvent(
        { kind: 'COMMAND', detail: `rotate-key${isOldKeyLost ? ' --lost' : ''}` },
        session,
      );
      printLine(`Re-encrypted ${formatCount(reencryptedCount, 'API key')}.`);

      if (unreadableCount) {
        printLine(
          `${formatCount(unreadableCount, 'API key')} cannot be decrypted and can no longer be shown, but remain valid.`,
        );
      }

      if (isKeyInFile) printLine(`The new key is in ${config.dataDir}/secret-key.`);
      else printLine('Set SECRET_KEY to the new key before you start the servers.');
    },
    { needsSecretKey: false },
  );
}
