/** Small public tables in memory, refreshed on every instance when the database says that they changed (a trigger's NOTIFY). */
import { Client } from 'pg';
import type { Logger } from 'pino';
import type { Database, Row } from '../database/connection';
import { fieldsOf, type Entity } from './fields';
import { columnsOf, from } from './plan';
import { resourceOf } from './resource';

export const CHANNEL = 'fitgraph_reference';
const RETRY_MS = 500;

export class ReferenceTables {
  private readonly rows = new Map<Entity, Map<number, Row>>();
  private readonly byTable = new Map<string, Entity>();
  private listener?: Client;
  private closed = false;

  constructor(
    private readonly database: Database,
    entities: readonly Entity[],
    private readonly log: Logger,
  ) {
    for (const entity of entities) if (resourceOf(entity)!.inMemory) this.byTable.set(resourceOf(entity)!.table, entity);
  }

  get(entity: Entity, id: number): Row | null {
    return this.rows.get(entity)?.get(id) ?? null;
  }

  all(entity: Entity): Row[] {
    return [...(this.rows.get(entity)?.values() ?? [])];
  }

  /** Listens first and reads then, so that no change falls between the two. */
  async start(): Promise<void> {
    await this.listen();
    await this.reload();
  }

  async stop(): Promise<void> {
    this.closed = true;
    await this.listener?.end().catch(() => undefined);
  }

  async reload(tables: Iterable<string> = this.byTable.keys()): Promise<void> {
    for (const table of tables) {
      const entity = this.byTable.get(table);
      if (!entity) continue;
      const names = fieldsOf(entity).map((field) => field.name);
      const { rows } = await this.database.pool.query(`SELECT ${columnsOf(entity, names)} ${from(entity)} ORDER BY t."id"`);
      this.rows.set(entity, new Map(rows.map((row) => [row.id, row])));
    }
  }

  private async listen(): Promise<void> {
    const client = new Client({ ...this.database.options.connection, application_name: 'fitgraph listener', keepAlive: true });
    client.on('error', () => this.again(client));
    client.on('end', () => this.again(client));
    client.on('notification', ({ payload }) => {
      this.reload(payload ? [payload] : undefined).catch((error) => this.log.error({ err: error }, 'a reference table could not be read'));
    });
    await client.connect();
    await client.query(`LISTEN ${CHANNEL}`);
    this.listener = client;
  }

  /** The connection was lost: what changed meanwhile is not known, so everything is read again. */
  private again(client: Client): void {
    if (this.closed || this.listener !== client) return;
    this.listener = undefined;
    const attempt = () => {
      if (this.closed) return;
      this.start().catch(() => setTimeout(attempt, RETRY_MS).unref());
    };
    setTimeout(attempt, RETRY_MS).unref();
  }
}
