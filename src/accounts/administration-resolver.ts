/** Administration of accounts by superusers in GraphQL. */
import {
  Arg,
  Args,
  ArgsType,
  createParameterDecorator,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import type { Context } from '../engine/context';
import { FieldExtensions, listSizeExtensions } from '../engine/declare/field-extensions';
import { DateTimeScalar } from '../engine/declare/scalars';
import { createConnectionType, CursorArgs } from '../engine/read/connection-types';
import type { UserRoles } from './accounts';
import { AccessToken } from './access-tokens';
import { Account, Administration, type AccountFilter } from './administration';
import { readIdPage } from './id-pages';
import { AccountSession } from './sessions';
import { AccountUsage } from './usage';

const TYPICAL_LIST_SIZE = 5;
const SUPERUSERS_ONLY = 'Only for superusers, and not with an access token (`FORBIDDEN`).';

@ObjectType({ description: 'A link by which a user sets a new password.', simpleResolvers: true })
class PasswordLink {
  @Field(() => String, { description: 'For the user only; valid once.' }) declare url: string;
  @Field(() => DateTimeScalar, { description: 'When the link expires.' })
  declare expiresAt: string;
}

@ArgsType()
class AccountArgs extends CursorArgs implements AccountFilter {
  @Field(() => String, { nullable: true, description: 'Part of the name or e-mail address.' })
  declare search?: string | null;
  @Field(() => Boolean, { nullable: true, description: 'Active or deactivated accounts only.' })
  declare isActive?: boolean;
  @Field(() => Boolean, { nullable: true, description: 'With or without this role only.' })
  declare isSuperuser?: boolean;
  @Field(() => Boolean, { nullable: true, description: 'With or without this role only.' })
  declare isCurator?: boolean;
}

const AccountConnection = createConnectionType(Account);

/** The accounts as the viewer, a superuser, sees them. Rejects others. */
const AsSuperuser = createParameterDecorator<Context>(({ context }) => new Administration(context));

/** Loads a field of several accounts with one statement. */
const loadByAccount = (
  method: 'readUsage' | 'readSessions' | 'readAccessTokens',
  id: number,
  context: Context,
): Promise<object> =>
  context.loaders
    .getOrCreate<object>(method, (ids) => new Administration(context)[method](ids as number[]))
    .load(id);

const AccountId = Arg('id', () => ID, { description: 'The `id` of the account.' });

const roleArgument = (name: keyof UserRoles) =>
  Arg(name, () => Boolean, { nullable: true, description: 'If absent, the role is unchanged.' });

const superuserMutation = (description: string) =>
  Mutation(() => Account, { nullable: true, description: `${description} ${SUPERUSERS_ONLY}` });

@Resolver(() => Account)
export class AdministrationResolver {
  @Query(() => AccountConnection, {
    description: `Accounts, newest first. ${SUPERUSERS_ONLY}`,
  })
  accounts(
    @Args(() => AccountArgs) args: AccountArgs,
    @AsSuperuser administration: Administration,
  ): Promise<object> {
    return readIdPage(
      'account',
      args,
      (window) => administration.findAccounts(args, window),
      () => administration.countAccounts(args),
    );
  }

  @FieldResolver(() => AccountUsage, { description: 'What the account uses.' })
  @FieldExtensions({ cost: { weight: 20 } })
  usage(@Root() { id }: Account, @Ctx() context: Context): Promise<object> {
    return loadByAccount('readUsage', id, context);
  }

  @FieldResolver(() => [AccountSession], {
    description: 'Where the user is signed in, latest use first; at most 100.',
  })
  @FieldExtensions({ cost: { weight: 2 }, ...listSizeExtensions(TYPICAL_LIST_SIZE) })
  sessions(@Root() { id }: Account, @Ctx() context: Context): Promise<object> {
    return loadByAccount('readSessions', id, context);
  }

  @FieldResolver(() => [AccessToken], { description: 'Access tokens, oldest first.' })
  @FieldExtensions({ cost: { weight: 2 }, ...listSizeExtensions(TYPICAL_LIST_SIZE) })
  accessTokens(@Root() { id }: Account, @Ctx() context: Context): Promise<object> {
    return loadByAccount('readAccessTokens', id, context);
  }

  @superuserMutation('Creates an account.')
  createUser(
    @Arg('username', () => String, { description: '1 to 150 letters, digits and @ . + - _' })
    username: string,
    @Arg('email', () => String, { nullable: true, description: 'The e-mail address.' })
    email: string | null | undefined,
    @Arg('password', () => String, {
      nullable: true,
      description: 'If absent, the user sets it by the link of `createPasswordLink`.',
    })
    password: string | null | undefined,
    @AsSuperuser administration: Administration,
  ): Promise<object> {
    return administration.createUser({
      username,
      email: email ?? undefined,
      password: password ?? undefined,
    });
  }

  @superuserMutation('Grants or revokes roles of another user.')
  setUserRoles(
    @AccountId id: string,
    @roleArgument('isSuperuser') isSuperuser: boolean | null | undefined,
    @roleArgument('isCurator') isCurator: boolean | null | undefined,
    @AsSuperuser administration: Administration,
  ): Promise<object> {
    return administration.setRoles(id, {
      ...(isSuperuser != null && { isSuperuser }),
      ...(isCurator != null && { isCurator }),
    });
  }

  @superuserMutation('Activates or deactivates the account of another user.')
  setUserActive(
    @AccountId id: string,
    @Arg('isActive', () => Boolean, { description: 'Whether the user can sign in.' })
    isActive: boolean,
    @AsSuperuser administration: Administration,
  ): Promise<object> {
    return administration.setActive(id, isActive);
  }

  @superuserMutation(
    'Ends all sessions of a user, revokes the API key and all access tokens, and disconnects sign-ins if a password remains.',
  )
  signOutUser(@AccountId id: string, @AsSuperuser administration: Administration): Promise<object> {
    return administration.signOut(id);
  }

  @superuserMutation('Ends a session of a user.')
  endUserSession(
    @AccountId id: string,
    @Arg('sessionId', () => ID, { description: 'The `id` in `Account.sessions`.' })
    sessionId: string,
    @AsSuperuser administration: Administration,
  ): Promise<object> {
    return administration.endSession(id, sessionId);
  }

  @superuserMutation('Revokes an access token of a user.')
  revokeUserAccessToken(
    @AccountId id: string,
    @Arg('accessTokenId', () => ID, { description: 'The `id` in `Account.accessTokens`.' })
    accessTokenId: string,
    @AsSuperuser administration: Administration,
  ): Promise<object> {
    return administration.revokeAccessToken(id, accessTokenId);
  }

  @superuserMutation('Disconnects the sign-ins of a user at OpenID Connect providers.')
  disconnectUser(
    @AccountId id: string,
    @AsSuperuser administration: Administration,
  ): Promise<object> {
    return administration.disconnect(id);
  }

  @superuserMutation(
    'Deletes the account of another user with all data and files, and returns it as it was.',
  )
  deleteUser(@AccountId id: string, @AsSuperuser administration: Administration): Promise<object> {
    return administration.deleteUser(id);
  }

  @Mutation(() => PasswordLink, {
    nullable: true,
    description: `Creates a link by which a user sets a new password. It replaces an earlier one and is valid once and for a day. ${SUPERUSERS_ONLY}`,
  })
  async createPasswordLink(
    @AccountId id: string,
    @AsSuperuser administration: Administration,
    @Ctx() { request }: Context,
  ): Promise<PasswordLink> {
    const { path, expiresAt } = await administration.createPasswordLink(id);

    return { url: request.baseUrl + path, expiresAt };
  }
}
