/** Sequelize for writes, on connections of our own pool, with the session user for row-level security sent in the packet of BEGIN. */
import type { Pool, PoolClient } from 'pg';
import { Sequelize } from 'sequelize-typescript';
import type { ConnectionOptions } from './options';
import { Unavailable } from './errors';
import { BEGIN, beginWithTimeouts } from './settings';
import type { SessionUsers } from './sessionuser';

export function openSequelize({ models, pooling, ...options }: ConnectionOptions, pool: Pool, viewers: SessionUsers): Sequelize {
  const sequelize = new Sequelize({
    dialect: 'postgres',
    models,
    logging: false,
    benchmark: true,
    define: { underscored: true, timestamps: false },
  });
  Object.assign(sequelize.connectionManager, {
    getConnection: () =>
      pool.connect().catch((error) => {
        throw new Unavailable(error);
      }),
    releaseConnection: (client: PoolClient) => client.release(),
    destroyConnection: async (client: PoolClient) => client.release(true),
  } satisfies Partial<typeof sequelize.connectionManager>);
  const { statementTimeout = 0 } = options;
  tellEachTransaction(sequelize, pooling === 'transaction' ? beginWithTimeouts(options, statementTimeout) : BEGIN, viewers);
  return sequelize;
}

/** Extends BEGIN by the timeouts and the session user of the transaction. */
function tellEachTransaction(sequelize: Sequelize, beginning: string, viewers: SessionUsers): void {
  type Begun = { parent?: unknown; options: { viewer?: string } };
  const generator = sequelize.getQueryInterface().queryGenerator as { startTransactionQuery(of: Begun): string };
  const begin = generator.startTransactionQuery.bind(generator);
  generator.startTransactionQuery = (of) => (of.parent ? begin(of) : beginning + viewers.beginning(of.options.viewer));
}
