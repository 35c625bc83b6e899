/**
 * GraphQL mutations for sign-in, password change and API key replacement. The REST login runs the
 * mutation `login`.
 */
import { Arg, Ctx, Field, Mutation, ObjectType, Resolver } from 'type-graphql';
import { FieldExtensions, ListSize } from '../engine/declare/field-extensions';
import type { Context } from '../engine/context';
import {
  InvalidInput,
  ClientError,
  throwIfInvalid,
  validationIssue,
  IssueCode,
  type InputIssue,
} from '../engine/declare/errors';
import { findLimitViolations, limitViolationMessages } from '../engine/declare/field-validation';
import { runPayloadWrite, InputError, TYPICAL_ISSUE_COUNT } from '../engine/schema/payload';
import type { ArgumentValidators } from '../shared/metadata';
import { pythonStrip } from '../rest/drf/python-scalars';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from './accounts';

const TOKEN_NOTE = 'For the header `Authorization: Token <token>`';

@ObjectType({
  description: 'The token of the user, or the errors in the credentials.',
  simpleResolvers: true,
})
class LoginPayload {
  @Field(() => String, {
    nullable: true,
    description: `${TOKEN_NOTE}. It stays the same until it is replaced or the password changes.`,
  })
  @FieldExtensions({ neverNullInRest: true })
  declare readonly token: string | null;

  @ListSize(TYPICAL_ISSUE_COUNT)
  @Field(() => [InputError], {
    description: 'All errors in the input; WRONG_CREDENTIALS if the name or the password is wrong.',
  })
  declare readonly errors: readonly InputIssue[];
}

/** Limits on user names and passwords of sign-ins. A password that is too short is just wrong. */
const CREDENTIAL_LIMITS = { kind: 'string', allowBlank: true } as const;

/** Limits on passwords in REST, in Unicode code points. */
const REST_PASSWORD_LIMITS = {
  kind: 'string',
  minLength: MIN_PASSWORD_LENGTH,
  allowBlank: false,
} as const;

const ARGUMENT_VALIDATORS: ArgumentValidators = {
  username: (name) => limitViolationMessages(name, CREDENTIAL_LIMITS),
  password: (password) => limitViolationMessages(password, REST_PASSWORD_LIMITS),
};

@ObjectType({
  description: 'The new token after a change of the password, or the errors in the input.',
  simpleResolvers: true,
})
class ChangePasswordPayload {
  @Field(() => String, {
    nullable: true,
    description: 'The new token, which replaces the old one; null if the password was not changed.',
  })
  declare readonly token: string | null;

  @ListSize(TYPICAL_ISSUE_COUNT)
  @Field(() => [InputError], {
    description: 'All errors in the input. If there are any, the password was not changed.',
  })
  declare readonly errors: readonly InputIssue[];
}

@ObjectType({ description: 'The new token.', simpleResolvers: true })
class ReplaceTokenPayload {
  @Field(() => String, { description: `${TOKEN_NOTE}.` })
  declare token: string;
}

function rethrowAsInvalidInput(error: unknown): never {
  if (error instanceof ClientError && error.extensions.code === 'UNAUTHENTICATED') {
    throw new InvalidInput([
      { path: [], ...validationIssue(IssueCode.WRONG_CREDENTIALS, error.message) },
    ]);
  }

  throw error;
}

@Resolver()
export class AuthResolver {
  @Mutation(() => LoginPayload, {
    nullable: true,
    description:
      'Returns the token of a user. Rejected with TOO_MANY_REQUESTS (with `retryAfter` in seconds) after too many attempts. At most once per operation.',
  })
  @FieldExtensions({ oncePerOperation: true, argumentValidators: ARGUMENT_VALIDATORS })
  async login(
    @Arg('username', () => String, { description: 'The user name, case-sensitive.' })
    username: string,
    @Arg('password', () => String, {
      description: 'Leading and trailing whitespace is ignored.',
    })
    password: string,
    @Ctx() { account }: Context,
  ): Promise<object> {
    const credentials = { username, password: pythonStrip(password) };

    return runPayloadWrite(async () => {
      throwIfInvalid(
        Object.entries(credentials).flatMap(([name, value]) =>
          findLimitViolations(value, CREDENTIAL_LIMITS).map((issue) => ({
            path: [name],
            ...issue,
          })),
        ),
      );

      const token = await account
        .signIn(credentials.username, credentials.password)
        .catch(rethrowAsInvalidInput);

      return { token };
    });
  }

  @Mutation(() => ChangePasswordPayload, {
    nullable: true,
    description:
      'Changes the password of the viewer. All other browsers are signed out, and the token is replaced by the returned `token`. Rejected with TOO_MANY_REQUESTS (with `retryAfter` in seconds) after too many attempts. At most once per operation.',
  })
  @FieldExtensions({ oncePerOperation: true })
  changePassword(
    @Arg('oldPassword', () => String, {
      description: 'The current password; leading and trailing whitespace is ignored.',
    })
    oldPassword: string,
    @Arg('newPassword', () => String, {
      description: `${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters, not only digits; leading and trailing whitespace is ignored.`,
    })
    newPassword: string,
    @Ctx() { account }: Context,
  ): Promise<object> {
    return runPayloadWrite(async () => ({
      token: await account.changePassword(pythonStrip(oldPassword), pythonStrip(newPassword)),
    }));
  }

  @Mutation(() => ReplaceTokenPayload, {
    nullable: true,
    description:
      'Replaces the token of the viewer. The old token is revoked immediately; browsers stay signed in. At most once per operation.',
  })
  @FieldExtensions({ oncePerOperation: true })
  async replaceToken(@Ctx() { account }: Context): Promise<ReplaceTokenPayload> {
    return { token: (await account.replaceApiKey())! };
  }
}
