/** Why the database did not do what was asked of it, where the reason is not in what was asked. */
import { DatabaseError } from 'pg';
import { ConnectionAcquireTimeoutError, ConnectionError, DatabaseError as SequelizeDatabaseError } from 'sequelize';

export class ClientGone extends Error {
  constructor() {
    super('the client has gone');
  }
}

/** The rows for one answer are longer than it may be. */
export class TooMuchRead extends Error {
  constructor(readonly limit: number) {
    super(`the rows that were asked for are longer than ${limit} bytes`);
  }
}

/** No connection could be had, or it was lost. */
export class Unavailable extends Error {
  constructor(override readonly cause: unknown) {
    super(`the database cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** The connection was lost while a change was being confirmed: it was made or it was not, and nobody can tell from here. */
export class Uncertain extends Unavailable {}

/**
 * Of PostgreSQL, https://www.postgresql.org/docs/current/errcodes-appendix.html: reasons that are its own, and pass. Connections that fail, too many of
 * them, a transaction that was ended because nothing came, a server that starts or stops.
 */
const UNREACHABLE = /^(08...|53300|25P0[34]|57P0[1-5])$/;
/** No room on the disk or in memory, no writing, a lock, an error of the operating system. */
const UNABLE = /^(53...|25006|55P03|58...)$/;
/** A block or a row that is not what it should be, or a file that is not there. */
const DAMAGE = /^(XX...|22...|58P01)$/;
const TIMEOUT = '57014';
const LOCKED = '55P03';

/** Others wait for what this needs already, and one of them is told when it is free. */
export class Locked extends Error {
  constructor() {
    super('what is written to is locked');
  }
}

/** Of PostgreSQL, or of the operating system; Sequelize wraps what it did not make. */
function originalOf(error: unknown): unknown {
  const { original } = (error ?? {}) as { original?: unknown };
  return original ?? error;
}

export const codeOf = (error: unknown): string => String((originalOf(error) as { code?: unknown } | undefined)?.code);

export const isTimeout = (error: unknown): boolean => codeOf(error) === TIMEOUT;

/** Whether another transaction held what was needed for too long. */
export const isLocked = (error: unknown): boolean => error instanceof Locked || codeOf(error) === LOCKED;

/** Whether the connection failed, or none could be had; in a transaction, and where Sequelize or pg itself was asked. */
export function isLost(error: unknown): boolean {
  if (error instanceof Unavailable || UNREACHABLE.test(codeOf(error))) return true;
  if (error instanceof ConnectionError || error instanceof ConnectionAcquireTimeoutError) return true;
  // What PostgreSQL itself says came over a connection that is well.
  return error instanceof SequelizeDatabaseError && !(error.original instanceof DatabaseError);
}

export const isUnavailable = (error: unknown): boolean => UNREACHABLE.test(codeOf(error)) || isLost(error);

/** Whether PostgreSQL answers, and cannot do what it is asked to do, whatever that is. */
export const isUnable = (error: unknown): boolean => UNABLE.test(codeOf(error));

export const isDamage = (error: unknown): boolean => DAMAGE.test(codeOf(error));
