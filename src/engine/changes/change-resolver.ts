/**
 * The query `changes` and the subscription `changed`: changes of the viewer's rows and of public
 * rows since a cursor.
 */
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
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
import { FieldExtensions } from '../declare/field-extensions';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GraphQLResolveInfo } from 'graphql';
import { ownerIdForChangeLog } from '../access/access';
import { CURSOR_MAX_AGE_DAYS, type LoggedChange, type ChangeFilter } from './change-log';
import type { Context } from '../context';
import { isDatabaseUnavailableError } from '../../database/errors';
import { invalidArgumentError, isTransientError } from '../declare/errors';
import type { Entity } from '../declare/fields';
import { loadRowFields } from '../read/loaders';
import { toConstantCase } from '../../shared/casing';
import { lowerFirst } from '../declare/inflection';
import { Node, nodeIdOf } from '../declare/node';
import { requiredRowFieldNames } from '../read/query-plan';
import { allEntities, findEntity, resourceOf } from '../declare/registry';
import { DateTimeScalar } from '../declare/scalars';

const DEFAULT_CHANGES_PER_PAGE = 100;
const MAX_CHANGES_PER_PAGE = 500;
const RETRY_INTERVAL_MS = 500;

/**
 * Values of the enum RowType. `registerRowTypes` adds them after all resources have been loaded.
 */
const RowType: Record<string, string> = {};
const rowTypeConfigs: Record<string, { description: string }> = {};

registerEnumType(RowType, {
  name: 'RowType',
  description: 'Types of rows in the change log.',
  valuesConfig: rowTypeConfigs,
});

export function registerRowTypes(): void {
  for (const entity of allEntities()) {
    const { isOwned, exclusiveTo, isForCurators, description } = resourceOf(entity)!;

    if (exclusiveTo === 'rest' || isForCurators) continue;
    const name = toConstantCase(lowerFirst(entity.name));

    RowType[name] = entity.name;
    rowTypeConfigs[name] = {
      description: `${description} ${isOwned ? 'Rows belong to a user.' : 'Rows are public.'}`,
    };
  }
}

enum ChangeOperation {
  CREATED = 'INSERT',
  UPDATED = 'UPDATE',
  DELETED = 'DELETE',
}
registerEnumType(ChangeOperation, {
  name: 'ChangeOperation',
  description: 'Kinds of changes.',
  valuesConfig: {
    CREATED: { description: 'The row was created.' },
    UPDATED: { description: 'The row or one of its id lists was changed.' },
    DELETED: { description: 'The row was deleted, directly or together with its parent.' },
  },
});

/**
 * A `Change` has neither `id` nor `nodeId`: client caches identify objects by these fields, but
 * several changes may concern the same row.
 */
@ObjectType({ description: 'A change of a row.', simpleResolvers: true })
export class Change {
  @Field(() => RowType, { description: 'The type of the row.' }) readonly type: string;
  @Field(() => ID, { description: 'The `id` of the row, even if it is deleted.' })
  readonly rowId: number;
  @Field(() => ChangeOperation, { description: 'The kind of change.' }) readonly operation: string;
  @Field(() => DateTimeScalar, {
    description: 'Start time of the transaction that made the change.',
  })
  readonly occurredAt: string;
  private readonly entity: Entity;

  constructor(entity: Entity, { rowId, operation, occurredAt }: LoggedChange) {
    this.entity = entity;
    this.type = entity.name;
    this.rowId = rowId;
    this.operation = operation;
    this.occurredAt = occurredAt;
  }

  @Field(() => ID, { description: 'The `nodeId` of the row, even if it is deleted.' })
  rowNodeId(): string {
    return nodeIdOf(this.type, this.rowId);
  }

  @Field(() => Node, {
    nullable: true,
    description:
      'The current row; null if it is deleted or not visible to the viewer, for example because its review is pending.',
  })
  async node(@Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    if (this.operation === ChangeOperation.DELETED) return null;
    const row = await loadRowFields(
      this.entity,
      [...requiredRowFieldNames(this.entity, info)],
      this.rowId,
      context,
    );

    return row && { ...row, __typename: this.type };
  }
}

@ObjectType({
  description: 'Changes of rows, oldest first, and the cursor for the next request.',
  simpleResolvers: true,
})
export class Changes {
  @Field(() => String, { description: 'Pass this as `since` to get the following changes.' })
  declare cursor: string;
  @Field(() => Boolean, {
    description: 'Whether there may be more changes. If so, request them with the new cursor.',
  })
  declare hasMore: boolean;
  @FieldExtensions({ listSize: { assumedSize: MAX_CHANGES_PER_PAGE } })
  @Field(() => [Change], {
    description: 'The changes. A row that was changed several times appears once for each change.',
  })
  declare changes: Change[];
}

@ArgsType()
class ChangesArgs {
  @Field(() => String, {
    nullable: true,
    description: `Returns the changes after this \`cursor\`. If absent, there are no changes, only the current cursor. Rejected with CURSOR_EXPIRED if it is older than ${CURSOR_MAX_AGE_DAYS} days or tables were emptied; then read everything again.`,
  })
  declare since?: string | null;

