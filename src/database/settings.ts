/** PostgreSQL settings of every connection: time zone, formats and timeouts. */
import type { PrecedingStatement } from '../internals/pg';

export interface ConnectionLimits {
  timeZone: string;
  /** `lock_timeout` in milliseconds; absent or 0: none. */
  lockTimeout?: number;
  /** `idle_in_transaction_session_timeout` in milliseconds; absent or 0: none. */
  idleTransactionTimeout?: number;
}

type Settings = Record<string, string | number>;

/** Formats of dates and strings. PostgreSQL reports changes of these, so a pooler preserves them. Sequelize's quoting requires standard_conforming_strings. */
const ofTexts = ({ timeZone }: ConnectionLimits): Settings => ({
  TimeZone: timeZone,
  DateStyle: 'ISO,YMD',
  standard_conforming_strings: 'on',
});

const timeouts = ({ lockTimeout = 0, idleTransactionTimeout = 0 }: ConnectionLimits, statementTimeout: number): Settings => ({
  statement_timeout: statementTimeout,
  lock_timeout: lockTimeout,
  idle_in_transaction_session_timeout: idleTransactionTimeout,
});

/** TCP settings have no effect on a local socket. */
const settings = (limits: ConnectionLimits, statementTimeout: number): Settings => ({
  ...ofTexts(limits),
  ...timeouts(limits, statementTimeout),
  // Bounds how long a client that vanished keeps its locks.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 5,
  tcp_user_timeout: 20_000,
});

const statements = (those: Settings, set = 'SET'): string =>
  Object.entries(those)
    .map(([name, value]) => `${set} ${name} = '${value}'`)
    .join('; ');

/** Startup parameter `options`, which needs no statement. */
export const startupOptions = (limits: ConnectionLimits, statementTimeout: number): string =>
  Object.entries(settings(limits, statementTimeout))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** The same as SET statements, for session poolers, which drop startup parameters. */
export const setStatements = (limits: ConnectionLimits, statementTimeout: number): string => statements(settings(limits, statementTimeout));

/** SET statements whose effect a transaction pooler preserves across sessions. */
export const poolerSafeSettings = (limits: ConnectionLimits): string => statements(ofTexts(limits));

/** First statement of a transaction, without a final semicolon. */
export const BEGIN = 'START TRANSACTION';

/** The same with timeouts, for transaction poolers. */
export const beginWithTimeouts = (limits: ConnectionLimits, statementTimeout: number): string =>
  `${BEGIN}; ${statements(timeouts(limits, statementTimeout), 'SET LOCAL')}`;

/** Timeouts sent with a single statement, for transaction poolers. */
export const timeoutsWithStatement = ({ lockTimeout = 0 }: ConnectionLimits, statementTimeout: number): PrecedingStatement => ({
  text: `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)`,
  values: [String(statementTimeout), String(lockTimeout)],
});

export const TIMEOUT_SETTINGS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
