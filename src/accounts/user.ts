/** A user account, and the fields of the GraphQL types `Query` and `User` for it. */
import { Ctx, FieldResolver, Info, Query, Resolver, Root } from 'type-graphql';
import type { GraphQLResolveInfo } from 'graphql';
import { Column, DataType, Model } from 'sequelize-typescript';
import type { Context } from '../engine/context';
import { createCrudResolver } from '../engine/schema/crud';
import {
  defaultValues,
  BooleanField,
  Id,
  DateTimeField,
  TextField,
  type RowFields,
} from '../engine/declare/fields';
import { loadChildren } from '../engine/read/loaders';
import { RequiresFields } from '../engine/read/query-plan';
import { Resource } from '../engine/declare/resource';
import { readRowById } from '../engine/read/rows';
import { UserProfile } from './user-profile';

export const MAX_EMAIL_LENGTH = 254;

/**
 * Whether an e-mail address has one `@` between a name and a domain with a dot. Only the mail
 * server can tell whether the address exists.
 */
export const isEmailAddress = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= MAX_EMAIL_LENGTH &&
  /^[^\s@\0]+@[^\s@\0]+\.[^\s@.\0]+$/.test(value);

const emailErrors = (value: unknown) =>
  value === '' || isEmailAddress(value) ? [] : ['Enter a valid e-mail address.'];

@Resource({
  table: 'user_account',
  description:
    'A user account. Users see only their own account. Their logs and plans are in the lists of Query.',
  dumpModelName: 'auth.user',
  isOwned: true,
  scopeGroup: 'account',
  ownerColumn: 'id',
  hasRootQueries: false,
  writeOperations: ['update'],
  viewerMutationName: 'updateUser',
  ordering: ['id'],
  uniqueFields: ['username'],
})
export class User extends Model<User> {
  @Id() declare id: number;
  @TextField({
    label: 'User name',
    description: 'The name with which the user signs in.',
    max: 150,
    readOnly: true,
  })
  declare username: string;
  @TextField({ label: 'First name', description: 'Given name.', max: 150, allowBlank: true })
  declare firstName: string;
  @TextField({ label: 'Last name', description: 'Family name.', max: 150, allowBlank: true })
  declare lastName: string;
  @TextField({
    label: 'E-mail address',
    description: 'The address to which e-mails are sent.',
    max: MAX_EMAIL_LENGTH,
    allowBlank: true,
    check: emailErrors,
  })
  declare email: string;
  @BooleanField({
    label: 'Active',
    helpText: 'The user of a deactivated account cannot sign in.',
    default: true,
    readOnly: true,
  })
  declare isActive: boolean;
  @BooleanField({
    label: 'Staff',
    description: 'Whether the user is on the staff of the service.',
    default: false,
    readOnly: true,
  })
  declare isStaff: boolean;
  @BooleanField({
    label: 'Superuser',
    description: 'Whether the user administrates the service and may write the catalogue.',
    default: false,
    readOnly: true,
  })
  declare isSuperuser: boolean;
  @BooleanField({
    label: 'Curator',
    description: 'Whether the user may write the catalogue. Superusers may as well.',
    default: false,
    readOnly: true,
    hiddenInRest: true,
  })
  declare isCurator: boolean;
  @DateTimeField({
    label: 'Joined',
    columnAndRestKey: 'date_joined',
    description: 'When the account was created.',
    default: defaultValues.now,
    readOnly: true,
  })
  declare joinedAt: string;
  @DateTimeField({
    label: 'Last login',
    columnAndRestKey: 'last_login',
    description: 'When the user last signed in; null if never.',
    allowNull: true,
    readOnly: true,
  })
  declare lastLoginAt: string | null;

  /** The password hash. A plain column instead of a declared field, so that no API exposes it. */
  @Column({ type: DataType.TEXT, allowNull: false }) declare password: string;

  /** Whether `email` is known to belong to the user. A trigger resets it if the address changes. */
  @Column({ type: DataType.BOOLEAN, field: 'email_verified' }) declare isEmailVerified: boolean;
}

@Resolver(() => User)
export default class UserResolver extends createCrudResolver(User) {
  @Query(() => User, {
    nullable: true,
    description: 'The signed-in user; null for anonymous requests.',
  })
  viewer(@Ctx() context: Context, @Info() info: GraphQLResolveInfo) {
    return context.viewer && readRowById(User, context.viewer.id, context, info);
  }

  @FieldResolver(() => String, {
    description: 'First and last name, or the user name if neither is given.',
  })
  @RequiresFields(() => User, 'firstName', 'lastName', 'username')
  name(@Root() user: RowFields<User, 'firstName' | 'lastName' | 'username'>): string {
    return `${user.firstName} ${user.lastName}`.trim() || user.username;
  }

  @FieldResolver(() => UserProfile, {
    nullable: true,
    description: 'Preferences and body measurements.',
  })
  @RequiresFields(() => User, 'id')
  async profile(
    @Root() user: RowFields<User, 'id'>,
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
  ) {
    return (await loadChildren(UserProfile, 'userId', [], user.id, context, info))[0] ?? null;
  }
}
