/**
 * The GraphQL directive `@atomic`: all root fields of a mutation run in one transaction, each in
 * its own savepoint, so that the payload of a failed field can still report its errors. After a
 * failure, no further field runs and the transaction is rolled back.
 */
import {
  DirectiveLocation,
  GraphQLDirective,
  locatedError,
  type ExecutionResult,
  type GraphQLFieldConfig,
  type OperationDefinitionNode,
} from 'graphql';
import type { AtomicState, Context } from '../context';
import { ClientError } from '../declare/errors';

export const ATOMIC_DIRECTIVE = new GraphQLDirective({
  name: 'atomic',
  description:
    'Runs all fields of the mutation in one transaction. If one of them has `errors` or fails, nothing is written, and the others are null with ROLLED_BACK. Only for mutations of rows, not of accounts.',
  locations: [DirectiveLocation.MUTATION],
});

export const isAtomic = ({ directives = [] }: OperationDefinitionNode): boolean =>
  directives.some(({ name }) => name.value === ATOMIC_DIRECTIVE.name);

const rolledBackError = () =>
  new ClientError(
    'ROLLED_BACK',
    'Nothing was written, because another field of the same @atomic operation failed.',
  );

type MutationFieldConfig = GraphQLFieldConfig<unknown, Context>;

/**
 * Wraps the resolver of a root field of Mutation. An `@atomic` operation rejects the field if an
 * earlier field has failed, or if the field does more than write rows.
 */
export function withAtomicSupport(config: MutationFieldConfig): MutationFieldConfig {
  const { resolve, extensions } = config;

  return {
    ...config,
    resolve: async (source, args, context, info) => {
      const { atomicState } = context;

      if (!atomicState) return resolve!(source, args, context, info);
      if (atomicState.failedResponseKey !== undefined) throw rolledBackError();

      try {
        if (!extensions?.onlyWritesRows) {
          throw new ClientError(
            'BAD_REQUEST',
            `${info.fieldName} cannot be part of an @atomic operation.`,
          );
        }

        const payload = (await resolve!(source, args, context, info)) as {
          errors: readonly unknown[];
        };

        if (payload.errors.length) atomicState.failedResponseKey = String(info.path.key);

        return payload;
      } catch (error) {
        atomicState.failedResponseKey = String(info.path.key);
        throw error;
      }
    },
  };
}

/**
 * Runs an `@atomic` operation in one transaction. Errors of the transaction itself are reported at
 * `firstResponseKey`.
 */
export async function runAtomically(
  run: () => Promise<ExecutionResult>,
  firstResponseKey: string,
  context: Context,
): Promise<ExecutionResult> {
  const atomicState: AtomicState = (context.atomicState = {});

  try {
    return await context.session.atomically(async () => {
      const result = await run();
      const shouldCommit = atomicState.failedResponseKey === undefined && !result.errors?.length;

      if (shouldCommit) await context.storeIdempotentResponse?.(result);

      return {
        shouldCommit,
        result: shouldCommit ? result : discardOtherPayloads(result, atomicState.failedResponseKey),
      };
    });
  } catch (error) {
    return { data: null, errors: [locatedError(error, undefined, [firstResponseKey])] };
  } finally {
    context.atomicState = undefined;
  }
}

/**
 * Runs a mutation with an Idempotency-Key and a single root field in one transaction, which also
 * stores a response without errors. The write is committed even if a field of the payload fails.
 */
export async function runAndStoreResponse(
  run: () => Promise<ExecutionResult>,
  firstResponseKey: string,
  context: Context,
): Promise<ExecutionResult> {
  let result: ExecutionResult = {};

  try {
    return await context.session.atomically(async () => {
      result = await run();
      // Commits only if the root field has a value. A skipped field (@skip, @include) has none.
      const shouldCommit = result.data?.[firstResponseKey] != null;

      if (shouldCommit && !result.errors?.length) await context.storeIdempotentResponse!(result);

      return { shouldCommit, result };
    });
  } catch (error) {
    // A statement or COMMIT failed, so nothing was written. If a field failed, its errors include
    // the cause.
    if (result.errors?.length) return { data: null, errors: result.errors };

    return { data: null, errors: [locatedError(error, undefined, [firstResponseKey])] };
  }
}

/**
 * Keeps the payload of the failed field, which explains the failure of an `@atomic` operation. The
 * other payloads become null with the error ROLLED_BACK, because their writes have been rolled
 * back.
 */
function discardOtherPayloads(
  { data, errors = [] }: ExecutionResult,
  failedResponseKey: string | undefined,
): ExecutionResult {
  const otherResponseKeys = Object.keys(data ?? {}).filter(
    (key) => key !== failedResponseKey && data![key] !== null,
  );

  return {
    data: data && { ...data, ...Object.fromEntries(otherResponseKeys.map((key) => [key, null])) },
    errors: [
      ...errors,
      ...otherResponseKeys.map((key) => locatedError(rolledBackError(), undefined, [key])),
    ],
  };
}
