/**
 * Setup and output that the commands of the command line share: opens and closes the database,
 * writes the audit log, shows progress.
 */
import { userInfo } from 'node:os';
import { checkSecretKey, recordKeyFingerprint } from '../accounts/key-fingerprint';
import { logSecurityEvent, type NewSecurityEvent } from '../accounts/security-events';
import { TokenVault } from '../accounts/tokens';
import { ConfigError, readConfig, type Config } from '../shared/config';
import {
  LISTENER_APPLICATION_NAME_PREFIX,
  listenerApplicationName,
  NotificationListener,
  RUNNING_WORKER_COUNT_SQL,
} from '../engine/changes/listener';
import { ClientError } from '../engine/declare/errors';
import type { Database } from '../database/connection';
import type { DatabaseSession } from '../database/session';
import { migrateUp } from '../database/migrate';
import { openDatabase } from '../database/open';
import { Media } from '../files/media';
// Imported for its side effect: registers the resources.
import '../graphql/schema';
import { FileRemoval } from '../files/removal';
import { createLogger } from '../shared/logging';

export interface CommandContext {
  config: Config;
  database: Database;
  session: DatabaseSession;
  tokenVault: TokenVault;
  secretKey: string;
}

function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // `userInfo` throws if the user id has no entry in /etc/passwd, as in some containers.
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}

export const recordOperatorEvent = (
  event: Pick<NewSecurityEvent, 'kind' | 'userId' | 'detail'>,
  session: Pick<DatabaseSession, 'query'>,
): Promise<void> => logSecurityEvent({ ...event, operator: operatorName() }, session);

const DATABASE_STOPPED_MESSAGE =
  'The embedded database was stopped, possibly with the server that had started it. Run the command again.';

/**
 * Opens the database for a command and closes it afterwards. By default, applies pending migrations
 * (`migrate`), and loads and checks the secret key (`needsSecretKey`).
 */
export async function withDatabase<T>(
  callback: (context: CommandContext) => Promise<T>,
  { migrate = true, needsSecretKey = true, config = readConfig() } = {},
): Promise<T> {
  const openedDatabase = await openDatabase(
    config,
    (message) => process.stderr.write(`${message}\n`),
    { needsSecretKey },
  );

  try {
    if (needsSecretKey) await checkSecretKey(openedDatabase.database, openedDatabase.secretKey);
    if (migrate) await migrateUp(openedDatabase.database);

    if (needsSecretKey && migrate) {
      await recordKeyFingerprint(openedDatabase.database, openedDatabase.secretKey);
    }

    const { database, secretKey } = openedDatabase;

    return await callback({
      config,
      database,
      session: database.createSession({ operator: operatorName() }),
      tokenVault: new TokenVault(secretKey),
      secretKey,
    });
  } catch (error) {
    if (await openedDatabase.hasStopped()) throw new ConfigError(DATABASE_STOPPED_MESSAGE);
    throw error;
  } finally {
    await openedDatabase.close();
  }
}

/**
 * Throws CONFLICT if a server is using the database. With `migrations`, ignores servers of versions
 * without any of them. `consequence` completes the error message.
 */
export async function requireNoRunningServer(
  database: Database,
  consequence: string,
  migrations?: readonly string[],
): Promise<void> {
  const minListenerName = migrations && listenerApplicationName([...migrations].sort()[0]);
  // The LISTEN connection of a server is named by a prefix and the newest migration of the server's
  // version. Version 0.2 uses the bare prefix, so its servers always match.
  const includesMigrationSql = `("application_name" = '${LISTENER_APPLICATION_NAME_PREFIX}' OR "application_name" COLLATE "C" >= $1)`;
  let countSql = RUNNING_WORKER_COUNT_SQL;
  const values: string[] = [];

  if (minListenerName) {
    countSql += ` AND ${includesMigrationSql}`;
    values.push(minListenerName);
  }

  const [row] = await database.queryAsServer(countSql, values);

  if (row!.workers) {
    throw new ClientError(
      'CONFLICT',
      `A running server uses this database and ${consequence}. Stop it first.`,
    );
  }
}

/** Replaces control characters, so that text from users cannot control the terminal. */
export const replaceControlCharacters = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

const PROGRESS_INTERVAL_MS = 200;

/**
 * Creates a progress callback that updates one line per stage on a terminal. Without a terminal, it
 * prints nothing.
 */
export function createProgressPrinter(): (
  stage: string,
  completedCount: number,
  totalCount?: number,
) => void {
  if (!process.stderr.isTTY) return () => undefined;
  let [lastStage, startedAt, lastOutputAt] = ['', 0, 0];

  return (stage, completedCount, totalCount) => {
    const now = performance.now();

    if (stage !== lastStage) [lastStage, startedAt, lastOutputAt] = [stage, now, 0];
    const isComplete = totalCount !== undefined && completedCount >= totalCount;

    if (!isComplete && now - lastOutputAt < PROGRESS_INTERVAL_MS) return;
    lastOutputAt = now;
    process.stderr.write(
      `\r\x1b[K${stage}: ${formatProgress(completedCount, totalCount, (now - startedAt) / 1000)}${isComplete ? '\n' : ''}`,
    );
  };
}

/** Formats progress, for example `1,200 of 5,000, 400 a second, 10 s left`. */
export function formatProgress(
  completedCount: number,
  totalCount: number | undefined,
  elapsedSeconds: number,
): string {
  const formatNumber = (number: number) => Math.round(number).toLocaleString('en');
  const rate = elapsedSeconds > 0 ? completedCount / elapsedSeconds : 0;
  let text = formatNumber(completedCount);

  if (totalCount !== undefined) text += ` of ${formatNumber(totalCount)}`;
  if (rate > 0) text += `, ${formatNumber(rate)} a second`;

  if (totalCount !== undefined && rate > 0 && completedCount < totalCount) {
    text += `, ${formatNumber((totalCount - completedCount) / rate)} s left`;
  }

  return text;
}

export function createRowProgressPrinter(
  activity: string,
): (completedCount: number, totalCount: number) => void {
  const printProgress = createProgressPrinter();

  return (completedCount, totalCount) =>
    printProgress(`${activity}, rows`, completedCount, totalCount);
}

/**
 * Deletes files that are scheduled for removal. Otherwise they would remain until a server runs.
 */
export async function removeScheduledFiles(config: Config, database: Database): Promise<void> {
  const log = createLogger(config.logLevel, process.stderr);

  await new FileRemoval(
    database,
    Media.fromConfig(config),
    new NotificationListener(database, log),
    log,
  ).removeFiles();
}
