/** The query `changes` and the subscription `changed`: changes of the viewer's rows and of public rows since a cursor. */
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Extensions,
  Field,
  ID,
  Info,
  Int,
  ObjectType,
  Query,
  registerEnumType,
  Resolver,
  Root,
  Subscription,
} from 'type-graphql';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GraphQLResolveInfo } from 'graphql';
import { changeOwnerId } from '../access/access';
import { CURSOR_MAX_AGE_DAYS, type LoggedChange, type WatchedRows } from './changelog';
import type { Context } from '../context';
import { isUnavailable } from '../../database/errors';
import { invalidArgumentError, isTransientError } from '../model/errors';
import type { Entity } from '../model/fields';
import { loadRowFields } from '../read/loaders';
import { toConstantCase } from '../../contract/casing';
import { lowerFirst } from '../model/inflection';
import { Node, nodeIdOf } from '../model/node';
import { requiredRowFields } from '../read/queryplan';
import { allEntities, findEntity, resourceOf } from '../model/registry';
import { DateTimeScalar } from '../model/scalars';

const DEFAULT_CHANGES = 100;
const MAX_CHANGES = 500;
const RETRY_INTERVAL_MS = 500;

/** Values of the enum RowType; filled after all resources are loaded. */
const RowType: Record<string, string> = {};
const rowTypeConfigs: Record<string, { description: string }> = {};
registerEnumType(RowType, { name: 'RowType', description: 'A type of rows that changes are told of.', valuesConfig: rowTypeConfigs });

export function registerRowTypes(): void {
  for (const entity of allEntities()) {
    const { owned, only, description } = resourceOf(entity)!;
    if (only === 'rest') continue;
    const name = toConstantCase(lowerFirst(entity.name));
    RowType[name] = entity.name;
    rowTypeConfigs[name] = { description: `${description} ${owned ? 'Rows belong to a user.' : 'Rows are public.'}` };
  }
}

enum ChangeOperation {
  CREATED = 'INSERT',
  UPDATED = 'UPDATE',
  DELETED = 'DELETE',
}
registerEnumType(ChangeOperation, {
  name: 'ChangeOperation',
  description: 'What happened to a row.',
  valuesConfig: {
    CREATED: { description: 'It was made.' },
    UPDATED: { description: 'It, or a set of ids that it shows, was changed.' },
    DELETED: { description: 'It was deleted, by itself or with what it hung below.' },
  },
});

/** Has neither `id` nor `nodeId`, by which client caches identify objects: a row may change more than once. */
@ObjectType({ description: 'Something that happened to a row.', simpleResolvers: true })
export class Change {
  @Field(() => RowType, { description: 'The type of the row.' }) readonly type: string;
  @Field(() => ID, { description: 'The `id` of the row, also of one that is gone.' }) readonly rowId: number;
  @Field(() => ChangeOperation, { description: 'What happened to it.' }) readonly operation: string;
  @Field(() => DateTimeScalar, { description: 'When the transaction began that did it.' }) readonly occurredAt: string;
  private readonly entity: Entity;

  constructor(entity: Entity, { rowId, operation, at }: LoggedChange) {
    this.entity = entity;
    this.type = entity.name;
    this.rowId = rowId;
    this.operation = operation;
    this.occurredAt = at;
  }

  @Field(() => ID, { description: 'The `nodeId` of the row, also of one that is gone.' })
  rowNodeId(): string {
    return nodeIdOf(this.type, this.rowId);
  }

  @Field(() => Node, {
    nullable: true,
    description: 'The row as it is now; null if it is gone or not for the viewer to see, such as a pending one.',
  })
  async node(@Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    if (this.operation === ChangeOperation.DELETED) return null;
    const row = await loadRowFields(this.entity, [...requiredRowFields(this.entity, info)], this.rowId, context);
    return row && { ...row, __typename: this.type };
  }
}

@ObjectType({ description: 'Changes of rows, oldest first, and how to go on from there.', simpleResolvers: true })
export class Changes {
  @Field(() => String, { description: 'To be given as `since` for what comes after.' }) declare cursor: string;
  @Field(() => Boolean, { description: 'Whether there may be more already; if so, ask again with the new cursor.' })
  declare hasMore: boolean;
  @Extensions({ listSize: { assumedSize: MAX_CHANGES } })
  @Field(() => [Change], { description: 'What happened. A row that was changed several times is in it as many times.' })
  declare changes: Change[];
}

