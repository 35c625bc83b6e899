/** GraphQL connection of the audit log of the viewer's account. */
import { Args, ArgsType, Ctx, Field, FieldResolver, ID, Info, Int, ObjectType, registerEnumType, Resolver, Root } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { requireViewerWithoutAccessToken } from '../core/access/access';
import { PageInfo } from '../core/read/connectiontypes';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../core/model/pagesize';
import type { Context } from '../core/context';
import { decodeCursor, encodeCursor } from '../core/model/cursors';
import { invalidArgumentError } from '../core/model/errors';
import { RequiresFields } from '../core/read/queryplan';
import { DateTimeScalar } from '../core/model/scalars';
import { User } from '../resources/user';
import { EVENT_KINDS, type EventKind } from './eventkinds';
import { countEventsOfUser, eventsOfUser, type SecurityEvent as StoredEvent } from './securityevents';

const SecurityEventKind = Object.fromEntries(Object.keys(EVENT_KINDS).map((kind) => [kind, kind])) as Record<EventKind, EventKind>;
registerEnumType(SecurityEventKind, {
  name: 'SecurityEventKind',
  description: 'The kind of a security event.',
  valuesConfig: Object.fromEntries(Object.entries(EVENT_KINDS).map(([kind, description]) => [kind, { description }])),
});

@ObjectType({ description: 'An event of an account, as recorded in the audit log.', simpleResolvers: true })
class SecurityEvent {
  @Field(() => ID, { description: 'Identifies the event; later events have greater ids.' }) declare id: number;
  @Field(() => DateTimeScalar, { description: 'When it happened.' }) declare occurredAt: string;
  @Field(() => SecurityEventKind, { description: 'What happened.' }) declare kind: EventKind;
  @Field(() => String, {
    nullable: true,
    description: 'The client address (for IPv6, the network); null for actions of an operator.',
  })
  declare address: string | null;
  @Field(() => String, { nullable: true, description: 'Details, such as the name of a token.' }) declare detail: string | null;
  @Field(() => Boolean, {
    description: 'Whether further events of this kind were dropped for an hour.',
  })
  declare wasTruncated: boolean;
}

@ObjectType({ description: 'A security event and its cursor.', simpleResolvers: true })
class SecurityEventEdge {
  @Field(() => String, { description: 'Opaque position of the event in the list.' }) declare cursor: string;
  @Field(() => SecurityEvent, { description: 'What happened.' }) declare node: StoredEvent;
}

@ArgsType()
class EventArgs {
  @Field(() => Int, {
    nullable: true,
    description: `Returns the first n (newest) events, at most ${MAX_PAGE_SIZE}; ${DEFAULT_PAGE_SIZE} without \`first\` and \`last\`.`,
  })
  declare first?: number | null;
  @Field(() => String, { nullable: true, description: 'Returns the events after this cursor, which are older.' })
  declare after?: string | null;
  @Field(() => Int, { nullable: true, description: `Returns the last n (oldest) events, at most ${MAX_PAGE_SIZE}.` }) declare last?:
    number | null;
  @Field(() => String, { nullable: true, description: 'Returns the events before this cursor, which are newer.' })
  declare before?: string | null;
}

const cursorOf = ({ id }: StoredEvent): string => encodeCursor(['event', Number(id)]);

function parseCursor(argument: 'after' | 'before', cursor: string | null | undefined): number | undefined {
  if (cursor == null) return undefined;
  const [list, id] = decodeCursor(cursor) ?? [];
  if (list !== 'event' || !Number.isSafeInteger(id)) throw invalidArgumentError(argument, 'This is not a valid cursor for this list.');
  return id as number;
}

function checkPageSize(argument: 'first' | 'last', size: number | null | undefined): number | undefined {
  if (size == null) return undefined;
  if (size < 0 || size > MAX_PAGE_SIZE) throw invalidArgumentError(argument, `Must be from 0 to ${MAX_PAGE_SIZE}.`);
  return size;
}

@ObjectType({ description: 'A page of security events, newest first.', simpleResolvers: true })
class SecurityEventConnection {
  @Field(() => [SecurityEvent], { description: 'The events of this page.' }) readonly nodes: StoredEvent[];
  @Field(() => PageInfo, { description: 'Information about this page.' }) readonly pageInfo: PageInfo;

  constructor(
    private readonly userId: number,
    nodes: StoredEvent[],
    pageFlags: Pick<PageInfo, 'hasNextPage' | 'hasPreviousPage'>,
  ) {
    this.nodes = nodes;
    const cursors = nodes.map(cursorOf);
    this.pageInfo = { ...pageFlags, startCursor: cursors[0] ?? null, endCursor: cursors.at(-1) ?? null };
  }

  @Field(() => [SecurityEventEdge], { description: 'The events of this page, each with its cursor.' })
  edges(): SecurityEventEdge[] {
    return this.nodes.map((node) => ({ cursor: cursorOf(node), node }));
  }

  @Field(() => Int, { description: 'Number of events on all pages.' })
  totalCount(@Ctx() { loaders, session }: Context): Promise<number> {
    const count = async (ids: readonly unknown[]) => Promise.all((ids as number[]).map((id) => countEventsOfUser(id, session)));
    return loaders.getOrCreate<number>('count of security events', count).load(this.userId);
  }
}

async function loadPage(userId: number, args: EventArgs, { session }: Context): Promise<SecurityEventConnection> {
  const [first, last] = [checkPageSize('first', args.first), checkPageSize('last', args.last)];
  if (first !== undefined && last !== undefined) throw invalidArgumentError('last', 'Use either first or last, not both.');
  const [older, newer] = [parseCursor('after', args.after), parseCursor('before', args.before)];
  const backward = last !== undefined;
  const size = first ?? last ?? DEFAULT_PAGE_SIZE;
  const events = await eventsOfUser(userId, { olderThanId: older, newerThanId: newer, isBackward: backward, limit: size + 1 }, session);
  const hasMore = events.length > size;
  const nodes = hasMore ? events.slice(0, size) : events;
  if (backward) nodes.reverse();
  // A page excludes the event that its cursor names. Therefore a page after a cursor has a previous page, and a page before a cursor has a next page.
  const pageFlags = { hasNextPage: backward ? newer !== undefined : hasMore, hasPreviousPage: backward ? hasMore : older !== undefined };
  return new SecurityEventConnection(userId, nodes, pageFlags);
}

@Resolver(() => User)
export class EventResolver {
  @FieldResolver(() => SecurityEventConnection, {
    description: 'Security events of the account, newest first. Not available with an access token (`FORBIDDEN`).',
  })
  @RequiresFields(() => User, 'id')
  securityEvents(
    @Root() { id }: { id: number },
    @Args(() => EventArgs) args: EventArgs,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ): Promise<SecurityEventConnection> {
    requireViewerWithoutAccessToken(context);
    const loadPages = (ids: readonly unknown[]) => Promise.all((ids as number[]).map((userId) => loadPage(userId, args, context)));
    return context.loaders.getOrCreate<SecurityEventConnection>(info.fieldNodes, loadPages).load(id);
  }
}
