/**
 * `@atomic`: all root fields of a mutation are one transaction. Each of them runs in a savepoint of its own, so that its payload can tell what is wrong;
 * after the first one that fails no further one is carried out, and nothing of the operation is kept.
 */
import {
  DirectiveLocation,
  GraphQLDirective,
  locatedError,
  type ExecutionResult,
  type GraphQLFieldConfig,
  type OperationDefinitionNode,
} from 'graphql';
import type { Context } from '../context';
import { badOperation, KnownError } from '../model/errors';

export const ATOMIC = new GraphQLDirective({
  name: 'atomic',
  description:
    'All fields of the mutation are one transaction: if one of them has `errors` or fails, nothing is written and the others are null with ROLLED_BACK. For mutations of rows; those of accounts are not part of one.',
  locations: [DirectiveLocation.MUTATION],
});

export const isAtomic = ({ directives = [] }: OperationDefinitionNode): boolean =>
  directives.some(({ name }) => name.value === ATOMIC.name);

/** Of the operation that runs. */
export interface Atomic {
  /** The response key of the root field that failed. */
  failed?: string;
}

const rolledBack = () => new KnownError('ROLLED_BACK', 'Nothing was written, because another field of the same @atomic operation failed.');

type Config = GraphQLFieldConfig<unknown, Context>;

/** A root field of Mutation that may be a part of an atomic operation, if it only writes rows. */
export function asPart(config: Config): Config {
  const { resolve, extensions } = config;
  return {
    ...config,
    resolve: async (source, args, context, info) => {
      const { atomic } = context;
      if (!atomic) return resolve!(source, args, context, info);
      if (atomic.failed !== undefined) throw rolledBack();
      try {
        if (!extensions?.writesRows) throw badOperation(`${info.fieldName} cannot be part of an @atomic operation.`);
        const payload = (await resolve!(source, args, context, info)) as { errors: readonly unknown[] };
        if (payload.errors.length) atomic.failed = String(info.path.key);
        return payload;
      } catch (error) {
        atomic.failed = String(info.path.key);
        throw error;
      }
    },
  };
}

/** Runs the operation in one transaction. `first` is the response key of its first field, which is blamed where the transaction itself fails. */
export async function atomically(run: () => Promise<ExecutionResult>, first: string, context: Context): Promise<ExecutionResult> {
  const atomic: Atomic = (context.atomic = {});
  try {
    return await context.session.atomically(async () => {
      const result = await run();
      const isKept = atomic.failed === undefined && !result.errors?.length;
      return { isKept, result: isKept ? result : withoutOthers(result, atomic.failed) };
    });
  } catch (error) {
    return { data: null, errors: [locatedError(error, undefined, [first])] };
  } finally {
    context.atomic = undefined;
  }
}

/** The payload of the field that failed says why; what others say was not kept. */
function withoutOthers({ data, errors = [] }: ExecutionResult, failed: string | undefined): ExecutionResult {
  const others = Object.keys(data ?? {}).filter((key) => key !== failed && data![key] !== null);
  return {
    data: data && { ...data, ...Object.fromEntries(others.map((key) => [key, null])) },
    errors: [...errors, ...others.map((key) => locatedError(rolledBack(), undefined, [key]))],
  };
}
