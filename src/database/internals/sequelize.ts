/**
 * Access to private members of Sequelize.
 *
 * - `bindModel`: Sequelize runs a query on the `connection` of its transaction, and has no option
 *   to pass a connection of another pool.
 *
 * Checked with sequelize 6.37.8.
 */
import type { ClientBase } from 'pg';
import type {
  Attributes,
  CountOptions,
  DestroyOptions,
  FindOptions,
  Model,
  ModelStatic,
  Transaction,
  UpdateOptions,
} from 'sequelize';
import { Sequelize, type ModelCtor } from 'sequelize-typescript';

/** Sequelize instance that initializes the models and opens no connections. */
const sequelize = new Sequelize({
  dialect: 'postgres',
  define: { underscored: true, timestamps: false },
});

/** Queries of a Sequelize model in a transaction. */
export interface BoundModel<M extends Model> {
  findOne(options: FindOptions<Attributes<M>>): Promise<M | null>;
  count(options: CountOptions<Attributes<M>>): Promise<number>;
  create(values: Partial<Attributes<M>>): Promise<M>;
  update(values: Partial<Attributes<M>>, options: UpdateOptions<Attributes<M>>): Promise<unknown>;
  destroy(options: DestroyOptions<Attributes<M>>): Promise<number>;
}

export function bindModel<M extends Model>(
  model: ModelStatic<M>,
  connection: ClientBase,
  logging: (text: string, milliseconds?: number) => void,
  enqueue: <T>(run: () => Promise<T>) => Promise<T>,

  /** Converts an error of pg. */
  convertError: (error: unknown) => unknown,
): BoundModel<M> {
  if (!model.sequelize) sequelize.addModels([model as unknown as ModelCtor]);
  const queryOptions = {
    transaction: { connection } as unknown as Transaction,
    benchmark: true,
    logging,
  };

  const throwOriginalError = (error: { original?: unknown }): never => {
    throw error.original === undefined ? error : convertError(error.original);
  };

  const run = <T>(query: () => Promise<T>) => enqueue(() => query().catch(throwOriginalError));

  return {
    findOne: (options) => run(() => model.findOne({ ...options, ...queryOptions })),
    count: (options) => run(() => model.count({ ...options, ...queryOptions })),
    create: (values) => run(() => model.create(values as M['_creationAttributes'], queryOptions)),
    update: (values, options) => run(() => model.update(values, { ...options, ...queryOptions })),
    destroy: (options) => run(() => model.destroy({ ...options, ...queryOptions })),
  };
}
