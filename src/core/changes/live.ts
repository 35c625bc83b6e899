/** What changed of a viewer's rows: asked for since a cursor, or told as it happens. */
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
import { ownerOf } from '../access/access';
import { KEPT_DAYS, type LoggedChange, type Watched } from './changes';
import type { Context } from '../context';
import { isUnavailable } from '../../database/refusals';
import { badArgument, isPassing } from '../model/errors';
import type { Entity } from '../model/fields';
import { rowById } from '../read/loaders';
import { constant } from '../../contract/casing';
import { lowerFirst } from '../model/inflection';
import { Node, nodeIdOf } from '../model/node';
import { rowFields } from '../read/plan';
import { entities, entityNamed, resourceOf } from '../model/registry';
import { DateTimeScalar } from '../model/scalars';

const DEFAULT_CHANGES = 100;
const MAX_CHANGES = 500;
const RETRY_MS = 500;

/** Names of the types of rows, and what they mean; known once all resources are loaded. */
const RowType: Record<string, string> = {};
const rowTypes: Record<string, { description: string }> = {};
registerEnumType(RowType, { name: 'RowType', description: 'A type of rows that changes are told of.', valuesConfig: rowTypes });

export function nameRowTypes(): void {
  for (const entity of entities()) {
    const { owned, only, description } = resourceOf(entity)!;
    if (only === 'rest') continue;
    const name = constant(lowerFirst(entity.name));
    RowType[name] = entity.name;
    rowTypes[name] = { description: `${description} ${owned ? 'Rows belong to a user.' : 'Rows are public.'}` };
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

/** Caches know things by `id` or `nodeId`; a change has neither, because a row may change more than once. */
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
    const row = await rowById(this.entity, [...rowFields(this.entity, info)], this.rowId, context);
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
    description: `The \`cursor\` up to which the client knows everything. Without one there are no changes, only a cursor of now. CURSOR_EXPIRED if it is older than ${KEPT_DAYS} days or tables were emptied: then read everything again.`,
  })
  declare since?: string | null;

  @Field(() => [RowType], {
    nullable: true,
    description:
      'Rows of these types: those of the viewer of types whose rows belong to a user, and all of public types, which need no signing in. If absent: all rows of the viewer, and none of public types.',
  })
  declare types?: string[] | null;
}

const entitiesOf = (types: string[] | null | undefined): Entity[] =>
  types ? types.map((name) => entityNamed(name)!) : entities().filter((entity) => resourceOf(entity)!.owned);

function watched({ types }: ChangesArgs, context: Context): Watched {
  const wanted = entitiesOf(types);
  const tables = (owned: boolean) =>
    wanted
      .map((entity) => resourceOf(entity)!)
      .filter((resource) => resource.owned === owned)
      .map(({ table }) => table);
  return { ownerId: ownerOf(wanted, context), own: tables(true), shared: tables(false) };
}

async function page(args: ChangesArgs, first: number, context: Context): Promise<Changes> {
  const byTable = new Map(entitiesOf(args.types).map((entity) => [resourceOf(entity)!.table, entity]));
  const { changes, ...rest } = await context.changes.read(watched(args, context), args.since ?? null, first, context.session);
  return { ...rest, changes: changes.map((change) => new Change(byTable.get(change.table)!, change)) };
}

/** Says where it begins, then whatever changes, until it is ended. */
async function* follow(args: ChangesArgs, context: Context, ended: AbortSignal): AsyncGenerator<Changes> {
  let wake = (): void => undefined;
  const onChange = () => wake();
  ended.addEventListener('abort', onChange);
  const unwatch = context.changes.watch(watched(args, context), context.session.caller, onChange);
  try {
    let { since } = args;
    const over = () => ended.aborted;
    for (let first = true; !over(); first = false) {
      // Made before the reading, so that what happens meanwhile is not slept through.
      const change = new Promise<void>((resolve) => (wake = resolve));
      let next: Changes;
      try {
        // Whoever may no longer sign in is told nothing more.
        if (context.viewer) await context.confirm();
        context.loaders.clear();
        next = await page({ ...args, since }, MAX_CHANGES, context);
      } catch (error) {
        // A database that is away for a while ends nothing that was begun: what is missed now is told then.
        if (first || over() || !(isPassing(error) || isUnavailable(error))) throw error;
        await sleep(RETRY_MS);
        context.session.renew();
        continue;
      }
      since = next.cursor;
      if (first || next.changes.length) yield next;
      if (!next.hasMore && !over()) await change;
    }
  } finally {
    unwatch();
  }
}

/** A generator that waits for something cannot be ended by `return` alone. */
function endable<T>(make: (ended: AbortSignal) => AsyncGenerator<T>): AsyncIterableIterator<T> {
  const end = new AbortController();
  const generator = make(end.signal);
  return {
    next: () => generator.next(),
    return: () => {
      end.abort();
      return generator.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

@Resolver()
export class LiveResolver {
  @Query(() => Changes, {
    description:
      'What happened to rows of the viewer, or of public types that are named, since a cursor, whoever did it and by whatever interface. A client that takes a cursor, reads all rows and then applies the changes since that cursor (again and again, while `hasMore`) has exactly what the server has.',
  })
  changes(
    @Args(() => ChangesArgs) args: ChangesArgs,
    @Arg('first', () => Int, { nullable: true, defaultValue: DEFAULT_CHANGES, description: `At most this many, from 1 to ${MAX_CHANGES}.` })
    given: number | null,
    @Ctx() context: Context,
  ): Promise<Changes> {
    const first = given ?? DEFAULT_CHANGES;
    if (first < 1 || first > MAX_CHANGES) throw badArgument('first', `Must be from 1 to ${MAX_CHANGES}.`);
    return page(args, first, context);
  }

  @Subscription(() => Changes, {
    subscribe: ({ args, context }) => endable((ended) => follow(args as ChangesArgs, context as Context, ended)),
    description: `What happens to rows of the viewer, or of public types that are named, as it happens. Begins with what happened since the cursor, or with just a cursor; after a lost connection go on with the last one. Each event has ${MAX_CHANGES} changes at most.`,
  })
  changed(@Root() changes: Changes, @Args(() => ChangesArgs) _args: ChangesArgs): Changes {
    return changes;
  }
}
