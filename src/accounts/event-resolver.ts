/** The audit log of the viewer's account as a GraphQL connection. */
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
import { requireViewerWithoutAccessToken } from '../engine/access/access';
import { createConnectionType, CursorArgs } from '../engine/read/connection-types';
import { validatePageSize } from '../engine/declare/page-size';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../shared/page-size';
import type { Context } from '../engine/context';
import { decodeCursor, encodeCursor } from '../engine/declare/cursors';
import { invalidArgumentError } from '../engine/declare/errors';
import { RequiresFields } from '../engine/read/query-plan';
import { DateTimeScalar } from '../engine/declare/scalars';
import { User } from './user';
import { EVENT_KINDS, type EventKind } from './event-kinds';
import { countUserEvents, findUserEvents, type StoredSecurityEvent } from './security-events';

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

const eventCursor = ({ id }: StoredSecurityEvent): string => encodeCursor(['event', Number(id)]);

function parseCursor(
  argument: 'after' | 'before',
  cursor: string | null | undefined,
): number | undefined {
  if (cursor == null) return undefined;
  const [cursorKind, id] = decodeCursor(cursor) ?? [];

  if (cursorKind !== 'event' || !Number.isSafeInteger(id)) {
    throw invalidArgumentError(argument, 'This is not a valid cursor for this list.');
  }

  return id as number;
}

async function loadPageOfUser(
  userId: number,
  args: CursorArgs,
  { session, loaders }: Context,
): Promise<object> {
  const first = validatePageSize('first', args.first, MAX_PAGE_SIZE);
  const last = validatePageSize('last', args.last, MAX_PAGE_SIZE);

  if (first !== undefined && last !== undefined) {
    throw invalidArgumentError('last', 'Use either first or last, not both.');
  }

  const [olderThanId, newerThanId] = [
    parseCursor('after', args.after),
    parseCursor('before', args.before),
  ];
  const isBackward = last !== undefined;
  const pageSize = first ?? last ?? DEFAULT_PAGE_SIZE;
  const events = await findUserEvents(
    userId,
    { olderThanId, newerThanId, oldestFirst: isBackward, limit: pageSize + 1 },
    session,
  );
  const hasMore = events.length > pageSize;
  const nodes = hasMore ? events.slice(0, pageSize) : events;

  if (isBackward) nodes.reverse();
  // The event that a cursor names is outside the page. Therefore a page after a cursor has a
  // previous page, and a page before a cursor has a next one.
  const hasNextPage = isBackward ? newerThanId !== undefined : hasMore;
  const hasPreviousPage = isBackward ? hasMore : olderThanId !== undefined;
  const edges = nodes.map((node) => ({ cursor: eventCursor(node), node }));
  const countEvents = async (ids: readonly unknown[]) =>
    Promise.all((ids as number[]).map((id) => countUserEvents(id, session)));

  return {
    nodes,
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    // `totalCount` is a function, so that events are counted only if a client selects it.
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
    const loadPagesOfUsers = (ids: readonly unknown[]) =>
      Promise.all((ids as number[]).map((userId) => loadPageOfUser(userId, args, context)));

    return context.loaders.getOrCreate<object>(info.fieldNodes, loadPagesOfUsers).load(id);
  }
}
