/** The audit log of the viewer's account as a GraphQL connection. */
import { Args, Ctx, FieldResolver, Info, Resolver, Root } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { requireViewerWithoutAccessToken } from '../engine/access/access';
import { createConnectionType, CursorArgs } from '../engine/read/connection-types';
import type { Context } from '../engine/context';
import { RequiresFields } from '../engine/read/query-plan';
import { User } from './user';
import { readIdPage } from './id-pages';
import { countUserEvents, findUserEvents, SecurityEvent } from './security-events';

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
