/** Signing in over GraphQL; REST's login runs the same mutation. */
import { Arg, Ctx, Extensions, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '../core/context';
import { invalid } from '../core/model/errors';
import { problems } from '../core/model/limits';
import { answered, FieldError } from '../core/schema/payload';
import type { ArgumentLimits } from '../contract/facts';
import { trimmed } from '../platform/reading';
import { MAX_PASSWORD, MIN_PASSWORD } from './accounts';

@ObjectType({ description: 'What a login answers.', simpleResolvers: true })
class LoginPayload {
  @Field(() => String, {
    description: 'For the header `Authorization: Token <token>`; the same at every login until it is replaced or the password changes.',
  })
  declare token: string;
}

/** In characters, whatever they are made of. */
const LIMITS: ArgumentLimits = {
  username: (name) => problems(name, { kind: 'string', blank: true }),
  password: (password) => problems(password, { kind: 'string', minLength: MIN_PASSWORD, blank: false }),
};

@ObjectType({ description: 'Whether a password was changed, or what is wrong with the values.', simpleResolvers: true })
class ChangePasswordPayload {
  @Field(() => Boolean, { description: 'Whether it was changed.' })
  readonly changed: boolean;

  @Field(() => String, { nullable: true, description: 'The new token, if the password was changed: the old one does not work any more.' })
  readonly token: string | null;

  @Field(() => [FieldError], { description: 'All that is wrong with the values; then the password was not changed.' })
  readonly fieldErrors: FieldError[];

  constructor(token: string | null, fieldErrors: FieldError[]) {
    this.changed = token !== null;
    this.token = token;
    this.fieldErrors = fieldErrors;
  }
}

@ObjectType({ description: 'A new token.', simpleResolvers: true })
class ReplaceTokenPayload {
  @Field(() => String, { description: 'For the header `Authorization: Token <token>`.' })
  declare token: string;
}

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

  @Mutation(() => ChangePasswordPayload, {
    nullable: true,
    description:
      'Sets a new password of the viewer. Browsers that are signed in elsewhere are signed out, and the token is replaced: go on with the `token` of the answer. TOO_MANY_REQUESTS (with `retryAfter` in seconds) after too many tries. It may stand once in an operation.',
  })
  @Extensions({ once: true })
  changePassword(
    @Arg('oldPassword', () => String, { description: 'The present one; blanks around it do not count.' }) oldPassword: string,
    @Arg('newPassword', () => String, {
      description: `${MIN_PASSWORD} to ${MAX_PASSWORD} characters, not digits alone; blanks around it do not count.`,
    })
    newPassword: string,
    @Ctx() { changePassword }: Context,
  ): Promise<object> {
    return answered<string>(ChangePasswordPayload, () => changePassword(trimmed(oldPassword), trimmed(newPassword)));
  }

  @Mutation(() => ReplaceTokenPayload, {
    nullable: true,
    description:
      'Makes a new token of the viewer. The old one stops working at once, with every program that uses it; browsers stay signed in. It may stand once in an operation.',
  })
  @Extensions({ once: true })
  async replaceToken(@Ctx() { replaceToken }: Context): Promise<ReplaceTokenPayload> {
    return { token: await replaceToken() };
  }
}
