/**
 * Sets the session user for row-level security: the setting `fitgraph.viewer`, which the policies
 * read. It is sent only when the user of a connection changes, in the packet of the next statement.
 * Behind a transaction pooler, it is sent with every statement and transaction.
 */
import { escapeIdentifier, type ClientBase } from 'pg';
import type { PrecedingStatement } from './internals/pg';

/**
 * The session user of anonymous clients. It matches no user id, so row-level security hides the
 * rows of all users.
 */
export const ANONYMOUS_SESSION_USER = '';

const SET_VIEWER_SQL = `SELECT WHERE set_config('fitgraph.viewer', $1, false) IS NULL`;

export class SessionUsers {
  /**
   * PostgreSQL role of requests. Absent: they use the server's own role, without row-level
   * security. Set it before opening connections.
   */
  role?: string;
  private readonly sessionUserIdByClient = new WeakMap<ClientBase, string>();

  /**
   * With `isPooled`, the session user is set for each transaction, because a transaction pooler may
   * run each one in a different session.
   */
  constructor(private readonly isPooled: boolean) {}

  /** First SQL statement of a new connection for requests. */
  get connectionSetupSql(): string | undefined {
    if (this.role === undefined || this.isPooled) return undefined;

    return `SET ROLE ${escapeIdentifier(this.role)}`;
  }

  /**
   * Builds the statement to send before another one: it sets the timeouts, and the session user if
   * the connection has a different one. An undefined `sessionUserId` means that the session user
   * does not matter.
   */
  precedingStatement(
    client: ClientBase,
    sessionUserId: string | undefined,
    timeoutsStatement: PrecedingStatement | undefined,
  ): PrecedingStatement | undefined {
    if (this.role === undefined) return timeoutsStatement;
    if (this.isPooled) return this.addSessionUser(timeoutsStatement!, sessionUserId);

    if (sessionUserId === undefined || this.sessionUserIdByClient.get(client) === sessionUserId) {
      return undefined;
    }

    this.sessionUserIdByClient.set(client, sessionUserId);
    return { text: SET_VIEWER_SQL, values: [sessionUserId] };
  }

  private addSessionUser(
    { text, values }: PrecedingStatement,
    sessionUserId = ANONYMOUS_SESSION_USER,
  ): PrecedingStatement {
    const parameterNumber = values.length + 1;

    return {
      text: `${text}, set_config('role', $${parameterNumber}, true), set_config('fitgraph.viewer', $${parameterNumber + 1}, true)`,
      values: [...values, this.role!, sessionUserId],
    };
  }

  /**
   * Forgets the session user of a connection. Call this when a statement has failed, because the
   * rollback also undid the change of the session user.
   */
  forgetUser(client: ClientBase): void {
    this.sessionUserIdByClient.delete(client);
  }

  /**
   * SQL to append to BEGIN, in the same packet. Without a session user, the transaction is the
   * server's own.
   */
  afterBeginSql(sessionUserId: string | undefined): string {
    const setUserSql = `; SET LOCAL fitgraph.viewer = '${sessionUserId}'`;

    // Without row-level security, the history of the catalogue still reads the session user.
    if (this.role === undefined) return sessionUserId === undefined ? '' : setUserSql;
    const isServerTransaction = sessionUserId === undefined;

    if (this.isPooled) {
      if (isServerTransaction) return '';

      return `; SET LOCAL ROLE ${escapeIdentifier(this.role)}${setUserSql}`;
    }

    if (isServerTransaction) return '; SET LOCAL ROLE NONE';

    return setUserSql;
  }
}
