/** GraphQL fields and mutations for access tokens and sessions. */
import {
  Arg,
  Ctx,
  Field,
  FieldResolver,
  ID,
  Int,
  Mutation,
  ObjectType,
  Resolver,
  Root,
} from 'type-graphql';
import { FieldExtensions, ListSize, listSizeExtensions } from '../engine/declare/field-extensions';
import { requireViewerWithoutAccessToken } from '../engine/access/access';
import type { Context } from '../engine/context';
import { InvalidInput, rowNotFoundIssue, type InputIssue } from '../engine/declare/errors';
import { parseRowId } from '../engine/declare/node';
import { runPayloadWrite, InputError, TYPICAL_ISSUE_COUNT } from '../engine/schema/payload';
import { RequiresFields } from '../engine/read/query-plan';
import { DateTimeScalar } from '../engine/declare/scalars';
import { User } from './user';
import { AccessToken, listAccessTokens, MAX_TOKEN_NAME_LENGTH, TokenScope } from './access-tokens';

const TYPICAL_TOKEN_COUNT = 5;

@ObjectType({
  description: 'The created access token, or the errors in the input.',
  simpleResolvers: true,
})
class CreateAccessTokenPayload {
  @Field(() => String, {
    nullable: true,
    description:
      'For the header `Authorization: Token <token>`. Returned only once: the server stores only a hash.',
  })
  declare readonly token: string | null;

  @Field(() => AccessToken, {
    nullable: true,
    description: 'The created access token; null if there are errors.',
  })
  declare readonly accessToken: AccessToken | null;

  @ListSize(TYPICAL_ISSUE_COUNT)
  @Field(() => [InputError], {
    description: 'All errors in the input. If there are any, no token was created.',
  })
  declare readonly errors: readonly InputIssue[];
}

@ObjectType({
  description: 'The revoked access token, or the reason why it was not revoked.',
  simpleResolvers: true,
})
class RevokeAccessTokenPayload {
  @Field(() => ID, {
    nullable: true,
    description: 'Id of the revoked token; null if there are errors.',
  })
  declare readonly revokedId: number | null;

  @ListSize(TYPICAL_ISSUE_COUNT)
  @Field(() => [InputError], { description: 'NOT_FOUND if the viewer has no such token.' })
  declare readonly errors: readonly InputIssue[];
}

@ObjectType({ description: 'The result of revoking all access tokens.', simpleResolvers: true })
class RevokeAccessTokensPayload {
  @Field(() => Int, { description: 'Number of tokens revoked.' }) declare count: number;
}

@ObjectType({ description: 'The result of ending all sessions.', simpleResolvers: true })
class EndSessionsPayload {
  @Field(() => Int, { description: 'Number of sessions ended.' }) declare count: number;
}

const NOT_WITH_ACCESS_TOKEN_NOTE = 'Not available with an access token (`FORBIDDEN`).';

@Resolver(() => User)
export class AccessTokenResolver {
  @FieldResolver(() => [AccessToken], {
    description: `Their access tokens, oldest first. ${NOT_WITH_ACCESS_TOKEN_NOTE}`,
  })
  @FieldExtensions({ cost: { weight: 2 }, ...listSizeExtensions(TYPICAL_TOKEN_COUNT) })
  @RequiresFields(() => User, 'id')
  accessTokens(@Root() { id }: { id: number }, @Ctx() context: Context): Promise<AccessToken[]> {
    requireViewerWithoutAccessToken(context);
    return context.loaders
      .getOrCreate('access tokens', (ids) => listAccessTokens(ids as number[], context.session))
      .load(id);
  }

  @Mutation(() => CreateAccessTokenPayload, {
    nullable: true,
    description: `Creates an access token for the viewer. ${NOT_WITH_ACCESS_TOKEN_NOTE} At most once per operation.`,
  })
  @FieldExtensions({ oncePerOperation: true })
  createAccessToken(
    @Arg('name', () => String, {
      description: `Name of the token: up to ${MAX_TOKEN_NAME_LENGTH} characters, unique among the tokens of the viewer.`,
    })
    name: string,
    @Arg('scopes', () => [TokenScope.type], {
      description: 'Scopes of the token, at least one. Write access includes read access.',
    })
    scopes: string[],
    @Arg('expiresAt', () => DateTimeScalar, {
      nullable: true,
      description: 'When the token expires; never if absent.',
    })
    expiresAt: string | null | undefined,
    @Ctx() context: Context,
  ): Promise<object> {
    return runPayloadWrite(async () => {
      const { id, token } = await context.account.createAccessToken({
        name,
        scopes,
        expiresAt: expiresAt ?? null,
      });
      const [tokens] = await listAccessTokens(
        [requireViewerWithoutAccessToken(context).id],
        context.session,
      );

      return { token, accessToken: tokens!.find((candidate) => candidate.id === id)! };
    });
  }

  @Mutation(() => RevokeAccessTokenPayload, {
    nullable: true,
    description: `Revokes an access token of the viewer with immediate effect. ${NOT_WITH_ACCESS_TOKEN_NOTE}`,
  })
  revokeAccessToken(
    @Arg('id', () => ID, { description: 'The `id` of the token, as in `User.accessTokens`.' })
    id: string,
    @Ctx() context: Context,
  ): Promise<object> {
    return runPayloadWrite(async () => {
      const tokenId = parseRowId(id);

      requireViewerWithoutAccessToken(context);

      if (tokenId === undefined || !(await context.account.revokeAccessTokens(tokenId))) {
        throw new InvalidInput([{ path: ['id'], ...rowNotFoundIssue(AccessToken.name, id) }]);
      }

      return { revokedId: tokenId };
    });
  }

  @Mutation(() => RevokeAccessTokensPayload, {
    nullable: true,
    description: `Revokes all access tokens of the viewer. The API key stays; \`replaceToken\` replaces it. ${NOT_WITH_ACCESS_TOKEN_NOTE}`,
  })
  async revokeAccessTokens(@Ctx() context: Context): Promise<RevokeAccessTokensPayload> {
    return { count: await context.account.revokeAccessTokens() };
  }

  @Mutation(() => EndSessionsPayload, {
    nullable: true,
    description: `Signs the viewer out of all browsers, including the current one. Tokens stay valid. ${NOT_WITH_ACCESS_TOKEN_NOTE}`,
  })
  async endSessions(@Ctx() context: Context): Promise<EndSessionsPayload> {
    return { count: await context.account.endSessions() };
  }
}