  @Field(() => [RowType], {
    nullable: true,
    description:
      'Types of rows: those of the viewer for owned types, and all rows of public types, which do not require sign-in. If absent, all rows of the viewer and no public rows.',
  })
  declare types?: string[] | null;
}

const requestedEntities = (types: string[] | null | undefined): Entity[] => {
  if (types) return [...new Set(types)].map((name) => findEntity(name)!);

  return allEntities().filter((entity) => resourceOf(entity)!.isOwned);
};

function changeFilterOf({ types }: ChangesArgs, context: Context): ChangeFilter {
  const entities = requestedEntities(types);
  const requestedTables = (isOwned: boolean) =>
    entities
      .map((entity) => resourceOf(entity)!)
      .filter((resource) => resource.isOwned === isOwned)
      .map(({ table }) => table);

  return {
    ownerId: ownerIdForChangeLog(entities, context),
    ownedTables: requestedTables(true),
    publicTables: requestedTables(false),
  };
}

async function readChangesPage(
  args: ChangesArgs,
  pageSize: number,
  context: Context,
): Promise<Changes> {
  const entityByTable = new Map(
    requestedEntities(args.types).map((entity) => [resourceOf(entity)!.table, entity]),
  );
  const { changes, ...rest } = await context.services.changeLog.read(
    changeFilterOf(args, context),
    args.since ?? null,
    pageSize,
    context.session,
    context.initialSnapshot,
  );

  return {
    ...rest,
    changes: changes.map((change) => new Change(entityByTable.get(change.table)!, change)),
  };
}

/**
 * Yields a first page at once, even if it is empty, because clients need its cursor. Then yields a
 * page after each change until the client ends the subscription.
 */
async function* followChanges(args: ChangesArgs, context: Context): AsyncGenerator<Changes> {
  const signal = context.subscriptionSignal!;
  let wake = (): void => undefined;
  const onChange = () => wake();

  signal.addEventListener('abort', onChange);
  const unwatch = context.services.changeLog.watch(
    changeFilterOf(args, context),
    context.session.clientKey,
    onChange,
  );

  try {
    let { since } = args;
    const isEnded = () => signal.aborted;

    for (let isFirstPage = true; !isEnded(); isFirstPage = false) {
      // The promise that waits for the next change is created before the changes are read, so that
      // a change during the read is not missed.
      const nextChange = new Promise<void>((resolve) => (wake = resolve));
      let nextChanges: Changes;

      try {
        // Ends the subscription if the viewer's credentials have been revoked.
        if (context.viewer) await context.account.requireValidCredentials();
        context.loaders.clear();
        nextChanges = await readChangesPage({ ...args, since }, MAX_CHANGES_PER_PAGE, context);
      } catch (error) {
        // A started subscription survives a database outage and reads the missed changes
        // afterwards.
        if (
          isFirstPage ||
          isEnded() ||
          !(isTransientError(error) || isDatabaseUnavailableError(error))
        ) {
          throw error;
        }

        await sleep(RETRY_INTERVAL_MS);
        context.session.beginSubscriptionEvent();
        continue;
      }

      since = nextChanges.cursor;
      if (isFirstPage || nextChanges.changes.length) yield nextChanges;
      if (!nextChanges.hasMore && !isEnded()) await nextChange;
    }
  } finally {
    unwatch();
  }
}

@Resolver()
export class ChangeResolver {
  @Query(() => Changes, {
    description:
      'Changes of rows of the viewer, or of the public types in `types`, since a cursor, made by any user through any interface. To stay in sync, fetch a cursor, read all rows, then apply the changes since that cursor, repeating while `hasMore`. The cursor is not newer than the rows that the same query reads.',
  })
  @FieldExtensions({ describesReadState: true })
  changes(
    @Args(() => ChangesArgs) args: ChangesArgs,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: DEFAULT_CHANGES_PER_PAGE,
      description: `Returns the first n changes, from 1 to ${MAX_CHANGES_PER_PAGE}.`,
    })
    requestedPageSize: number | null,
    @Ctx() context: Context,
  ): Promise<Changes> {
    const pageSize = requestedPageSize ?? DEFAULT_CHANGES_PER_PAGE;

    if (pageSize < 1 || pageSize > MAX_CHANGES_PER_PAGE) {
      throw invalidArgumentError('first', `Must be from 1 to ${MAX_CHANGES_PER_PAGE}.`);
    }

    return readChangesPage(args, pageSize, context);
  }

  @Subscription(() => Changes, {
    subscribe: ({ args, context }) => followChanges(args as ChangesArgs, context as Context),
    description: `Changes of rows of the viewer, or of the public types in \`types\`, as they happen. Starts with the changes since the cursor, or with only a cursor. After a lost connection, continue from the last cursor. Each event has at most ${MAX_CHANGES_PER_PAGE} changes.`,
  })
  changed(@Root() changes: Changes, @Args(() => ChangesArgs) _args: ChangesArgs): Changes {
    return changes;
  }
}
