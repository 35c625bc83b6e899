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
import type { Context } from '../engine/context';
import { RequiresFields } from '../engine/read/query-plan';
import { DateTimeScalar } from '../engine/declare/scalars';
import { User } from './user';
import { EVENT_KINDS, type EventKind } from './event-kinds';
import { readIdPage } from './id-pages';
import { countUserEvents, findUserEvents } from './security-events';

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

function loadPageOfUser(
  userId: number,
  args: CursorArgs,
  { session, loaders }: Context,
): Promise<object> {
  const countEvents = async (ids: readonly unknown[]) =>
    Promise.all((ids as number[]).map((id) => countUserEvents(id, session)));

  return readIdPage(
    'event',
    args,
    (window) => findUserEvents(userId, window, session),
    () => loaders.getOrCreate<number>('count of security events', countEvents).load(userId),
  );
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
