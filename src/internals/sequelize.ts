/**
 * Access to private members of Sequelize.
 *
 * - `replaceConnectionPool`: Sequelize has no option to replace its connection pool. With a second pool for writes, the circuit breaker, the connection
 *   settings and the connection limit would apply only to ours.
 * - `replaceBeginStatement` and `connectionOf`: the session user for row-level security is set in the packet of BEGIN, and reads of the transaction run on its
 *   connection. With a documented hook, a statement after BEGIN would cost each write another round trip (53 µs over a Unix socket).
 *
 * Checked with sequelize 6.37.8.
 */
import type { Client } from 'pg';
import type { Sequelize, Transaction } from 'sequelize';

interface TransactionToBegin {
  /** Outer transaction of a savepoint; absent for other transactions. */
  parent?: unknown;
  options: SessionUserOption;
}

/** Additional option of `sequelize.transaction`. Sequelize stores unknown options in the transaction unchanged. */
export interface SessionUserOption {
  sessionUserId?: string;
}

interface QueryGenerator {
  startTransactionQuery(transaction: TransactionToBegin): string;
}

const queryGeneratorOf = (sequelize: Sequelize) =>
  sequelize.getQueryInterface().queryGenerator as QueryGenerator;

export interface ConnectionProvider<C extends Client> {
  getConnection(this: void): Promise<C>;
  releaseConnection(this: void, connection: C): void;
  /** Closes a connection whose state is unknown, because COMMIT or ROLLBACK failed. */
  destroyConnection(this: void, connection: C): Promise<void>;
}

export const replaceConnectionPool = <C extends Client>(
  sequelize: Sequelize,
  connectionProvider: ConnectionProvider<C>,
): void => void Object.assign(sequelize.connectionManager, connectionProvider);

/** Replaces the SQL that begins a transaction by the SQL that `beginStatementSql` returns. Savepoints are not affected. */
export function replaceBeginStatement(
  sequelize: Sequelize,
  beginStatementSql: (options: SessionUserOption) => string,
): void {
  const queryGenerator = queryGeneratorOf(sequelize);
  const originalBeginSql = queryGenerator.startTransactionQuery.bind(queryGenerator);
  queryGenerator.startTransactionQuery = (transaction) =>
    transaction.parent ? originalBeginSql(transaction) : beginStatementSql(transaction.options);
}

export const connectionOf = <C extends Client>(transaction: Transaction): C =>
  (transaction as Transaction & { connection: C }).connection;
