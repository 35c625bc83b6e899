/** Why the database did not do what was asked of it, where the reason is not in what was asked. */

/** Nobody waits for the answer any more. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone');
  }
}

/** There is more to do than can be done soon. */
export class Overloaded extends Error {
  constructor() {
    super('too many requests wait for the database');
  }
}

/** No connection could be had, or it was lost. */
export class Unavailable extends Error {
  constructor(override readonly cause: unknown) {
    super(`the database cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** Of PostgreSQL, https://www.postgresql.org/docs/current/errcodes-appendix.html: connections that fail, too many of them, a server that starts or stops. */
const UNAVAILABLE = /^(08...|53300|57P0[1-5])$/;
const TIMEOUT = '57014';

const codeOf = (error: unknown): string => {
  const { code, original } = (error ?? {}) as { code?: unknown; original?: { code?: unknown } };
  return String(original?.code ?? code);
};

/** Whether PostgreSQL gave the statement up because it took too long. */
export const isTimeout = (error: unknown): boolean => codeOf(error) === TIMEOUT;

export const isUnavailable = (error: unknown): boolean => error instanceof Unavailable || UNAVAILABLE.test(codeOf(error));
