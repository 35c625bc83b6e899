/** Sequelize for writes. It uses connections of our own pool, and sends the session user for row-level security in the packet of BEGIN. */
import type { Pool, PoolClient } from 'pg';
import { Sequelize } from 'sequelize-typescript';
import { replaceBeginStatement, replaceConnectionPool } from '../internals/sequelize';
import type { ConnectionOptions } from './options';
import { DatabaseUnavailable } from './errors';
import { BEGIN_STATEMENT, beginWithTimeoutsSql } from './settings';
import type { SessionUsers } from './sessionuser';

export function openSequelize(
  { models, poolerMode, ...options }: ConnectionOptions,
  pool: Pool,
  sessionUsers: SessionUsers,
): Sequelize {
  const sequelize = new Sequelize({
    dialect: 'postgres',
    models,
    logging: false,
    benchmark: true,
    define: { underscored: true, timestamps: false },
  });
  replaceConnectionPool<PoolClient>(sequelize, {
    getConnection: () =>
      pool.connect().catch((error) => {
        throw new DatabaseUnavailable(error);
      }),
    releaseConnection: (client) => client.release(),
    destroyConnection: async (client) => client.release(true),
  });
  const { statementTimeout = 0 } = options;
  const beginSql =
    poolerMode === 'transaction'
      ? beginWithTimeoutsSql(options, statementTimeout)
      : BEGIN_STATEMENT;
  replaceBeginStatement(
    sequelize,
    ({ sessionUserId }) => beginSql + sessionUsers.sqlAfterBegin(sessionUserId),
  );
  return sequelize;
}
