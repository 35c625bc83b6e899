/** GraphQL connection of the audit log of the viewer's account. */
import {
  Args,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Info,
  ObjectType,
  registerEnumType,
  Resolver,
  Root,
} from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { requireViewerWithoutAccessToken } from '../core/access/access';
import { createConnectionType, CursorArgs } from '../core/read/connectiontypes';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, validatePageSize } from '../core/model/pagesize';
import type { Context } from '../core/context';
import { decodeCursor, encodeCursor } from '../core/model/cursors';
import { invalidArgumentError } from '../core/model/errors';
import { RequiresFields } from '../core/read/queryplan';
import { DateTimeScalar } from '../core/model/scalars';
import { User } from '../resources/user';
import { EVENT_KINDS, type EventKind } from './eventkinds';
import {
  countEventsOfUser,
  findEventsOfUser,
  type SecurityEvent as StoredEvent,
} from './securityevents';

const SecurityEventKind = Object.fromEntries(
  Object.keys(EVENT_KINDS).map((kind) => [kind, kind]),
) as Record<EventKind, EventKind>;
registerEnumType(SecurityEventKind, {
  name: 'SecurityEventKind',
  description: 'The kind of a security event.',
  valuesConfig: Object.fromEntries(
    Object.entries(EVENT_KINDS).map(([kind, description]) => [kind, { description }]),
  ),
});

@ObjectType({
  description: 'An event of an account, as recorded in the audit log.',
  simpleResolvers: true,
})
class SecurityEvent {
  @Field(() => ID, { description: 'Identifies the event; later events have greater ids.' })
  declare id: number;
  @Field(() => DateTimeScalar, { description: 'When it happened.' }) declare occurredAt: string;
  @Field(() => SecurityEventKind, { description: 'What happened.' }) declare kind: EventKind;
  @Field(() => String, {
    nullable: true,
    description: 'The client address (for IPv6, the network); null for actions of an operator.',
  })
  declare address: string | null;
  @Field(() => String, { nullable: true, description: 'Details, such as the name of a token.' })
  declare detail: string | null;
  @Field(() => Boolean, {
    description: 'Whether further events of this kind were dropped for an hour.',
  })
  declare wasTruncated: boolean;
}

const SecurityEventConnection = createConnectionType(SecurityEvent);

const cursorOf = ({ id }: StoredEvent): string => encodeCursor(['event', Number(id)]);

function parseCursor(
  argument: 'after' | 'before',
  cursor: string | null | undefined,
): number | undefined {
  if (cursor == null) return undefined;
  const [list, id] = decodeCursor(cursor) ?? [];
  if (list !== 'event' || !Number.isSafeInteger(id))
    throw invalidArgumentError(argument, 'This is not a valid cursor for this list.');
  return id as number;
}

async function loadPage(
  userId: number,
  args: CursorArgs,
  { session, loaders }: Context,
): Promise<object> {
  const first = validatePageSize('first', args.first, MAX_PAGE_SIZE);
  const last = validatePageSize('last', args.last, MAX_PAGE_SIZE);
  if (first !== undefined && last !== undefined)
    throw invalidArgumentError('last', 'Use either first or last, not both.');
  const [olderThanId, newerThanId] = [
    parseCursor('after', args.after),
    parseCursor('before', args.before),
  ];
  const isBackward = last !== undefined;
  const pageSize = first ?? last ?? DEFAULT_PAGE_SIZE;
  const events = await findEventsOfUser(
    userId,
    { olderThanId, newerThanId, oldestFirst: isBackward, limit: pageSize + 1 },
    session,
  );
  const hasMore = events.length > pageSize;
  const nodes = hasMore ? events.slice(0, pageSize) : events;
  if (isBackward) nodes.reverse();
  // A page excludes the event that its cursor names. Therefore a page after a cursor has a previous page, and a page before a cursor has a next page.
  const pageFlags = {
    hasNextPage: isBackward ? newerThanId !== undefined : hasMore,
    hasPreviousPage: isBackward ? hasMore : olderThanId !== undefined,
  };
  const edges = nodes.map((node) => ({ cursor: cursorOf(node), node }));
  const countEvents = async (ids: readonly unknown[]) =>
    Promise.all((ids as number[]).map((id) => countEventsOfUser(id, session)));
  return {
    nodes,
    edges,
    pageInfo: {
      ...pageFlags,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    // `totalCount` is a function, so that the events are counted only if a client selects this field.
    totalCount: () =>
      loaders.getOrCreate<number>('count of security events', countEvents).load(userId),
  };
}

@Resolver(() => User)
export class EventResolver {
  @FieldResolver(() => SecurityEventConnection, {
    description:
      'Security events of the account, newest first. Not available with an access token (`FORBIDDEN`).',
  })
  @RequiresFields(() => User, 'id')
  securityEvents(
    @Root() { id }: { id: number },
    @Args(() => CursorArgs) args: CursorArgs,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<object> {
    requireViewerWithoutAccessToken(context);
    const loadPages = (ids: readonly unknown[]) =>
      Promise.all((ids as number[]).map((userId) => loadPage(userId, args, context)));
    return context.loaders.getOrCreate<object>(info.fieldNodes, loadPages).load(id);
  }
}
