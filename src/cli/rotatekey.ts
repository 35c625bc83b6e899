/** `fitgraph rotate-key`: replaces the secret key and re-encrypts all API keys. */
import { randomUUID } from 'node:crypto';
import { checkSecretKey } from '../auth/keyfingerprint';
import { rotateSecretKey } from '../auth/keyrotation';
import { ClientError } from '../core/model/errors';
import { CommitOutcomeUnknown } from '../database/errors';
import {
  discardStagedKey,
  activateStagedKey,
  finishInterruptedKeyChanges,
  readKey,
  loadSecretKey,
  stageKey,
} from '../database/secretkey';
import {
  requireNoRunningServers,
  formatCount,
  printLine,
  recordOperatorEvent,
  withDatabase,
} from './commandcontext';

export async function rotateKey(file: string, { lost = false }: { lost?: boolean }): Promise<void> {
  const newKey = readKey(file, 'write the output of openssl rand -hex 32 to it');
  if (newKey === undefined)
    throw new ClientError(
      'NOT_FOUND',
      `${file} does not exist: create it with openssl rand -hex 32 > ${file}`,
    );
  await withDatabase(
    async ({ config, database, session }) => {
      await requireNoRunningServers(database, 'would use the old key');
      // If SECRET_KEY is not set, the key is in a file next to the embedded database. The file is replaced after the commit.
      const isKeyInFile = config.secretKey === undefined && config.databaseUrl === undefined;
      if (isKeyInFile) await finishInterruptedKeyChanges(config.dataDir, database);
      const oldKey = lost ? undefined : await loadSecretKey(config, database);
      if (oldKey !== undefined) await checkSecretKey(database, oldKey);
      const id = randomUUID();
      if (isKeyInFile) stageKey(config.dataDir, id, newKey);
      const { rotatedCount, unreadableCount } = await database
        .withoutTimeouts((client) => rotateSecretKey(client, oldKey, newKey))
        .catch((error) => {
          // If the connection was lost during COMMIT, the staged file with the new key is kept. The next start uses this key if it matches the
          // fingerprint in the database.
          if (isKeyInFile && !(error instanceof CommitOutcomeUnknown))
            discardStagedKey(config.dataDir, id);
          throw error;
        });
      if (isKeyInFile) activateStagedKey(config.dataDir, id);
      await recordOperatorEvent(
        { kind: 'COMMAND', detail: `rotate-key${lost ? ' --lost' : ''}` },
        session,
      );
      printLine(`Re-encrypted ${formatCount(rotatedCount, 'API key')}.`);
      if (unreadableCount)
        printLine(
          `${formatCount(unreadableCount, 'API key')} cannot be decrypted and can no longer be shown, but remain valid.`,
        );
      printLine(
        isKeyInFile
          ? `The new key is in ${config.dataDir}/secret-key.`
          : 'Set SECRET_KEY to the new key before you start the servers.',
      );
    },
    { needsSecretKey: false },
  );
}
