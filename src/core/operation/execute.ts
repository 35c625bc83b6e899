/** An operation, parsed and validated once and run many times, for GraphQL and REST alike. */
import {
  createSourceEventStream,
  execute,
  getOperationAST,
  GraphQLError,
  Kind,
  locatedError,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { Caller } from '../../database/options';
import { AnswerSize } from './answersize';
import { atomically, isAtomic } from './atomic';
import type { Run } from './compiled';
import type { Context } from '../context';
import { costOf, tooCostly, type Cost, type WidthOf } from './cost';
import { KnownError, notSignedIn, ofDatabase, tooLong } from '../model/errors';
import { introspects } from './introspection';
import { IntrospectionAnswers } from './introspectioncache';
import { selected } from '../read/plan';
import { Prepared } from './prepared';
import { coerced, deepValue } from './variables';

export type Variables = Record<string, unknown>;
export interface Operation {
  (context: Context, variables?: Variables): Promise<ExecutionResult>;
}

export interface ExecutorOptions {
  /** Whether our own operations run compiled; else by graphql-js. */
  compiles?: boolean;
  maxCost?: number;
  /** Bytes of an answer. */
  maxResponse?: number;
  /** Values that an operation shows in one turn of the event loop. */
  valuesPerTurn?: number;
  widthOf?: WidthOf;
  introspection?: 'anyone' | 'users';
}

/** Bytes of rows that may be read for each byte of an answer: what is worked out of rows is shorter than they are. */
const READ_FOR_ANSWER = 2;

export class Executor {
  /** Subscriptions that run, and how many events they were told. */
  following = 0;
  toldEvents = 0;
  readonly introspection: IntrospectionAnswers;
  private readonly telling = new Map<Caller, Promise<void>>();
  private readonly compiles: boolean;
  private readonly maxCost: number;
  private readonly maxResponse: number;
  private readonly valuesPerTurn?: number;
  private readonly widthOf?: WidthOf;
  private readonly closed: boolean;

  constructor(
    readonly schema: GraphQLSchema,
    { compiles = true, maxCost = Infinity, maxResponse = Infinity, valuesPerTurn, introspection, widthOf }: ExecutorOptions = {},
  ) {
    this.closed = introspection === 'users';
    this.introspection = new IntrospectionAnswers(schema);
    this.compiles = compiles;
    this.maxCost = maxCost;
    this.maxResponse = maxResponse;
    this.valuesPerTurn = valuesPerTurn;
    this.widthOf = widthOf;
  }

  /** For operations of our own: checked now, so that a mistake shows at start, and compiled when they are asked for first. */
  prepare(text: string): Operation {
    const prepared = Prepared.of(this.schema, text);
    const { document, operation, costs } = prepared;
    const run: Run = this.compiles ? (context, values) => prepared.compiled(context, values) : this.interpreted(document);
    const name = nameOf(operation);
    return async (context, variables = {}) => {
      const read = coerced(this.schema, operation, variables, !context.viewer);
      if (read.errors) return finish({ errors: read.errors }, context);
      // What our own documents ask for is bounded by their shape and by what there is, however large the page that may be asked for.
      const price = this.capped(costs.of(read.values));
      const refused = this.refused(price, context);
      if (refused) return finish(refused, context);
      context.session.mayRead(READ_FOR_ANSWER * this.maxResponse);
      const result = await (context.trace
        ? context.trace.operation(operation.operation, name, () => run(context, read.values))
        : run(context, read.values));
      context.spending?.settle(price);
      return finish(result, context);
    };
  }

  private capped(cost: Cost): Cost {
    return cost.total > this.maxCost ? { ...cost, total: this.maxCost } : cost;
  }

  /** Reserves the cost of an operation, or says why it does not run. */
  private refused(cost: Cost, context: Context): ExecutionResult | undefined {
    if (cost.total > this.maxCost) return { errors: [tooCostly(cost, this.maxCost, this.schema)] };
    try {
      context.spending?.reserve(cost);
      return undefined;
    } catch (error) {
      if (error instanceof KnownError) return { errors: [error] };
      throw error;
    }
  }

  /** For documents that are parsed and validated. */
  async execute(
    document: DocumentNode,
    operationName: string | null | undefined,
    context: Context,
    variables: Variables,
  ): Promise<ExecutionResult> {
    const operation = getOperationAST(document, operationName);
    if (operation?.operation === 'subscription') return { errors: [notHere()] };
    return this.run(document, operation, operationName, context, variables);
  }

  /** Events as long as the subscriber wants them, or what is wrong with the operation. */
  async subscribe(
    document: DocumentNode,
    operationName: string | null | undefined,
    context: Context,
    variables: Variables,
  ): Promise<ExecutionResult | AsyncGenerator<ExecutionResult, void, void>> {
    const operation = getOperationAST(document, operationName);
    const read = operation && this.read(document, operation, variables, context);
    if (read?.errors) return finish(read, context);
    if (read) context.spending?.settle(read.cost);
    const found = await createSourceEventStream({
      schema: this.schema,
      document,
      operationName,
      contextValue: context,
      variableValues: variables,
    });
    if (!isEvents(found)) return finish(found, context);
    const source = found[Symbol.asyncIterator]();
    this.following += 1;
    let isOver = false;
    const over = () => {
      if (!isOver) this.following -= 1;
      isOver = true;
    };
    return {
      next: async () => {
        context.session.renew();
        try {
          const { done, value } = await source.next();
          if (done) {
            over();
            return { done, value: undefined };
          }
          this.toldEvents += 1;
          const event = () => this.run(document, operation, operationName, context, variables, value);
          return { done: false, value: await this.inTurn(context.session.caller, event) };
        } catch (error) {
          over();
          // The source has ended with it; what is asked for next is the end.
          const located = locatedError(error, rootFields(document, operation!)[0], [firstKey(document, operation!)]);
          return { done: false, value: finish({ data: null, errors: [located] }, context) };
        }
      },
      return: async () => {
        over();
        // Before that, because a source ends only once it has what it waits for.
        context.session.abandon();
        await source.return?.();
        return { done: true, value: undefined };
      },
      throw: (error) => Promise.reject(error),
      [Symbol.asyncIterator]() {
        return this;
      },
    } as AsyncGenerator<ExecutionResult, void, void>;
  }

  /** Events of one caller are worked out one after the other, so that many subscriptions take no more of the server at a time than one does. */
  private async inTurn<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const done = (this.telling.get(caller) ?? Promise.resolve()).then(work);
    const over = done.then(
      () => undefined,
      () => undefined,
    );
    this.telling.set(caller, over);
    try {
      return await done;
    } finally {
      if (this.telling.get(caller) === over) this.telling.delete(caller);
    }
  }

  private async run(
    document: DocumentNode,
    operation: OperationDefinitionNode | null | undefined,
    operationName: string | null | undefined,
    context: Context,
    variables: Variables,
    root?: unknown,
  ): Promise<ExecutionResult> {
    // What a subscriber is told has been paid for by subscribing: an event that is refused would be lost.
    const event = operation?.operation === 'subscription';
    const read = operation && !event ? this.read(document, operation, variables, context) : undefined;
    if (read?.errors) return finish(read, context);
    const size = (context.size = new AnswerSize(this.maxResponse, this.valuesPerTurn));
    context.loaders.made = size.made;
    context.session.mayRead(READ_FOR_ANSWER * this.maxResponse);
    const interpret = async () =>
      (operation && this.introspection.of(document, operation)) ?? this.interpreted(document, operationName, root)(context, variables);
    const run = () => (operation && isAtomic(operation) ? atomically(interpret, firstKey(document, operation), context) : interpret());
    const result = await (context.trace && operation ? context.trace.operation(operation.operation, nameOf(operation), run) : run());
    if (read) context.spending?.settle(read.cost);
    // Part of it is of no use, and may be as long as it can be.
    return finish(size.isOver ? { errors: [tooLong(this.maxResponse)] } : result, context);
  }

  /** The variables of an operation that may run; or what graphql-js would refuse, in our words and with the fields that are wrong. */
  private read(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
    context: Context,
  ): { values: Variables; cost: Cost; errors?: undefined } | { errors: readonly GraphQLError[] } {
    if (this.closed && !context.viewer && introspects(document))
      return { errors: [notSignedIn('Introspection is for those who are signed in.')] };
    const deep = deepValue(document);
    if (deep) return { errors: [deep] };
    const read = coerced(this.schema, operation, variables, !context.viewer);
    if (read.errors) return read;
    const cost = costOf(this.schema, document, operation, read.values, this.widthOf);
    const refused = this.refused(cost, context);
    return refused?.errors ? { errors: refused.errors } : { values: read.values, cost };
  }

  private interpreted(document: DocumentNode, operationName?: string | null, rootValue?: unknown) {
    return (contextValue: Context, variableValues: Variables) =>
      execute({ schema: this.schema, document, operationName, rootValue, contextValue, variableValues });
  }
}

