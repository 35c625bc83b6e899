/** What every connection is told before it is used: its zone, and what ends that which takes too long. */
import type { Before } from './namedquery';

export interface Limits {
  timeZone: string;
  /** Milliseconds for which a statement waits for what another transaction holds; absent or 0: as long as it may take at all. */
  lockTimeout?: number;
  /** Milliseconds after which a transaction that does nothing is ended, and what it holds is free; absent or 0: never. */
  idleTransactionTimeout?: number;
}

type Settings = Record<string, string | number>;

/** How texts are read and shown. PostgreSQL reports these, so a pooler keeps them; in a text that Sequelize quotes a backslash is one. */
const ofTexts = ({ timeZone }: Limits): Settings => ({ TimeZone: timeZone, DateStyle: 'ISO,YMD', standard_conforming_strings: 'on' });

/** What ends that which takes too long. */
const timeouts = ({ lockTimeout = 0, idleTransactionTimeout = 0 }: Limits, statementTimeout: number): Settings => ({
  statement_timeout: statementTimeout,
  lock_timeout: lockTimeout,
  idle_in_transaction_session_timeout: idleTransactionTimeout,
});

/** What PostgreSQL knows of TCP does nothing on a local socket. */
const settings = (limits: Limits, statementTimeout: number): Settings => ({
  ...ofTexts(limits),
  ...timeouts(limits, statementTimeout),
  // A client that is gone without a word holds nothing for longer than this.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 5,
  tcp_user_timeout: 20_000,
});

const statements = (those: Settings, set = 'SET'): string =>
  Object.entries(those)
    .map(([name, value]) => `${set} ${name} = '${value}'`)
    .join('; ');

/** Given when a connection is made, so that no statement is needed for it. */
export const settingsOf = (limits: Limits, statementTimeout: number): string =>
  Object.entries(settings(limits, statementTimeout))
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** The same as statements, for a session behind a pooler, which drops what a connection asks for when it is made. */
export const settingOf = (limits: Limits, statementTimeout: number): string => statements(settings(limits, statementTimeout));

/** What a pooler keeps for a connection whatever session each of its transactions has, because PostgreSQL reports it. */
export const keptByPoolers = (limits: Limits): string => statements(ofTexts(limits));

/** Of a transaction; the last semicolon is left to what follows. */
export const BEGINNING = 'START TRANSACTION';

/** The rest of it, as each transaction there begins. */
export const beginningWith = (limits: Limits, statementTimeout: number): string =>
  `${BEGINNING}; ${statements(timeouts(limits, statementTimeout), 'SET LOCAL')}`;

/** And what a statement takes along that is a transaction of its own. */
export const takenAlong = ({ lockTimeout = 0 }: Limits, statementTimeout: number): Before => ({
  text: `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)`,
  values: [String(statementTimeout), String(lockTimeout)],
});

/** Settings that end what takes too long. */
export const TIMEOUTS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
