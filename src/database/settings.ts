/** PostgreSQL settings of every connection: time zone, formats and timeouts. */
import type { PrecedingStatement } from './internals/pg';

export interface ConnectionSettings {
  timeZone: string;

  /** PostgreSQL's `lock_timeout` in milliseconds; 0: none. */
  lockTimeout?: number;

  /** PostgreSQL's `idle_in_transaction_session_timeout` in milliseconds; 0: none. */
  idleTransactionTimeout?: number;
}

type Settings = Record<string, string | number>;

/**
 * Formats of dates and strings. A pooler preserves these settings, because PostgreSQL reports
 * changes of them to the client. Sequelize's quoting requires standard_conforming_strings.
 */
const textFormatSettings = ({ timeZone }: ConnectionSettings): Settings => ({
  TimeZone: timeZone,
  DateStyle: 'ISO,YMD',
  standard_conforming_strings: 'on',
});

const timeoutSettings = (
  { lockTimeout = 0, idleTransactionTimeout = 0 }: ConnectionSettings,
  statementTimeout: number,
): Settings => ({
  statement_timeout: statementTimeout,
  lock_timeout: lockTimeout,
  idle_in_transaction_session_timeout: idleTransactionTimeout,
});

/** All settings of a connection. The TCP settings have no effect on a Unix socket. */
const allSettings = (settings: ConnectionSettings, statementTimeout: number): Settings => ({
  ...textFormatSettings(settings),
  ...timeoutSettings(settings, statementTimeout),
  // TCP settings that bound how long a client keeps its locks after it has disappeared without
  // closing its connection.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 5,
  tcp_user_timeout: 20_000,
});

const toSetStatements = (settings: Settings, keyword = 'SET'): string =>
  Object.entries(settings)
    .map(([name, value]) => `${keyword} ${name} = '${value}'`)
    .join('; ');

/** Startup parameter `options` of a connection, which sets all settings without a statement. */
export const startupOptions = (settings: ConnectionSettings, statementTimeout: number): string =>
  Object.entries(allSettings(settings, statementTimeout))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/**
 * SET statements for the settings that a transaction pooler preserves when it moves a client to
 * another PostgreSQL connection.
 */
export const poolerSafeSettingsSql = (settings: ConnectionSettings): string =>
  toSetStatements(textFormatSettings(settings));

/** SQL that begins a transaction, without a semicolon, so that more statements can be appended. */
export const BEGIN_STATEMENT = 'START TRANSACTION';

/** Begins a transaction whose statements all see the same state of the database. */
export const BEGIN_SNAPSHOT_STATEMENT = `${BEGIN_STATEMENT} ISOLATION LEVEL REPEATABLE READ, READ ONLY`;

/**
 * SQL that begins a transaction behind a transaction pooler, where each transaction must set its
 * timeouts.
 */
export const beginWithTimeoutsSql = (
  beginStatement: string,
  settings: ConnectionSettings,
  statementTimeout: number,
): string =>
  `${beginStatement}; ${toSetStatements(timeoutSettings(settings, statementTimeout), 'SET LOCAL')}`;

/** Statement that sets the timeouts before each single statement behind a transaction pooler. */
export const setTimeoutsStatement = (
  { lockTimeout = 0 }: ConnectionSettings,
  statementTimeout: number,
): PrecedingStatement => ({
  text: `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)`,
  values: [String(statementTimeout), String(lockTimeout)],
});