const MAX_NAME = 200;
/** Its own, or that of its first field. */
function nameOf({ name, selectionSet }: OperationDefinitionNode): string {
  const [first] = selectionSet.selections;
  return (name?.value ?? (first?.kind === Kind.FIELD ? first.name.value : '')).slice(0, MAX_NAME);
}

const notHere = () =>
  new GraphQLError('Subscriptions run over server-sent events or a WebSocket, not as single answers.', {
    extensions: { code: 'BAD_REQUEST' },
  });

const isEvents = (source: AsyncIterable<unknown> | ExecutionResult): source is AsyncIterable<unknown> => Symbol.asyncIterator in source;

function rootFields(document: DocumentNode, operation: OperationDefinitionNode): FieldNode[] {
  const fragments = document.definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const named = Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]));
  return [...selected([operation], named).values()].flat();
}

/** The response key of the first field. */
function firstKey(document: DocumentNode, operation: OperationDefinitionNode): string {
  const [field] = rootFields(document, operation);
  return (field!.alias ?? field!.name).value;
}

/** Errors that the caller may see as they are; an unexpected one is logged with an id and shown as the id of the request. */
function finish(result: ExecutionResult, context: Context): ExecutionResult {
  if (!result.errors?.length) return result;
  const refusals = new Map<unknown, KnownError | undefined>();
  const errors = result.errors.map((error) => presentable(error, context, refusals));
  if (context.told) for (const { extensions } of errors) context.told(String(extensions.code));
  return { ...result, errors };
}

/** `refusals` are those of the same answer: what fails several fields is one thing, which is told once. */
function presentable(error: GraphQLError, { log, requestId: id }: Context, refusals: Map<unknown, KnownError | undefined>): GraphQLError {
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
  // Without a path nothing has run yet: the variables did not fit. Where graphql-js points into the document, an argument did not.
  if (!path || (cause instanceof GraphQLError && cause.nodes?.length && originalError))
    return shown(error.message, { code: 'BAD_USER_INPUT', ...error.extensions });
  if (!refusals.has(cause)) refusals.set(cause, ofDatabase(cause, log, id));
  const refused = refusals.get(cause);
  if (refused) return shown(refused.message, { ...refused.extensions });
  // What is no error of graphql-js, though its type says so, has none.
  const own = error.extensions as GraphQLError['extensions'] | undefined;
  if (own?.code) return shown(error.message, { ...own });
  log.error({ id, err: cause, path }, 'unexpected error');
  return shown(`Internal server error (id ${id}).`, { code: 'INTERNAL_SERVER_ERROR', id });
}