@ArgsType()
class ChangesArgs {
  @Field(() => String, {
    nullable: true,
    description: `The \`cursor\` up to which the client knows everything. Without one there are no changes, only a cursor of now. CURSOR_EXPIRED if it is older than ${CURSOR_MAX_AGE_DAYS} days or tables were emptied: then read everything again.`,
  })
  declare since?: string | null;

  @Field(() => [RowType], {
    nullable: true,
    description:
      'Rows of these types: those of the viewer of types whose rows belong to a user, and all of public types, which need no signing in. If absent: all rows of the viewer, and none of public types.',
  })
  declare types?: string[] | null;
}

const requestedEntities = (types: string[] | null | undefined): Entity[] =>
  types ? types.map((name) => findEntity(name)!) : allEntities().filter((entity) => resourceOf(entity)!.owned);

function watchedRows({ types }: ChangesArgs, context: Context): WatchedRows {
  const requested = requestedEntities(types);
  const tables = (owned: boolean) =>
    requested
      .map((entity) => resourceOf(entity)!)
      .filter((resource) => resource.owned === owned)
      .map(({ table }) => table);
  return { ownerId: changeOwnerId(requested, context), ownedTables: tables(true), publicTables: tables(false) };
}

async function changesPage(args: ChangesArgs, first: number, context: Context): Promise<Changes> {
  const byTable = new Map(requestedEntities(args.types).map((entity) => [resourceOf(entity)!.table, entity]));
  const { changes, ...rest } = await context.services.changeLog.read(
    watchedRows(args, context),
    args.since ?? null,
    first,
    context.session,
  );
  return { ...rest, changes: changes.map((change) => new Change(byTable.get(change.table)!, change)) };
}

/** Yields the first page at once, even if it is empty, for its cursor; then a page after each change, until the client ends the subscription. */
async function* followChanges(args: ChangesArgs, context: Context): AsyncGenerator<Changes> {
  const signal = context.subscriptionSignal!;
  let wake = (): void => undefined;
  const onChange = () => wake();
  signal.addEventListener('abort', onChange);
  const unwatch = context.services.changeLog.watch(watchedRows(args, context), context.session.caller, onChange);
  try {
    let { since } = args;
    const isEnded = () => signal.aborted;
    for (let first = true; !isEnded(); first = false) {
      // Created before the read, so that a change during the read wakes the loop.
      const change = new Promise<void>((resolve) => (wake = resolve));
      let next: Changes;
      try {
        // Ends the subscription if the viewer's credentials have been revoked.
        if (context.viewer) await context.account.confirmCredentials();
        context.loaders.clear();
        next = await changesPage({ ...args, since }, MAX_CHANGES, context);
      } catch (error) {
        // A started subscription survives an outage of the database, and catches up afterwards.
        if (first || isEnded() || !(isTransientError(error) || isUnavailable(error))) throw error;
        await sleep(RETRY_INTERVAL_MS);
        context.session.beginEvent();
        continue;
      }
      since = next.cursor;
      if (first || next.changes.length) yield next;
      if (!next.hasMore && !isEnded()) await change;
    }
  } finally {
    unwatch();
  }
}

@Resolver()
export class ChangeResolver {
  @Query(() => Changes, {
    description:
      'What happened to rows of the viewer, or of public types that are named, since a cursor, whoever did it and by whatever interface. A client that takes a cursor, reads all rows and then applies the changes since that cursor (again and again, while `hasMore`) has exactly what the server has.',
  })
  changes(
    @Args(() => ChangesArgs) args: ChangesArgs,
    @Arg('first', () => Int, { nullable: true, defaultValue: DEFAULT_CHANGES, description: `At most this many, from 1 to ${MAX_CHANGES}.` })
    requestedFirst: number | null,
    @Ctx() context: Context,
  ): Promise<Changes> {
    const first = requestedFirst ?? DEFAULT_CHANGES;
    if (first < 1 || first > MAX_CHANGES) throw invalidArgumentError('first', `Must be from 1 to ${MAX_CHANGES}.`);
    return changesPage(args, first, context);
  }

  @Subscription(() => Changes, {
    subscribe: ({ args, context }) => followChanges(args as ChangesArgs, context as Context),
    description: `What happens to rows of the viewer, or of public types that are named, as it happens. Begins with what happened since the cursor, or with just a cursor; after a lost connection go on with the last one. Each event has ${MAX_CHANGES} changes at most.`,
  })
  changed(@Root() changes: Changes, @Args(() => ChangesArgs) _args: ChangesArgs): Changes {
    return changes;
  }
}
