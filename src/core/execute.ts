/** An operation, parsed, validated and compiled once and run many times, for GraphQL and REST alike. */
import { compileQuery, isCompiledQuery, type CompilerOptions } from 'graphql-jit';
import {
  createSourceEventStream,
  getOperationAST,
  GraphQLError,
  locatedError,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import { randomUUID } from 'node:crypto';
import { isTimeout } from '../database/connection';
import type { Context } from './context';
import { KnownError } from './errors';
import { coerced, deepValue, objectVariables, plain, taking, variableErrors } from './variables';

export type Variables = Record<string, unknown>;
export interface Operation {
  (context: Context, variables?: Variables): Promise<ExecutionResult>;
}

/** Answers errors without a path where the variables do not fit. */
type Run = (context: Context, variables: Variables, root?: unknown) => Promise<ExecutionResult> | ExecutionResult;

export class Executor {
  private readonly compiled = new WeakMap<DocumentNode, Map<string, Run>>();

  constructor(readonly schema: GraphQLSchema) {}

  /** For operations of our own: compiled now, so that a mistake shows at start. ids come out as numbers, as REST shows them. */
  prepare(text: string): Operation {
    const document = parse(text);
    const errors = validate(this.schema, document);
    if (errors.length) throw new Error(`${errors.join('\n')}\n${text}`);
    const run = this.compile(document, undefined, { customSerializers: { ID: Number } });
    if (typeof run !== 'function') throw new Error(`${JSON.stringify(run)}\n${text}`);
    return async (context, variables = {}) => finish(await run(context, variables), context);
  }

  /** For documents that are parsed and validated. */
  async execute(
    document: DocumentNode,
    operationName: string | undefined,
    context: Context,
    variables: Variables,
  ): Promise<ExecutionResult> {
    if (getOperationAST(document, operationName)?.operation === 'subscription') return { errors: [notHere()] };
    return this.run(document, operationName, context, variables);
  }

  /** Events as long as the subscriber wants them, or what is wrong with the operation. */
  async subscribe(
    document: DocumentNode,
    operationName: string | undefined,
    context: Context,
    variables: Variables,
  ): Promise<ExecutionResult | AsyncGenerator<ExecutionResult, void, void>> {
    const read = coerced(this.schema, objectVariables(this.schema, document, operationName), variables);
    if (read.errors) return this.finished({ errors: read.errors }, document, operationName, context, variables);
    const found = await createSourceEventStream({
      schema: this.schema,
      document,
      operationName,
      contextValue: context,
      variableValues: variables,
    });
    if (!isEvents(found)) return this.finished(found, document, operationName, context, variables);
    const source = found[Symbol.asyncIterator]();
    return {
      next: async () => {
        try {
          const { done, value } = await source.next();
          if (done) return { done, value: undefined };
          return { done: false, value: await this.run(document, operationName, context, variables, value) };
        } catch (error) {
          // The source has ended with it; what is asked for next is the end.
          return { done: false, value: { errors: [presentable(locatedError(error, undefined, []), context)] } };
        }
      },
      return: async () => {
        await source.return?.();
        return { done: true, value: undefined };
      },
      throw: (error) => Promise.reject(error),
      [Symbol.asyncIterator]() {
        return this;
      },
    } as AsyncGenerator<ExecutionResult, void, void>;
  }

  private async run(
    document: DocumentNode,
    operationName: string | undefined,
    context: Context,
    variables: Variables,
    root?: unknown,
  ): Promise<ExecutionResult> {
    let operations = this.compiled.get(document);
    if (!operations) this.compiled.set(document, (operations = new Map()));
    const key = operationName ?? '';
    let run = operations.get(key);
    if (!run) {
      const made = this.compile(document, operationName);
      // Not kept: there is no end to the names that no operation has.
      if (typeof made !== 'function') return made;
      operations.set(key, (run = made));
    }
    return this.finished(await run(context, variables, root), document, operationName, context, variables);
  }

  private finished(
    result: ExecutionResult,
    document: DocumentNode,
    operationName: string | undefined,
    context: Context,
    variables: Variables,
  ): ExecutionResult {
    // Without a path nothing has run: the variables did not fit, and graphql-jit does not say where.
    if (result.errors?.some((error) => !error.path)) {
      const errors = variableErrors(this.schema, document, operationName, variables);
      if (errors.length) return { errors };
    }
    return finish(result, context);
  }

  private compile(
    document: DocumentNode,
    operationName: string | undefined,
    options: Partial<CompilerOptions> = {},
  ): Run | ExecutionResult {
    const deep = deepValue(document);
    if (deep) return { errors: [deep] };
    const compiled = compileQuery(taking(this.schema), plain(document, this.schema), operationName, {
      disablingCapturingStackErrors: true,
      ...options,
    });
    if (!isCompiledQuery(compiled)) return compiled;
    const objects = objectVariables(this.schema, document, operationName);
    return (context, variables, root) => {
      const read = coerced(this.schema, objects, variables);
      return read.errors ? { errors: read.errors } : compiled.query(root, context, read.values);
    };
  }
}

const notHere = () =>
  new GraphQLError('Subscriptions run over server-sent events or a WebSocket, not as single answers.', {
    extensions: { code: 'BAD_REQUEST' },
  });

const isEvents = (source: AsyncIterable<unknown> | ExecutionResult): source is AsyncIterable<unknown> => Symbol.asyncIterator in source;

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
  if (isTimeout(cause)) return shown('This takes too long. Ask for less at a time, or by simpler conditions.', { code: 'TIMEOUT' });
  if (error.extensions?.code) return shown(error.message, { ...error.extensions });
  const id = randomUUID();
  log.error({ err: cause, errorId: id, path }, 'unexpected error');
  return shown(`Internal server error (id ${id}).`, { code: 'INTERNAL_SERVER_ERROR', id });
}
