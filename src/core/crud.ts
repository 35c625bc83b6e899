/** crud(X): the resolver of a resource, made of type-graphql's own decorators from the fields of X. */
import { Arg, Ctx, FieldResolver, ID, Info, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import type { Transaction } from 'sequelize';
import type { Row } from '../database/connection';
import { OWNER, ownership, scope, visible } from './access';
import { binder, equals, whereOf } from './conditions';
import { listPage, listRequest, type Connection, type PageArgs } from './connection';
import type { Context } from './context';
import { notFound } from './errors';
import { childrenOf, fieldsOf, type Entity } from './fields';
import { parseId } from './ids';
import { inputOf, method } from './method';
import { upperFirst, words } from './names';
import { nodeIdOf } from './node';
import { answered, payloadOf } from './payload';
import { connectionPlan, from, rowColumns } from './plan';
import { childResolver, inputsOf, listParameters, relationResolver } from './relations';
import { resourceOf } from './resource';
import { refused, validate, type Values } from './validation';

/** What a resource does beside storing a row; all of it in the transaction of the write. */
export interface Hooks {
  /** May change the values that are stored. `id` is absent at creation. */
  before?(values: Values, context: Context, transaction: Transaction, id?: number): Promise<void> | void;
  after?(id: number, values: Values, context: Context, transaction: Transaction): Promise<void>;
  /** Takes back what `before` did outside of the database for a row that was not created after all. */
  undo?(values: Values, context: Context): Promise<void>;
}

type Model = {
  create(values: Values, options: object): Promise<{ get(name: string): unknown }>;
  update(values: Values, options: object): Promise<[number]>;
  destroy(options: object): Promise<number>;
};
type Info = GraphQLResolveInfo;

/** The row of the scope with this id, with the columns that the selection needs. */
export async function readOne(entity: Entity, id: unknown, context: Context, info: Pick<Info, 'fieldNodes' | 'fragments'>): Promise<Row> {
  const number = parseId(id);
  const conditions = visible(entity, context);
  if (number === undefined) throw notFound();
  const { bind, values } = binder();
  const where = whereOf([equals('id', number), ...conditions], 't', bind);
  const [row] = await context.session.query(`SELECT ${rowColumns(entity, info)} ${from(entity)}${where}`, values);
  if (!row) throw notFound();
  return row;
}

export function crud(entity: Entity, hooks: Hooks = {}): new () => object {
  const resource = resourceOf(entity)!;
  const fields = fieldsOf(entity);
  const writable = fields.filter((field) => !field.readOnly);
  const model = entity as unknown as Model;
  const noun = words(entity.name).toLowerCase();
  const nouns = words(resource.many).toLowerCase();
  const aNoun = `${/^(?!user)[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
  const types = inputsOf(entity);

  /** Column values of an input; link tables are written apart. */
  const stored = (input: Values): Values =>
    Object.fromEntries(
      writable.filter((field) => field.stored && input[field.name] !== undefined).map((field) => [field.name, input[field.name]]),
    );

  const withDefaults = (input: Values, { timeZone }: Context): Values => {
    const values: Values = { ...input };
    for (const field of fields)
      if (field.hasDefault && values[field.name] === undefined)
        values[field.name] = typeof field.default === 'function' ? field.default(timeZone) : field.default;
      else if (field.blank && !field.null && values[field.name] === undefined) values[field.name] = '';
    return values;
  };

  async function writeLinks(id: number, input: Values, owner: Values, context: Context, transaction: Transaction): Promise<void> {
    const database = context.session.database.sequelize;
    for (const field of writable) {
      const ids = input[field.name];
      if (!field.link || ids === undefined) continue;
      const { table, own, other } = field.link;
      const options = { transaction, ...context.session.counted };
      await database.query(`DELETE FROM "${table}" WHERE "${own}" = $1`, { bind: [id], ...options });
      const [ownerColumn, ownerValue] = owner[OWNER.field] === undefined ? ['', ''] : [`"${OWNER.column}", `, '$3, '];
      await database.query(
        `INSERT INTO "${table}" (${ownerColumn}"${own}", "${other}") SELECT ${ownerValue}$1, x FROM unnest($2::int[]) x GROUP BY x`,
        {
          bind: [id, ids as number[], ...(ownerColumn ? [owner[OWNER.field]] : [])],
          ...options,
        },
      );
    }
  }

  async function create(input: Values, context: Context): Promise<number> {
    const owner = ownership(entity, context);
    await validate(entity, input, true, context);
    const values = withDefaults(input, context);
    const id = await context.session
      .transaction(async (transaction) => {
        await hooks.before?.(values, context, transaction);
        const columns = Object.fromEntries(
          Object.entries(values).filter(([name]) => fields.some((field) => field.stored && field.name === name)),
        );
        const row = await model.create({ ...columns, ...owner }, { transaction, ...context.session.counted });
        const id = row.get('id') as number;
        await writeLinks(id, values, owner, context, transaction);
        await hooks.after?.(id, values, context, transaction);
        return id;
      })
      .catch(async (error) => {
        await hooks.undo?.(values, context);
        return refused(entity, error);
      });
    context.loaders.clear();
    return id;
  }

  async function update(idText: string, input: Values, context: Context): Promise<number> {
    const owner = ownership(entity, context);
    const id = await existing(idText, context);
    await validate(entity, input, false, context);
    await context.session
      .transaction(async (transaction) => {
        const values: Values = { ...input };
        await hooks.before?.(values, context, transaction, id);
        const columns = { ...stored(values), ...Object.fromEntries(Object.entries(values).filter(([name]) => !(name in input))) };
        const options = { transaction, ...context.session.counted };
        if (Object.keys(columns).length) {
          const [changed] = await model.update(columns, { where: { id, ...owner }, ...options });
          if (changed === 0) throw notFound();
        }
        await writeLinks(id, values, owner, context, transaction);
        await hooks.after?.(id, values, context, transaction);
      })
      .catch((error) => refused(entity, error));
    context.loaders.clear();
    return id;
  }

  async function remove(idText: string, context: Context): Promise<string> {
    const owner = ownership(entity, context);
    const id = parseId(idText);
    if (id === undefined) throw notFound();
    const removed = await context.session.transaction((transaction) =>
      model.destroy({ where: { id, ...owner }, transaction, ...context.session.counted } as object),
    );
    if (removed === 0) throw notFound();
    context.loaders.clear();
    return String(id);
  }

  /** The id, if the row is the viewer's. */
  async function existing(idText: string, context: Context): Promise<number> {
    const id = parseId(idText);
    const conditions = scope(entity, context);
    if (id === undefined) throw notFound();
    const { bind, values } = binder();
    const rows = await context.session.query(
      `SELECT t."id" ${from(entity)}${whereOf([equals('id', id), ...conditions], 't', bind)}`,
      values,
    );
    if (rows.length === 0) throw notFound();
    return id;
  }

  @Resolver(() => entity)
  class Crud {}

  const queries = resource.queries ?? true;
  const idArgument = Arg('id', () => ID, { description: 'Id of the row.' });
  if (queries)
    method(
      Crud,
      'one',
      (id, context, info) => readOne(entity, id, context, info),
      [idArgument, Ctx(), Info()],
      Query(() => entity, {
        name: resource.one,
        description: `${upperFirst(aNoun)} by its id. NOT_FOUND if there is none that the viewer may see.`,
      }),
    );
  if (queries)
    method(
      Crud,
      'many',
      (page: PageArgs, where: Values | null, orderBy: any[] | null, context: Context, info: Info): Promise<Connection> =>
        listPage(listRequest(entity, page, where, orderBy, context), connectionPlan(entity, info), context),
      listParameters(types),
      Query(() => types.connection, {
        name: resource.many,
        description: `The ${nouns}${resource.owned ? ' of the viewer' : ''}. ${resource.description}`,
      }),
    );

  const Payload = payloadOf<number>({
    name: `${entity.name}Payload`,
    description: `${upperFirst(aNoun)} that was written, or what is wrong with its values.`,
    field: resource.one,
    type: () => entity,
    read: (id, context, info) => readOne(entity, id, context, info),
  });
  if (resource.fact.create) {
    const Create = inputOf(
      `${entity.name}Input`,
      `The values of ${aNoun} that is made.`,
      writable,
      (field) => !field.null && !field.hasDefault && !field.blank,
    );
    method(
      Crud,
      'create',
      (input, context) => answered(Payload, () => create({ ...input }, context)),
      [Arg('input', () => Create, { description: 'The values.' }), Ctx()],
      Mutation(() => Payload, { name: resource.fact.create, description: `Creates ${aNoun}.` }),
    );
  }
  if (resource.fact.update) {
    const Patch = inputOf(`${entity.name}Patch`, `Changes of ${aNoun}; what is left out stays.`, writable, () => false);
    method(
      Crud,
      'update',
      (id, input, context) => answered(Payload, () => update(id, { ...input }, context)),
      [idArgument, Arg('input', () => Patch, { description: 'The values to change.' }), Ctx()],
      Mutation(() => Payload, { name: resource.fact.update, description: `Changes ${aNoun}.` }),
    );
  }
  if (resource.fact.remove)
    method(
      Crud,
      'remove',
      (id, context) => remove(id, context),
      [idArgument, Ctx()],
      Mutation(() => ID, {
        name: resource.fact.remove,
        description: `Deletes ${aNoun} and all that hangs below it, and answers its id.`,
      }),
    );

  method(
    Crud,
    'nodeId',
    (row: Row) => nodeIdOf(entity.name, row.id),
    [Root()],
    FieldResolver(() => ID, { description: 'Identifies the row among all of every type; opaque.' }),
  );
  for (const field of fields) if (field.relation) relationResolver(Crud, entity, field);
  for (const child of childrenOf(entity)) childResolver(Crud, entity, child);
  return Crud;
}
