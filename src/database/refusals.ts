/** Why the database did not do what was asked of it, where the reason is not in what was asked. */

/** Nobody waits for the answer any more. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone');
  }
}

const codeOf = (error: unknown): unknown => {
  const { code, original } = (error ?? {}) as { code?: unknown; original?: { code?: unknown } };
  return original?.code ?? code;
};

/** Whether PostgreSQL gave the statement up because it took too long. */
export const isTimeout = (error: unknown): boolean => codeOf(error) === '57014';
