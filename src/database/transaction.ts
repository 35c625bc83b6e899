/** Transactions of a request's session, and of the server itself. */
import { DatabaseError, type PoolClient } from 'pg';
import type { Model, ModelStatic } from 'sequelize';
import { bindModel, type BoundModel } from './internals/sequelize';
import { CommitOutcomeUnknown, isDatabaseUnavailableError, toStatementError } from './errors';
import type { Row, StatementParameters } from './rows';

/** The part of pg's client that `inTransaction` uses. */
interface StatementSender {
  query(text: string): Promise<unknown>;
}

/** Commits a transaction. Throws CommitOutcomeUnknown if the connection is lost during COMMIT. */
export async function commit(client: StatementSender): Promise<void> {
  try {
    await client.query('COMMIT');
  } catch (error) {
    if (error instanceof DatabaseError && !isDatabaseUnavailableError(error)) throw error;
    throw new CommitOutcomeUnknown(error);
  }
}

/**
 * Runs `callback` in a transaction, which an error rolls back. If ROLLBACK fails too, the
 * connection stays in the transaction and must be closed.
 */
export async function inTransaction<T>(
  client: StatementSender,
  callback: () => Promise<T>,
  beginSql = 'BEGIN',
): Promise<T> {
  await client.query(beginSql);
  let result: T;

  try {
    result = await callback();
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }

  await commit(client);
  return result;
}

/** A transaction of a session. Its statements share one connection and run one after the other. */
export class Transaction {
  /** Resolves when the last statement has ended. */
  private lastStatement: Promise<void> = Promise.resolve();
  private savepointCount = 0;

  constructor(
    private readonly client: PoolClient,
    private readonly send: (text: string, values: StatementParameters) => Promise<Row[]>,

    /** Counts and traces a statement of a Sequelize model. */
    private readonly logStatement: (text: string, milliseconds?: number) => void,
  ) {}

  /**
   * Runs statements one after the other. Uses `await` instead of a chain of `then`, so that V8
   * shows the callers in the stack of an error.
   */
  private async enqueue<T>(run: () => Promise<T>): Promise<T> {
    const { lastStatement } = this;
    let end!: () => void;

    this.lastStatement = new Promise((resolve) => (end = resolve));
    await lastStatement;

    try {
      return await run();
    } finally {
      end();
    }
  }

  query(text: string, values: StatementParameters = []): Promise<Row[]> {
    return this.enqueue(() => this.send(text, values));
  }

  /** Runs `callback` with the server's own role, to which row-level security does not apply. */
  async asServer<T>(callback: () => Promise<T>): Promise<T> {
    const [row] = await this.query(`SELECT current_setting('role') AS "role"`);

    await this.query('SET LOCAL ROLE NONE');
    const result = await callback();

    // After an error, the rollback restores the role.
    await this.query(`SELECT set_config('role', $1, true)`, [row!.role]);
    return result;
  }

  /** Queries of a Sequelize model, as part of this transaction. */
  model<M extends Model>(model: ModelStatic<M>): BoundModel<M> {
    return bindModel(
      model,
      this.client,
      this.logStatement,
      (run) => this.enqueue(run),
      toStatementError,
    );
  }

  /** Runs `callback` in a savepoint, to which an error rolls back. */
  async savepoint<T>(callback: () => Promise<T>): Promise<T> {
    const name = `savepoint_${(this.savepointCount += 1)}`;

    await this.query(`SAVEPOINT ${name}`);

    try {
      return await callback();
    } catch (error) {
      await this.query(`ROLLBACK TO SAVEPOINT ${name}`);
      throw error;
    }
  }
}
