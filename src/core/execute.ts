/** An operation, parsed, validated and compiled once and run many times, for GraphQL and REST alike. */
import { compileQuery, isCompiledQuery, type CompiledQuery } from 'graphql-jit';
import { GraphQLError, parse, validate, type DocumentNode, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { randomUUID } from 'node:crypto';
import type { Context } from './context';
import { KnownError } from './errors';
import { variableErrors } from './variables';

export type Variables = Record<string, unknown>;
export interface Operation {
  (context: Context, variables?: Variables): Promise<ExecutionResult>;
}

export class Executor {
  private readonly compiled = new WeakMap<DocumentNode, Map<string, CompiledQuery | ExecutionResult>>();

  constructor(readonly schema: GraphQLSchema) {}

  /** For operations of our own: compiled now, so that a mistake shows at start. ids come out as numbers, as REST shows them. */
  prepare(text: string): Operation {
    const document = parse(text);
    const errors = validate(this.schema, document);
    if (errors.length) throw new Error(`${errors.join('\n')}\n${text}`);
    const compiled = compileQuery(this.schema, document, undefined, {
      customSerializers: { ID: Number },
      disablingCapturingStackErrors: true,
    });
    if (!isCompiledQuery(compiled)) throw new Error(`${JSON.stringify(compiled)}\n${text}`);
    return async (context, variables = {}) => finish(await compiled.query(undefined, context, variables), context);
  }

  /** For documents that Apollo has parsed and validated. */
  async execute(
    document: DocumentNode,
    operationName: string | undefined,
    context: Context,
    variables: Variables,
  ): Promise<ExecutionResult> {
    let operations = this.compiled.get(document);
    if (!operations) this.compiled.set(document, (operations = new Map()));
    const key = operationName ?? '';
    let compiled = operations.get(key);
    if (!compiled) {
      compiled = compileQuery(this.schema, document, operationName, { disablingCapturingStackErrors: true });
      operations.set(key, compiled);
    }
    if (!isCompiledQuery(compiled)) return compiled;
    const result = await compiled.query(undefined, context, variables);
    // Without a path nothing has run: the variables did not fit, and graphql-jit does not say where.
    if (result.errors?.some((error) => !error.path)) {
      const errors = variableErrors(this.schema, document, operationName, variables);
      if (errors.length) return { errors };
    }
    return finish(result, context);
  }
}

/** Errors that the caller may see as they are; an unexpected one is logged with an id and shown as that id. */
function finish(result: ExecutionResult, context: Context): ExecutionResult {
  if (!result.errors?.length) return result;
  return { ...result, errors: result.errors.map((error) => presentable(error, context)) };
}

function presentable(error: GraphQLError, { log }: Context): GraphQLError {
  const { originalError, path, locations } = error;
  const shown = (message: string, extensions: Record<string, unknown>) =>
    new GraphQLError(message, {
      path,
      nodes: error.nodes,
      extensions,
      ...(locations && { positions: error.positions, source: error.source }),
    });
  const cause = originalError ?? error;
  if (cause instanceof KnownError) return shown(cause.message, { ...cause.extensions });
  // Without a path nothing has run yet: the variables did not fit.
  if (!path) return shown(error.message, { code: 'BAD_USER_INPUT', ...error.extensions });
  if (error.extensions?.code) return shown(error.message, { ...error.extensions });
  const id = randomUUID();
  log.error({ err: cause, errorId: id, path }, 'unexpected error');
  return shown(`Internal server error (id ${id}).`, { code: 'INTERNAL_SERVER_ERROR', id });
}
