/** Signing in over GraphQL; REST's login runs the same mutation. */
import { Arg, Ctx, Extensions, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '../core/context';
import { invalid } from '../core/errors';
import { MIN_PASSWORD } from './accounts';

@ObjectType({ description: 'What a login answers.', simpleResolvers: true })
class LoginPayload {
  @Field(() => String, { description: 'For the header `Authorization: Token <token>`; the same at every login.' })
  declare token: string;
}

@Resolver()
export class AuthResolver {
  @Mutation(() => LoginPayload, {
    nullable: true,
    description:
      'The token of a user. UNAUTHENTICATED for a wrong name or password, TOO_MANY_REQUESTS (with `retryAfter` in seconds) after too many tries. It may stand once in an operation.',
  })
  @Extensions({ once: true })
  async login(
    @Arg('username', () => String, { description: 'The name, case-sensitive.' }) username: string,
    @Arg('password', () => String, { description: `At least ${MIN_PASSWORD} characters; blanks around it do not count.` }) password: string,
    @Ctx() { signIn }: Context,
  ): Promise<LoginPayload> {
    if (password.trim().length < MIN_PASSWORD) throw invalid({ password: [`Ensure this field has at least ${MIN_PASSWORD} characters.`] });
    return { token: await signIn(username, password.trim()) };
  }
}
