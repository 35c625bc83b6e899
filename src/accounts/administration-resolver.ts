/** Administration of accounts by superusers in GraphQL. */
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  Float,
  ID,
  Int,
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
import { Administration, type AccountFilter, type StoredAccount } from './administration';
import { readIdPage } from './id-pages';
import { AccessToken } from './token-resolver';

const TYPICAL_LIST_SIZE = 5;
const SUPERUSERS_ONLY = 'Only for superusers, and not with an access token (`FORBIDDEN`).';

@ObjectType({ description: 'An account, as superusers see it.', simpleResolvers: true })
class Account {
  @Field(() => ID, { description: 'Identifies the account.' }) declare id: number;
  @Field(() => String, { description: 'The name with which the user signs in.' })
  declare username: string;
  @Field(() => String, { description: 'The address to which e-mails are sent; may be empty.' })
  declare email: string;
  @Field(() => Boolean, { description: 'Whether the user can sign in.' })
  declare isActive: boolean;
  @Field(() => Boolean, {
    description: 'Whether the user administrates the service and may write the catalogue.',
  })
  declare isSuperuser: boolean;
  @Field(() => Boolean, { description: 'Whether the user may write the catalogue.' })
  declare isCurator: boolean;
  @Field(() => DateTimeScalar, { description: 'When the account was created.' })
  declare joinedAt: string;
  @Field(() => DateTimeScalar, {
    nullable: true,
    description: 'When the user last signed in; null if never.',
  })
  declare lastLoginAt: string | null;
}

@ObjectType({ description: 'What an account uses.', simpleResolvers: true })
class AccountUsage {
  @Field(() => Int, { description: 'Number of sessions that have not expired.' })
  declare sessionCount: number;
  @Field(() => Int, { description: 'Number of access tokens.' })
  declare accessTokenCount: number;
  @Field(() => Float, { description: 'Number of rows of the user.' }) declare rowCount: number;
  @Field(() => Float, { description: 'Total size of the images of the user, in bytes.' })
  declare imageBytes: number;
}

@ObjectType({ description: 'A browser in which a user is signed in.', simpleResolvers: true })
class AccountSession {
  @Field(() => ID, { description: 'Identifies the session.' }) declare id: string;
  @Field(() => DateTimeScalar, { description: 'When the user signed in.' })
  declare createdAt: string;
  @Field(() => DateTimeScalar, {
    description: 'When it was last used, to the nearest ten minutes.',
  })
  declare lastUsedAt: string;
}

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
  accounts(@Args(() => AccountArgs) args: AccountArgs, @Ctx() context: Context): Promise<object> {
    const administration = new Administration(context);

    return readIdPage(
      'account',
      args,
      (window) => administration.findAccounts(args, window),
      () => administration.countAccounts(args),
    );
  }

  @FieldResolver(() => AccountUsage, { description: 'What the account uses.' })
  @FieldExtensions({ cost: { weight: 20 } })
  usage(@Root() { id }: StoredAccount, @Ctx() context: Context): Promise<object> {
    return context.loaders
      .getOrCreate<object>('account usage', (ids) =>
        new Administration(context).readUsage(ids as number[]),
      )
      .load(id);
  }

  @FieldResolver(() => [AccountSession], {
    description: 'Where the user is signed in, latest use first; at most 100.',
  })
  @FieldExtensions({ cost: { weight: 2 }, ...listSizeExtensions(TYPICAL_LIST_SIZE) })
  sessions(@Root() { id }: StoredAccount, @Ctx() context: Context): Promise<object> {
    return context.loaders
      .getOrCreate<object>('account sessions', (ids) =>
        new Administration(context).readSessions(ids as number[]),
      )
      .load(id);
  }

  @FieldResolver(() => [AccessToken], { description: 'Access tokens, oldest first.' })
  @FieldExtensions({ cost: { weight: 2 }, ...listSizeExtensions(TYPICAL_LIST_SIZE) })
  accessTokens(@Root() { id }: StoredAccount, @Ctx() context: Context): Promise<object> {
    return context.loaders
      .getOrCreate<object>('account access tokens', (ids) =>
        new Administration(context).readAccessTokens(ids as number[]),
      )
      .load(id);
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
    @Ctx() context: Context,
  ): Promise<object> {
    return new Administration(context).createUser({
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
    @Ctx() context: Context,
  ): Promise<object> {
    return new Administration(context).setRoles(id, {
      ...(isSuperuser != null && { isSuperuser }),
      ...(isCurator != null && { isCurator }),
    });
  }

  @superuserMutation('Activates or deactivates the account of another user.')
  setUserActive(
    @AccountId id: string,
    @Arg('isActive', () => Boolean, { description: 'Whether the user can sign in.' })
    isActive: boolean,
    @Ctx() context: Context,
  ): Promise<object> {
    return new Administration(context).setActive(id, isActive);
  }

  @superuserMutation(
    'Ends all sessions of a user, revokes the API key and all access tokens, and disconnects sign-ins if a password remains.',
  )
  signOutUser(@AccountId id: string, @Ctx() context: Context): Promise<object> {
    return new Administration(context).signOut(id);
  }

  @superuserMutation('Ends a session of a user.')
  endUserSession(
    @AccountId id: string,
    @Arg('sessionId', () => ID, { description: 'The `id` in `Account.sessions`.' })
    sessionId: string,
    @Ctx() context: Context,
  ): Promise<object> {
    return new Administration(context).endSession(id, sessionId);
  }

  @superuserMutation('Revokes an access token of a user.')
  revokeUserAccessToken(
    @AccountId id: string,
    @Arg('accessTokenId', () => ID, { description: 'The `id` in `Account.accessTokens`.' })
    accessTokenId: string,
    @Ctx() context: Context,
  ): Promise<object> {
    return new Administration(context).revokeAccessToken(id, accessTokenId);
  }

  @superuserMutation('Disconnects the sign-ins of a user at OpenID Connect providers.')
  disconnectUser(@AccountId id: string, @Ctx() context: Context): Promise<object> {
    return new Administration(context).disconnect(id);
  }

  @superuserMutation(
    'Deletes the account of another user with all data and files, and returns it as it was.',
  )
  deleteUser(@AccountId id: string, @Ctx() context: Context): Promise<object> {
    return new Administration(context).deleteUser(id);
  }

  @Mutation(() => PasswordLink, {
    nullable: true,
    description: `Creates a link by which a user sets a new password. It replaces an earlier one and is valid once and for a day. ${SUPERUSERS_ONLY}`,
  })
  async createPasswordLink(@AccountId id: string, @Ctx() context: Context): Promise<PasswordLink> {
    const link = await new Administration(context).createPasswordLink(id);

    return { url: context.request.baseUrl + link.path, expiresAt: link.expiresAt };
  }
}
