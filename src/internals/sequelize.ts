/**
 * Private members of Sequelize.
 *
 * - `renderSelect`: the query generator is accessible, its methods are not documented. `findAll` renders each statement anew, which takes 51 µs, and cannot
 *   run it by the name of a prepared statement.
 * - `useConnections`: the pool of Sequelize cannot be replaced by option. With two pools for writes the circuit breaker, the settings of connections and
 *   the limit of their number would apply to one of them only.
 * - `extendBegin` and `connectionOf`: the session user for row-level security is set in the packet of BEGIN, and reads of the transaction run on its
 *   connection. A statement after BEGIN, from a hook, would cost a round trip more for each write (53 µs over a Unix socket).
 *
 * Checked with sequelize 6.37.8.
 */
import type { Client } from 'pg';
import type { Model, ModelStatic, Sequelize, Transaction } from 'sequelize';

interface BeginningTransaction {
  /** Present for a savepoint. */
  parent?: unknown;
  options: SessionUserOption;
}

/** Option of `sequelize.transaction` in addition to the documented ones, which Sequelize keeps as it is. */
export interface SessionUserOption {
  viewer?: string;
}

interface QueryGenerator {
  selectQuery(table: string, options: object, model: ModelStatic<Model>): string;
  startTransactionQuery(transaction: BeginningTransaction): string;
}

const generatorOf = (sequelize: Sequelize) => sequelize.getQueryInterface().queryGenerator as QueryGenerator;

/** The SELECT statement that `findAll` would run with these options, without a semicolon. */
export const renderSelect = (model: ModelStatic<Model>, table: string, options: object): string =>
  generatorOf(model.sequelize!).selectQuery(table, options, model).replace(/;$/, '');

export interface Connections<C extends Client> {
  getConnection(this: void): Promise<C>;
  releaseConnection(this: void, connection: C): void;
  /** Closes a connection whose state is unknown, because COMMIT or ROLLBACK failed. */
  destroyConnection(this: void, connection: C): Promise<void>;
}

/** Takes connections from elsewhere instead of from Sequelize's own pool. */
export const useConnections = <C extends Client>(sequelize: Sequelize, connections: Connections<C>): void =>
  void Object.assign(sequelize.connectionManager, connections);

/** Replaces the SQL that begins a transaction; savepoints stay as they are. */
export function extendBegin(sequelize: Sequelize, beginning: (options: SessionUserOption) => string): void {
  const generator = generatorOf(sequelize);
  const begin = generator.startTransactionQuery.bind(generator);
  generator.startTransactionQuery = (transaction) => (transaction.parent ? begin(transaction) : beginning(transaction.options));
}

export const connectionOf = <C extends Client>(transaction: Transaction): C => (transaction as Transaction & { connection: C }).connection;
