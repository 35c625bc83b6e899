/**
 * A server with default settings and rows that multiply, several users who own such rows, and the
 * state of its worker process.
 */
import { graphql, Siege } from '../../availability/server-under-attack';
import { insertMultiplyingRows, openDatabase, type OpenDatabase, type RowIds } from './rows';

const USER_NAMES = ['ann', 'bea', 'cy'];

/**
 * The default of admission control, which other tests turn off, and proxies that tell the networks
 * of clients apart.
 */
const ENVIRONMENT = { MAX_LAG: '100ms', TRUSTED_PROXIES: '127.0.0.1, ::1' };

const ACTIVE_STATEMENTS = `
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'active' AND backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`;

export interface CostlyUser {
  token: string;
  ids: RowIds;

  /** Cursor of `Query.changes` from before the rows were inserted. */
  cursor: string;
}

export class Scene {
  private constructor(
    private readonly siege: Siege,
    private readonly database: OpenDatabase,
    readonly users: readonly CostlyUser[],
  ) {}

  static async start(): Promise<Scene> {
    const siege = await Siege.start(ENVIRONMENT);
    const database = await openDatabase(siege);

    const tokens: string[] = [];

    for (const name of USER_NAMES) tokens.push(await siege.user(name));
    const cursors = await Promise.all(tokens.map((token) => readCursor(siege, token)));
    const ids = await insertMultiplyingRows(database.client, USER_NAMES);
    const users = tokens.map((token, index) => ({
      token,
      cursor: cursors[index]!,
      ids: ids[index]!,
    }));

    return new Scene(siege, database, users);
  }

  get base(): string {
    return this.siege.base;
  }

  get worker(): number {
    return this.siege.worker;
  }

  /** Whether the worker still serves requests, rather than another that replaced it. */
  get isWorkerRunning(): boolean {
    return this.siege.server.workers.includes(this.worker);
  }

  /** Whether the database executes a statement of the worker. */
  readonly isDatabaseBusy = async (): Promise<boolean> => {
    const { rowCount } = await this.database.client.query(ACTIVE_STATEMENTS);

    return rowCount === 1;
  };

  async end(): Promise<void> {
    await this.database.close();
    await this.siege.end();
  }
}

async function readCursor(siege: Siege, token: string): Promise<string> {
  const { text } = await graphql(
    siege.base,
    '{ changes { cursor } }',
    {},
    { Authorization: `Token ${token}` },
  );

  return JSON.parse(text).data.changes.cursor;
}
