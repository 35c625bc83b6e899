/** Write hooks: code of a resource that runs before and after its rows are written. */
import type { Transaction } from 'sequelize';
import type { Context } from '../context';
import type { Entity } from './fields';
import type { InputPath } from './validationissues';

export type FieldValues = Record<string, unknown>;

export interface RowWithValues {
  id: number;
  values: FieldValues;
}

export interface PendingWrite {
  id?: number;
  input?: FieldValues;
  path?: InputPath;
}

/** All hooks except `undoSideEffects` run in the transaction of the write, whether the row is written alone, in a tree or in bulk. */
export interface WriteHooks {
  /**
   * Runs once at the start of a write transaction, with all rows of the entity that it will write. Rows have no `id` on creation and no `input` on
   * deletion.
   */
  onTransactionStart?(
    rows: readonly PendingWrite[],
    context: Context,
    transaction: Transaction,
  ): Promise<void>;
  /** Adds values derived from the request context, without querying the database. `id` is absent on creation. */
  addDerivedValues?(values: FieldValues, context: Context, id?: number): void;
  /** Runs before each row is written and may change its values. `id` is absent on creation. */
  beforeRowWrite?(
    values: FieldValues,
    context: Context,
    transaction: Transaction,
    id?: number,
  ): Promise<void> | void;
  /** Runs once per statement, after its rows are written. Receives all rows, in the order of the input. */
  afterRowsWritten?(
    writtenRows: readonly RowWithValues[],
    context: Context,
    transaction: Transaction,
  ): Promise<void>;
  /** Reverts side effects of `beforeRowWrite` outside of the database (such as stored files) after the transaction has failed. */
  undoSideEffects?(values: FieldValues, context: Context): Promise<void>;
}

const hooksByEntity = new Map<Entity, WriteHooks>();

export const registerHooks = (entity: Entity, entityHooks: WriteHooks): void =>
  void hooksByEntity.set(entity, entityHooks);
export const hooksOf = (entity: Entity): WriteHooks => hooksByEntity.get(entity) ?? {};
