/** PostgreSQL settings of every connection: time zone, formats and timeouts. */
import type { PrecedingStatement } from '../internals/pg';

export interface ConnectionSettings {
  timeZone: string;
  /** `lock_timeout` in milliseconds; absent or 0: none. */
  lockTimeout?: number;
  /** `idle_in_transaction_session_timeout` in milliseconds; absent or 0: none. */
  idleTransactionTimeout?: number;
}

type Settings = Record<string, string | number>;

/**
 * Formats of dates and strings. PostgreSQL reports changes of these settings to the client, so a pooler preserves them. Sequelize's quoting requires
 * standard_conforming_strings.
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

/** Returns all settings of a connection. The TCP settings have no effect on a Unix socket. */
const allSettings = (settings: ConnectionSettings, statementTimeout: number): Settings => ({
  ...textFormatSettings(settings),
  ...timeoutSettings(settings, statementTimeout),
  // Limit how long a client that disappeared without closing its connection keeps its locks.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 5,
  tcp_user_timeout: 20_000,
});

const toSetStatements = (settings: Settings, set = 'SET'): string =>
  Object.entries(settings)
    .map(([name, value]) => `${set} ${name} = '${value}'`)
    .join('; ');

/** Returns the startup parameter `options` that sets all settings, without a statement. */
export const startupOptions = (settings: ConnectionSettings, statementTimeout: number): string =>
  Object.entries(allSettings(settings, statementTimeout))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** Returns SET statements for all settings, for session poolers, which drop startup parameters. */
export const buildSetStatements = (
  settings: ConnectionSettings,
  statementTimeout: number,
): string => toSetStatements(allSettings(settings, statementTimeout));

/** Returns SET statements for the settings that a transaction pooler preserves when it moves a client to another PostgreSQL connection. */
export const buildPoolerSafeSetStatements = (settings: ConnectionSettings): string =>
  toSetStatements(textFormatSettings(settings));

/** First statement of a transaction, without a final semicolon. */
export const BEGIN_STATEMENT = 'START TRANSACTION';

/** Returns the first statements of a transaction behind a transaction pooler: BEGIN and the timeouts. */
export const beginWithTimeoutsSql = (
  settings: ConnectionSettings,
  statementTimeout: number,
): string =>
  `${BEGIN_STATEMENT}; ${toSetStatements(timeoutSettings(settings, statementTimeout), 'SET LOCAL')}`;

/** Returns the statement that sets the timeouts, to be sent with each single statement behind a transaction pooler. */
export const statementThatSetsTimeouts = (
  { lockTimeout = 0 }: ConnectionSettings,
  statementTimeout: number,
): PrecedingStatement => ({
  text: `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)`,
  values: [String(statementTimeout), String(lockTimeout)],
});

export const TIMEOUT_SETTING_NAMES = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
];
