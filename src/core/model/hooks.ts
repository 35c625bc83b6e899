/** Write hooks of a resource: its own code that runs before and after rows are written. */
import type { Transaction } from 'sequelize';
import type { Context } from '../context';
import type { Entity } from './fields';
import type { Path } from './mistakes';

/** Values of a row to be written, by field name. */
export type Values = Record<string, unknown>;

export interface Written {
  id: number;
  values: Values;
}

export interface Begun {
  id?: number;
  input?: Values;
  /** Path of the row in the mutation's input. */
  path?: Path;
}

/** Hooks run in the transaction of the write, whether the row is written alone, in a tree or in bulk. */
export interface Hooks {
  /** Runs first in the transaction, once for all rows of the write. `id` is absent on creation, `input` on deletion. */
  begin?(rows: readonly Begun[], context: Context, transaction: Transaction): Promise<void>;
  /** Adds values derived from the request context, without querying the database. `id` is absent on creation. */
  complete?(values: Values, context: Context, id?: number): void;
  /** Runs before each row is written and may change its values. `id` is absent on creation. */
  before?(values: Values, context: Context, transaction: Transaction, id?: number): Promise<void> | void;
  /** Runs after the rows of a statement are written, once for all of them, in the order of the input. */
  after?(writtenRows: readonly Written[], context: Context, transaction: Transaction): Promise<void>;
  /** Reverts side effects of `before` outside of the database (such as stored files) after the transaction has failed. */
  undo?(values: Values, context: Context): Promise<void>;
}

const hooksByEntity = new Map<Entity, Hooks>();

export const hook = (entity: Entity, entityHooks: Hooks): void => void hooksByEntity.set(entity, entityHooks);
export const hooksOf = (entity: Entity): Hooks => hooksByEntity.get(entity) ?? {};
