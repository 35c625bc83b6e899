/**
 * Sets the session user for row-level security (`fitgraph.viewer`, read by the policies; the role is in `viewerrole.ts`). A connection remembers the last
 * user, so the setting is sent only when the user changes, in the packet of the statement that needs it. Behind a transaction pooler, where sessions are
 * not kept, every statement and transaction sends it.
 */
import { escapeIdentifier, type ClientBase } from 'pg';
import type { PrecedingStatement } from '../internals/pg';

/** The session user of anonymous clients: matches no owned row. */
export const ANONYMOUS = '';

const TELL = `SELECT WHERE set_config('fitgraph.viewer', $1, false) IS NULL`;

export class SessionUsers {
  /** Role of request connections. Absent: the server's own role, to which row-level security does not apply. Set it before connections are opened. */
  role?: string;
  private readonly userByClient = new WeakMap<ClientBase, string>();

  constructor(
    /** Behind a transaction pooler every transaction runs in a different session. */
    private readonly perTransaction: boolean,
  ) {}

  /** First statement of a new request connection, if any. */
  get first(): string | undefined {
    return this.role === undefined || this.perTransaction ? undefined : `SET ROLE ${escapeIdentifier(this.role)}`;
  }

  /** Statement to send before one of this viewer, or `along` (sent with every statement) alone. Without a viewer any session user is fine. */
  before(client: ClientBase, viewer: string | undefined, along: PrecedingStatement | undefined): PrecedingStatement | undefined {
    if (this.role === undefined) return along;
    if (this.perTransaction) return this.with(along!, viewer);
    if (viewer === undefined || this.userByClient.get(client) === viewer) return undefined;
    this.userByClient.set(client, viewer);
    return { text: TELL, values: [viewer] };
  }

  private with({ text, values }: PrecedingStatement, viewer = ANONYMOUS): PrecedingStatement {
    const next = values.length + 1;
    return {
      text: `${text}, set_config('role', $${next}, true), set_config('fitgraph.viewer', $${next + 1}, true)`,
      values: [...values, this.role!, viewer],
    };
  }

  /** Call this when a statement failed: its SET was rolled back with it. */
  forget(client: ClientBase): void {
    this.userByClient.delete(client);
  }

  /** SQL to append to BEGIN, in the same packet. Without a viewer the transaction belongs to the server itself. */
  beginning(viewer: string | undefined): string {
    if (this.role === undefined) return '';
    const own = viewer === undefined;
    if (!this.perTransaction) return own ? '; SET LOCAL ROLE NONE' : `; SET LOCAL fitgraph.viewer = '${viewer}'`;
    return own ? '' : `; SET LOCAL ROLE ${escapeIdentifier(this.role)}; SET LOCAL fitgraph.viewer = '${viewer}'`;
  }
}
