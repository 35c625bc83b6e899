/** Signing in over GraphQL; REST's login runs the same mutation. */
import { Arg, Ctx, Extensions, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '../core/context';
import { invalid } from '../core/errors';
import { problems } from '../core/limits';
import type { ArgumentLimits } from '../extensions';
import { trimmed } from '../reading';
import { MIN_PASSWORD } from './accounts';

@ObjectType({ description: 'What a login answers.', simpleResolvers: true })
class LoginPayload {
  @Field(() => String, { description: 'For the header `Authorization: Token <token>`; the same at every login.' })
  declare token: string;
}

/** In characters, whatever they are made of. */
const LIMITS: ArgumentLimits = {
  username: (name) => problems(name, { kind: 'string', blank: true }),
  password: (password) => problems(password, { kind: 'string', minLength: MIN_PASSWORD, blank: false }),
};

@Resolver()
export class AuthResolver {
  @Mutation(() => LoginPayload, {
    nullable: true,
    description:
      'The token of a user. UNAUTHENTICATED for a wrong name or password, TOO_MANY_REQUESTS (with `retryAfter` in seconds) after too many tries. It may stand once in an operation.',
  })
  @Extensions({ once: true, limits: LIMITS })
  async login(
    @Arg('username', () => String, { description: 'The name, case-sensitive.' }) username: string,
    @Arg('password', () => String, { description: `At least ${MIN_PASSWORD} characters; blanks around it do not count.` }) password: string,
    @Ctx() { signIn }: Context,
  ): Promise<LoginPayload> {
    const given = { username, password: trimmed(password) };
    const wrong = Object.entries(given).map(([name, value]): [string, string[]] => [name, LIMITS[name]!(value)]);
    const errors = Object.fromEntries(wrong.filter(([, messages]) => messages.length));
    if (Object.keys(errors).length) throw invalid(errors);
    return { token: await signIn(given.username, given.password) };
  }
}
