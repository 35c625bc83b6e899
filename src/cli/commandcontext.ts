/** Shared setup and output of commands: opens and closes the database, writes the audit log, shows progress. */
import { userInfo } from 'node:os';
import { checkSecretKey, recordKeyFingerprint } from '../auth/keyfingerprint';
import { logSecurityEvent, type NewSecurityEvent } from '../auth/securityevents';
import { TokenVault } from '../auth/tokens';
import { ConfigError, readConfig, type Config } from '../platform/config';
import {
  LISTENER_APPLICATION_NAME_PREFIX,
  listenerApplicationName,
  NotificationListener,
} from '../core/changes/listener';
import { ClientError } from '../core/model/errors';
import type { Database } from '../database/connection';
import type { DatabaseSession } from '../database/session';
import { migrateUp } from '../database/migrate';
import { openDatabase } from '../database/open';
import { Media } from '../files/media';
import { FileRemoval } from '../files/removal';
import { models } from '../graphql/schema';
import { createLogger } from '../platform/logging';

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
  session: DatabaseSession,
): Promise<void> => logSecurityEvent({ ...event, operator: operatorName() }, session);

const DATABASE_STOPPED_MESSAGE =
  'The embedded database was stopped, possibly with the server that had started it. Run the command again.';

export async function withDatabase<T>(
  callback: (context: CommandContext) => Promise<T>,
  { migrate = true, needsSecretKey = true, config = readConfig() } = {},
): Promise<T> {
  const openedDatabase = await openDatabase(
    config,
    models,
    (message) => process.stderr.write(`${message}\n`),
    { needsSecretKey },
  );
  try {
    if (needsSecretKey) await checkSecretKey(openedDatabase.database, openedDatabase.secretKey);
    if (migrate) await migrateUp(openedDatabase.database);
    if (needsSecretKey && migrate)
      await recordKeyFingerprint(openedDatabase.database, openedDatabase.secretKey);
    const { database, secretKey } = openedDatabase;
    return await callback({
      config,
      database,
      session: database.createSession(),
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

/** SQL: counts running workers; each has one connection that listens for notifications. */
export const RUNNING_WORKER_COUNT_SQL = `SELECT count(*)::int AS "workers" FROM pg_stat_activity
  WHERE "application_name" LIKE '${LISTENER_APPLICATION_NAME_PREFIX}%' AND "datname" = current_database()`;

/**
 * Throws CONFLICT if a server uses the database. With `migrations`, servers whose version includes none of them are ignored. `consequence` says in
 * the message why the server must be stopped.
 */
export async function requireNoRunningServers(
  database: Database,
  consequence: string,
  migrations?: readonly string[],
): Promise<void> {
  const oldestListenerName = migrations && listenerApplicationName([...migrations].sort()[0]);
  // The LISTEN connection of a server is named after the newest migration of its version (except in version 0.2). A server whose newest migration is
  // older than `oldestListenerName` has none of the given migrations.
  const includesMigrationSql = `("application_name" = '${LISTENER_APPLICATION_NAME_PREFIX}' OR "application_name" COLLATE "C" >= $1)`;
  const [row] = await (oldestListenerName
    ? database.queryAsServer(`${RUNNING_WORKER_COUNT_SQL} AND ${includesMigrationSql}`, [
        oldestListenerName,
      ])
    : database.queryAsServer(RUNNING_WORKER_COUNT_SQL));
  if (row!.workers)
    throw new ClientError(
      'CONFLICT',
      `A running server uses this database and ${consequence}. Stop it first.`,
    );
}

export const formatCount = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Replaces control characters, so that text from users cannot control the terminal. */
export const replaceControlCharacters = (text: string): string => text.replace(/\p{C}/gu, '\uFFFD');

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

const PROGRESS_INTERVAL_MS = 200;

/** Returns a progress callback that updates one line per stage on a terminal. Without a terminal, it prints nothing. */
export function createProgressPrinter(): (
  stage: string,
  completedCount: number,
  totalCount?: number,
) => void {
  if (!process.stderr.isTTY) return () => undefined;
  let [lastStage, startedAt, lastOutput] = ['', 0, 0];
  return (stage, completedCount, totalCount) => {
    const now = performance.now();
    if (stage !== lastStage) [lastStage, startedAt, lastOutput] = [stage, now, 0];
    const isComplete = totalCount !== undefined && completedCount >= totalCount;
    if (!isComplete && now - lastOutput < PROGRESS_INTERVAL_MS) return;
    lastOutput = now;
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
  const timeLeftText =
    totalCount !== undefined && rate > 0 && completedCount < totalCount
      ? `, ${formatNumber((totalCount - completedCount) / rate)} s left`
      : '';
  return `${formatNumber(completedCount)}${totalCount === undefined ? '' : ` of ${formatNumber(totalCount)}`}${rate > 0 ? `, ${formatNumber(rate)} a second` : ''}${timeLeftText}`;
}

export function createRowProgressPrinter(
  activity: string,
): (completedCount: number, totalCount: number) => void {
  const printProgress = createProgressPrinter();
  return (completedCount, totalCount) =>
    printProgress(`${activity}, rows`, completedCount, totalCount);
}

/** Deletes files that are scheduled for removal, which otherwise remain until a server runs. */
export async function runScheduledFileRemovals(config: Config, database: Database): Promise<void> {
  const log = createLogger(config.logLevel, process.stderr);
  await new FileRemoval(
    database,
    Media.fromConfig(config),
    new NotificationListener(database, log),
    log,
  ).removeFiles();
}
