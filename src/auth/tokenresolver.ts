/** GraphQL fields and mutations for access tokens and sessions. */
import { Arg, Ctx, Extensions, Field, FieldResolver, ID, Int, Mutation, ObjectType, Resolver, Root } from 'type-graphql';
import { requireAccountOwner } from '../core/access/access';
import type { Context } from '../core/context';
import { InvalidInput, rowNotFoundIssue } from '../core/model/errors';
import { parseRowId } from '../core/model/ids';
import type { InputIssue } from '../core/model/validationissues';
import { runWrite, InputError } from '../core/schema/payload';
import { Needs } from '../core/read/queryplan';
import { DateTimeScalar } from '../core/model/scalars';
import { TokenScope } from '../core/access/scopes';
import { User } from '../resources/user';
import { listAccessTokens, MAX_TOKEN_NAME_LENGTH, type AccessToken as StoredToken } from './accesstokens';

const ASSUMED_TOKENS_PER_USER = 50;

@ObjectType({ description: 'A token that a program signs in with, for some of what its owner may do.', simpleResolvers: true })
export class AccessToken {
  @Field(() => ID, { description: 'Tells it from the other tokens.' }) declare id: number;
  @Field(() => String, { description: 'What its owner calls it.' }) declare name: string;
  @Field(() => [TokenScope.type], { description: 'What it is for.' }) declare scopes: string[];
  @Field(() => DateTimeScalar, { description: 'When it was made.' }) declare createdAt: string;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ends; null if never.' }) declare expiresAt: string | null;
  @Field(() => Boolean, { description: 'Whether it has ended already.' }) declare isExpired: boolean;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was last used, to the nearest ten minutes; null if never.' })
  declare lastUsedAt: string | null;
}

/** A new access token with its secret, which is stored nowhere else. */
export interface CreatedAccessToken {
  token: string;
  accessToken: StoredToken;
}

@ObjectType({ description: 'An access token that was made, or what is wrong with the values.', simpleResolvers: true })
class CreateAccessTokenPayload {
  @Field(() => String, {
    nullable: true,
    description: 'For the header `Authorization: Token <token>`. It is shown this once: only a hash of it is kept.',
  })
  readonly token: string | null;

  @Field(() => AccessToken, { nullable: true, description: 'As it is listed from now on; null if there are errors.' })
  readonly accessToken: StoredToken | null;

  @Field(() => [InputError], { description: 'All that is wrong with the values; then no token was made.' })
  readonly errors: readonly InputIssue[];

  constructor(created: CreatedAccessToken | null, errors: readonly InputIssue[]) {
    this.token = created?.token ?? null;
    this.accessToken = created?.accessToken ?? null;
    this.errors = errors;
  }
}

@ObjectType({ description: 'An access token that was revoked, or why it was not.', simpleResolvers: true })
class RevokeAccessTokenPayload {
  @Field(() => ID, { nullable: true, description: 'Of the token, which works no more; null if there are errors.' })
  readonly revokedId: number | null;

  @Field(() => [InputError], { description: 'NOT_FOUND if the viewer has no such token.' })
  readonly errors: readonly InputIssue[];

  constructor(revokedId: number | null, errors: readonly InputIssue[]) {
    this.revokedId = revokedId;
    this.errors = errors;
  }
}

@ObjectType({ description: 'How many access tokens were revoked.', simpleResolvers: true })
class RevokeAccessTokensPayload {
  @Field(() => Int, { description: 'Number of tokens revoked.' }) declare count: number;
}

@ObjectType({ description: 'How many browsers were signed out.', simpleResolvers: true })
class EndSessionsPayload {
  @Field(() => Int, { description: 'Number of sessions ended.' }) declare count: number;
}

const OWNER_ONLY_NOTE = 'Not available with an access token (`FORBIDDEN`).';

@Resolver(() => User)
export class AccessTokenResolver {
  @FieldResolver(() => [AccessToken], { description: `Their access tokens, oldest first. ${OWNER_ONLY_NOTE}` })
  @Extensions({ listSize: { assumedSize: ASSUMED_TOKENS_PER_USER } })
  @Needs(() => User, 'id')
  accessTokens(@Root() { id }: { id: number }, @Ctx() context: Context): Promise<StoredToken[]> {
    requireAccountOwner(context);
    return context.loaders.get('access tokens', (ids) => listAccessTokens(ids as number[], context.session)).load(id);
  }

  @Mutation(() => CreateAccessTokenPayload, {
    nullable: true,
    description: `Makes an access token of the viewer. ${OWNER_ONLY_NOTE} It may stand once in an operation.`,
  })
  @Extensions({ once: true })
  createAccessToken(
    @Arg('name', () => String, {
      description: `What to call it: up to ${MAX_TOKEN_NAME_LENGTH} characters, and not as another one is called.`,
    })
    name: string,
    @Arg('scopes', () => [TokenScope.type], { description: 'What it is for, one at least. Writing includes reading.' }) scopes: string[],
    @Arg('expiresAt', () => DateTimeScalar, { nullable: true, description: 'When it ends; never, if absent.' })
    expiresAt: string | null | undefined,
    @Ctx() context: Context,
  ): Promise<object> {
    return runWrite<CreatedAccessToken>(CreateAccessTokenPayload, async () => {
      const { id, token } = await context.account.credentials().createAccessToken({ name, scopes, expiresAt: expiresAt ?? null });
      const [tokens] = await listAccessTokens([requireAccountOwner(context).id], context.session);
      return { token, accessToken: tokens!.find((candidate) => candidate.id === id)! };
    });
  }

  @Mutation(() => RevokeAccessTokenPayload, {
    nullable: true,
    description: `Revokes an access token of the viewer: it stops working at once. ${OWNER_ONLY_NOTE}`,
  })
  revokeAccessToken(@Arg('id', () => ID, { description: 'As the list has it.' }) id: string, @Ctx() context: Context): Promise<object> {
    return runWrite<number>(RevokeAccessTokenPayload, async () => {
      const tokenId = parseRowId(id);
      const credentials = context.account.credentials();
      if (tokenId === undefined || !(await credentials.revokeAccessTokens(tokenId)))
        throw new InvalidInput([{ path: ['id'], ...rowNotFoundIssue(AccessToken.name, id) }]);
      return tokenId;
    });
  }

  @Mutation(() => RevokeAccessTokensPayload, {
    nullable: true,
    description: `Revokes all access tokens of the viewer. The API key stays; \`replaceToken\` replaces it. ${OWNER_ONLY_NOTE}`,
  })
  async revokeAccessTokens(@Ctx() context: Context): Promise<RevokeAccessTokensPayload> {
    return { count: await context.account.credentials().revokeAccessTokens() };
  }

  @Mutation(() => EndSessionsPayload, {
    nullable: true,
    description: `Signs the viewer out of all browsers, also of the one that this comes from. Tokens stay. ${OWNER_ONLY_NOTE}`,
  })
  async endSessions(@Ctx() context: Context): Promise<EndSessionsPayload> {
    return { count: await context.account.credentials().endSessions() };
  }
}
