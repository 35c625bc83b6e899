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
import { FieldExtensions } from '../engine/declare/field-extensions';
import { DateTimeScalar } from '../engine/declare/scalars';
import { createConnectionType, CursorArgs } from '../engine/read/connection-types';
import type { UserRoles } from './accounts';
import {
  Administration,
  parseAccountId,
  type AccountFilter,
  type StoredAccount,
} from './administration';
import { readIdPage } from './id-pages';

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
  @Field(() => Boolean, { description: 'Whether the user administrates the service.' })
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

@ObjectType({ description: 'A link by which a user sets a new password.', simpleResolvers: true })
class PasswordLink {
  @Field(() => String, { description: 'For the user only; valid once.' }) declare url: string;
  @Field(() => DateTimeScalar, { description: 'When the link expires.' })
  declare expiresAt: string;
}

@ArgsType()
class AccountArgs extends CursorArgs implements AccountFilter {
  @Field(() => String, { nullable: true, description: 'Part of the name or e-mail address.' })
  declare search?: string;
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

  @superuserMutation('Creates an account.')
  async createUser(
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
    const administration = new Administration(context);
    const id = await administration.createUser({
      username,
      email: email ?? undefined,
      password: password ?? undefined,
    });

    return administration.findAccount(id);
  }

  @superuserMutation('Grants or revokes roles of another user.')
  setUserRoles(
    @AccountId id: string,
    @roleArgument('isSuperuser') isSuperuser: boolean | null | undefined,
    @roleArgument('isCurator') isCurator: boolean | null | undefined,
    @Ctx() context: Context,
  ): Promise<object> {
    return changeAccount(id, context, (administration, userId) =>
      administration.setRoles(userId, {
        ...(isSuperuser != null && { isSuperuser }),
        ...(isCurator != null && { isCurator }),
      }),
    );
  }

  @superuserMutation('Activates or deactivates the account of another user.')
  setUserActive(
    @AccountId id: string,
    @Arg('isActive', () => Boolean, { description: 'Whether the user can sign in.' })
    isActive: boolean,
    @Ctx() context: Context,
  ): Promise<object> {
    return changeAccount(id, context, (administration, userId) =>
      administration.setActive(userId, isActive),
    );
  }

  @superuserMutation('Ends all sessions of a user and revokes the API key and all access tokens.')
  signOutUser(@AccountId id: string, @Ctx() context: Context): Promise<object> {
    return changeAccount(id, context, (administration, userId) => administration.signOut(userId));
  }

  @superuserMutation(
    'Deletes the account of another user with all data and files, and returns it as it was.',
  )
  async deleteUser(@AccountId id: string, @Ctx() context: Context): Promise<object> {
    const administration = new Administration(context);
    const account = await administration.findAccount(parseAccountId(id));

    await administration.deleteUser(account.id);
    return account;
  }

  @Mutation(() => PasswordLink, {
    nullable: true,
    description: `Creates a link by which a user sets a new password. It replaces an earlier one and is valid once and for a day. ${SUPERUSERS_ONLY}`,
  })
  async createPasswordLink(@AccountId id: string, @Ctx() context: Context): Promise<PasswordLink> {
    const link = await new Administration(context).createPasswordLink(parseAccountId(id));

    return { url: context.request.baseUrl + link.path, expiresAt: link.expiresAt };
  }
}

/** Changes an account and returns its new state. */
async function changeAccount(
  id: string,
  context: Context,
  change: (administration: Administration, userId: number) => Promise<void>,
): Promise<object> {
  const administration = new Administration(context);

  await change(administration, parseAccountId(id));
  return administration.findAccount(parseAccountId(id));
}
