/** Sequelize, through which everything is written: its connections are told, watched and bound to a viewer like those that read. */
import type { PoolClient, PoolConfig } from 'pg';
import { parse } from 'pg-connection-string';
import { Sequelize } from 'sequelize-typescript';
import type { ConnectionOptions } from './options';
import { CONNECTION_TIMEOUT_MS, first, toldBehind } from './pools';
import { KEEP_ALIVE, type Pulse, type Wire } from './pulse';
import { BEGINNING, beginningWith, settingsOf } from './settings';
import { readAlike } from './types';
import type { Viewers } from './viewers';

export function openSequelize(options: ConnectionOptions, most: number, pulse: Pulse, viewers: Viewers): Sequelize {
  const { connection, pooling, statementTimeout = 0 } = options;
  const { ssl, ...target } = sequelizeConnection(connection);
  const told = toldBehind(pooling, options, statementTimeout);
  const sequelize = new Sequelize({
    dialect: 'postgres',
    ...target,
    models: options.models,
    logging: false,
    benchmark: true,
    define: { underscored: true, timestamps: false },
    pool: { max: most, min: 0, idle: 10_000 },
    dialectOptions: {
      options: settingsOf(options, statementTimeout),
      application_name: 'fitgraph',
      keepAlive: true,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      // Notices are read by nobody, and a pooler gives a session with its settings to others.
      clientMinMessages: 'ignore',
      ...(ssl ? { ssl } : {}),
    },
    hooks: {
      afterConnect: async (client) => {
        const { connection: wire } = client as Wire;
        wire.stream.setKeepAlive?.(true, KEEP_ALIVE.keepAliveInitialDelayMillis);
        pulse.watch(client as Wire, statementTimeout);
        readAlike(client as PoolClient);
        await first(client as PoolClient, [told, viewers.first]);
      },
    },
  });
  // It has the zone of all connections, and shows moments as they do.
  const { config } = sequelize as unknown as { config: { keepDefaultTimezone: boolean } };
  config.keepDefaultTimezone = true;
  tellEachTransaction(sequelize, pooling === 'transaction' ? beginningWith(options, statementTimeout) : BEGINNING, viewers);
  return sequelize;
}

/** In the packet that begins it, where it belongs to a viewer of whom too. */
function tellEachTransaction(sequelize: Sequelize, beginning: string, viewers: Viewers): void {
  type Begun = { parent?: unknown; options: { viewer?: string } };
  const generator = sequelize.getQueryInterface().queryGenerator as { startTransactionQuery(of: Begun): string };
  const begin = generator.startTransactionQuery.bind(generator);
  generator.startTransactionQuery = (of) => (of.parent ? begin(of) : beginning + viewers.beginning(of.options.viewer));
}

/** The same connection for Sequelize, which knows other names. */
function sequelizeConnection({ connectionString, ...given }: PoolConfig) {
  const { host, port, user, password, database, ssl } = connectionString ? parse(connectionString) : given;
  return {
    host: host ?? undefined,
    port: Number(port ?? 5432),
    username: user,
    password: password as string,
    database: database ?? undefined,
    ssl,
  };
}
