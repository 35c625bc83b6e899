/**
 * For whom a statement runs, as the policies of PostgreSQL know it (`viewerrole.ts`). A connection keeps whom it was told of last, so it is told only
 * of another one, in the packet of the statement that needs it. Where no session is kept, each statement and each transaction tells it.
 */
import { escapeIdentifier, type ClientBase } from 'pg';
import type { Before } from './namedquery';

/** Who is not signed in: has no rows. */
export const NOBODY = '';

const TELL = `SELECT WHERE set_config('fitgraph.viewer', $1, false) IS NULL`;

export class Viewers {
  /** In whose name requests ask; absent: in that of the server itself, to whom PostgreSQL shows everything. To be set before there are connections. */
  role?: string;
  private readonly told = new WeakMap<ClientBase, string>();

  constructor(
    /** Whether each transaction has another session. */
    private readonly perTransaction: boolean,
  ) {}

  /** What a new connection of requests is told first, if anything. */
  get first(): string | undefined {
    return this.role === undefined || this.perTransaction ? undefined : `SET ROLE ${escapeIdentifier(this.role)}`;
  }

  /**
   * What goes before a statement of this viewer, if anything, beside what each statement takes along. Without a viewer it does not matter whom the
   * connection was told of.
   */
  before(client: ClientBase, viewer: string | undefined, along: Before | undefined): Before | undefined {
    if (this.role === undefined) return along;
    if (this.perTransaction) return this.with(along!, viewer);
    if (viewer === undefined || this.told.get(client) === viewer) return undefined;
    this.told.set(client, viewer);
    return { text: TELL, values: [viewer] };
  }

  private with({ text, values }: Before, viewer = NOBODY): Before {
    const next = values.length + 1;
    return {
      text: `${text}, set_config('role', $${next}, true), set_config('fitgraph.viewer', $${next + 1}, true)`,
      values: [...values, this.role!, viewer],
    };
  }

  /** To be called whenever a statement has failed: what it was told of was taken back with it. */
  forget(client: ClientBase): void {
    this.told.delete(client);
  }

  /** What follows the beginning of a transaction, in the same packet. Without a viewer it is one of the server itself. */
  beginning(viewer: string | undefined): string {
    if (this.role === undefined) return '';
    const own = viewer === undefined;
    if (!this.perTransaction) return own ? '; SET LOCAL ROLE NONE' : `; SET LOCAL fitgraph.viewer = '${viewer}'`;
    return own ? '' : `; SET LOCAL ROLE ${escapeIdentifier(this.role)}; SET LOCAL fitgraph.viewer = '${viewer}'`;
  }
}
