/**
 * Sets the session user for row-level security: the setting `fitgraph.viewer`, which the policies read (for the role see `viewerrole.ts`). PostgreSQL keeps
 * it for the session, so it is sent only when the user of a connection changes, in the packet of the statement that needs it. Behind a transaction pooler,
 * where a session lasts only for a transaction, it is sent with every statement and transaction.
 */
import { escapeIdentifier, type ClientBase } from 'pg';
import type { PrecedingStatement } from '../internals/pg';

/** The session user of anonymous clients. It is not the id of a user, so row-level security hides the rows of all users. */
export const ANONYMOUS_SESSION_USER = '';

const SET_VIEWER_SQL = `SELECT WHERE set_config('fitgraph.viewer', $1, false) IS NULL`;

export class SessionUsers {
  /** PostgreSQL role of requests; absent if they use the server's own role, without row-level security. Set it before opening connections. */
  role?: string;
  private readonly sessionUserIdByClient = new WeakMap<ClientBase, string>();

  constructor(
    /** Whether to set the session user for each transaction: behind a transaction pooler, each one may run in a different session. */
    private readonly isSetPerTransaction: boolean,
  ) {}

  /** First statement of a new connection for requests; undefined if none is needed. */
  get firstStatement(): string | undefined {
    return this.role === undefined || this.isSetPerTransaction
      ? undefined
      : `SET ROLE ${escapeIdentifier(this.role)}`;
  }

  /**
   * Returns the statement to send before a statement that runs for the session user `sessionUserId`; undefined if none is needed. It sets the session user, if
   * necessary, and includes `fixedStatement`, which is sent with every statement. If `sessionUserId` is undefined, the session user does not matter.
   */
  precedingStatement(
    client: ClientBase,
    sessionUserId: string | undefined,
    fixedStatement: PrecedingStatement | undefined,
  ): PrecedingStatement | undefined {
    if (this.role === undefined) return fixedStatement;
    if (this.isSetPerTransaction) return this.addSessionUser(fixedStatement!, sessionUserId);
    if (sessionUserId === undefined || this.sessionUserIdByClient.get(client) === sessionUserId)
      return undefined;
    this.sessionUserIdByClient.set(client, sessionUserId);
    return { text: SET_VIEWER_SQL, values: [sessionUserId] };
  }

  private addSessionUser(
    { text, values }: PrecedingStatement,
    sessionUserId = ANONYMOUS_SESSION_USER,
  ): PrecedingStatement {
    const nextParameterNumber = values.length + 1;
    return {
      text: `${text}, set_config('role', $${nextParameterNumber}, true), set_config('fitgraph.viewer', $${nextParameterNumber + 1}, true)`,
      values: [...values, this.role!, sessionUserId],
    };
  }

  /**
   * Forgets which session user is set on a connection. Call this when a statement has failed, because the rollback also undid its change of the session
   * user.
   */
  forgetUser(client: ClientBase): void {
    this.sessionUserIdByClient.delete(client);
  }

  /** Returns the SQL to append to BEGIN, in the same packet. Without a viewer, the transaction belongs to the server itself. */
  sqlAfterBegin(sessionUserId: string | undefined): string {
    if (this.role === undefined) return '';
    const isServerTransaction = sessionUserId === undefined;
    if (!this.isSetPerTransaction)
      return isServerTransaction
        ? '; SET LOCAL ROLE NONE'
        : `; SET LOCAL fitgraph.viewer = '${sessionUserId}'`;
    return isServerTransaction
      ? ''
      : `; SET LOCAL ROLE ${escapeIdentifier(this.role)}; SET LOCAL fitgraph.viewer = '${sessionUserId}'`;
  }
}
