/** GraphQL mutations for sign-in, password change and API key replacement. The REST login runs the same `login` mutation. */
import { Arg, Ctx, Extensions, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import type { Context } from '../core/context';
import { InvalidInput, ClientError, throwIfInvalid } from '../core/model/errors';
import { limitIssues, limitMessages } from '../core/model/fieldvalidation';
import { validationIssue, IssueCode, type InputIssue } from '../core/model/validationissues';
import { runWrite, InputError } from '../core/schema/payload';
import type { ArgumentLimits } from '../contract/facts';
import { pythonStrip } from '../platform/pythonscalars';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './accounts';

const TOKEN_NOTE = 'For the header `Authorization: Token <token>`';

/** A token, or the validation issues of the input. */
class TokenPayload {
  constructor(
    readonly token: string | null,
    readonly errors: readonly InputIssue[],
  ) {}
}

@ObjectType({ description: 'The token of who signs in, or what is wrong with the name and the password.', simpleResolvers: true })
class LoginPayload extends TokenPayload {
  @Field(() => String, {
    nullable: true,
    description: `${TOKEN_NOTE}; the same at every login until it is replaced or the password changes.`,
  })
  @Extensions({ neverNullInRest: true })
  declare readonly token: string | null;

  @Field(() => [InputError], { description: 'All that is wrong with the values; WRONG_CREDENTIALS of both together.' })
  declare readonly errors: readonly InputIssue[];
}

/** Lengths count Unicode code points. */
const CREDENTIAL_FACTS = {
  username: { kind: 'string', blank: true },
  password: { kind: 'string', minLength: MIN_PASSWORD_LENGTH, blank: false },
} as const;

const CREDENTIAL_FIELDS = ['username', 'password'] as const;

const ARGUMENT_LIMITS: ArgumentLimits = {
  username: (name) => limitMessages(name, CREDENTIAL_FACTS.username),
  password: (password) => limitMessages(password, CREDENTIAL_FACTS.password),
};

@ObjectType({ description: 'The token of an account with a new password, or what is wrong with the values.', simpleResolvers: true })
class ChangePasswordPayload extends TokenPayload {
  @Field(() => String, {
    nullable: true,
    description: 'A new one if the password was changed, as the old one does not work any more; else null.',
  })
  declare readonly token: string | null;

  @Field(() => [InputError], { description: 'All that is wrong with the values; then the password was not changed.' })
  declare readonly errors: readonly InputIssue[];
}

@ObjectType({ description: 'A new token.', simpleResolvers: true })
class ReplaceTokenPayload {
  @Field(() => String, { description: `${TOKEN_NOTE}.` })
  declare token: string;
}

function throwWrongCredentials(error: unknown): never {
  if (error instanceof ClientError && error.extensions.code === 'UNAUTHENTICATED')
    throw new InvalidInput([{ path: [], ...validationIssue(IssueCode.WRONG_CREDENTIALS, error.message) }]);
  throw error;
}

@Resolver()
export class AuthResolver {
  @Mutation(() => LoginPayload, {
    nullable: true,
    description:
      'The token of a user. TOO_MANY_REQUESTS (with `retryAfter` in seconds) after too many tries. It may stand once in an operation.',
  })
  @Extensions({ once: true, limits: ARGUMENT_LIMITS })
  async login(
    @Arg('username', () => String, { description: 'The name, case-sensitive.' }) username: string,
    @Arg('password', () => String, { description: `At least ${MIN_PASSWORD_LENGTH} characters; blanks around it do not count.` })
    password: string,
    @Ctx() { account }: Context,
  ): Promise<object> {
    const credentials = { username, password: pythonStrip(password) };
    return runWrite<string>(LoginPayload, async () => {
      throwIfInvalid(
        CREDENTIAL_FIELDS.flatMap((name) =>
          limitIssues(credentials[name], CREDENTIAL_FACTS[name]).map((issue) => ({ path: [name], ...issue })),
        ),
      );
      return account.signIn(credentials.username, credentials.password).catch(throwWrongCredentials);
    });
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
      description: `${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters, not digits alone; blanks around it do not count.`,
    })
    newPassword: string,
    @Ctx() { account }: Context,
  ): Promise<object> {
    return runWrite<string>(ChangePasswordPayload, () => account.changePassword(pythonStrip(oldPassword), pythonStrip(newPassword)));
  }

  @Mutation(() => ReplaceTokenPayload, {
    nullable: true,
    description:
      'Makes a new token of the viewer. The old one stops working at once, with every program that uses it; browsers stay signed in. It may stand once in an operation.',
  })
  @Extensions({ once: true })
  async replaceToken(@Ctx() { account }: Context): Promise<ReplaceTokenPayload> {
    return { token: await account.replaceToken() };
  }
}
