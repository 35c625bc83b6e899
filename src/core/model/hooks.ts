/** What a resource does beside storing its rows. */
import type { Transaction } from 'sequelize';
import type { Context } from '../context';
import type { Entity } from './fields';
import type { Path } from './mistakes';

/** What is written of a row, by the names of its fields. */
export type Values = Record<string, unknown>;

export interface Written {
  id: number;
  values: Values;
}

export interface Begun {
  id?: number;
  input?: Values;
  /** Of the input. */
  path?: Path;
}

/** All of it happens in the transaction of the write, however the row came to be written: alone, in a tree or among many. */
export interface Hooks {
  /** Runs before anything else of the transaction, for all rows of the write; `id` is absent at creation, `input` at deletion. */
  begin?(rows: readonly Begun[], context: Context, transaction: Transaction): Promise<void>;
  /** Adds to the values of a row what the request tells, and asks nothing of the database. `id` is absent at creation. */
  complete?(values: Values, context: Context, id?: number): void;
  /** May change the values that are stored. Runs for each row; `id` is absent at creation. */
  before?(values: Values, context: Context, transaction: Transaction, id?: number): Promise<void> | void;
  /** Runs once for all rows of a statement, in the order of the input. */
  after?(written: readonly Written[], context: Context, transaction: Transaction): Promise<void>;
  /** Takes back what `before` did outside of the database for a row that was not written after all. */
  undo?(values: Values, context: Context): Promise<void>;
}

const hooks = new Map<Entity, Hooks>();

export const hook = (entity: Entity, itsHooks: Hooks): void => void hooks.set(entity, itsHooks);
export const hooksOf = (entity: Entity): Hooks => hooks.get(entity) ?? {};
