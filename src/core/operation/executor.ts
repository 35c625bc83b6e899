/**
 * The GraphQL executor of both interfaces: coerces variables, charges the cost, runs operations and subscriptions, and converts errors to ones that
 * clients may see.
 */
import {
  createSourceEventStream,
  execute,
  getOperationAST,
  GraphQLError,
  locatedError,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { awaitTurn, type TurnClient } from '../../platform/fairturns';
import { ConcurrencyLimiter, type LimiterClientKey } from '../../platform/limiter';
import { Meter, type MeterLimits } from './meter';
import { runAndStoreResponse, runAtomically, isAtomic } from './atomic';
import type { CompiledOperation } from './compiled';
import type { Context, CostReservation } from '../context';
import { OperationAdmission, type AdmissionOptions } from './admission';
import { clientGoneError, deadlineError } from '../model/errors';
import { introspectionResult } from './introspectioncache';
import { PreparedOperation } from './preparedoperation';
import { firstResponseKey, operationNameOf, rootFields } from './rootfields';
import { toClientResult } from './clienterrors';
import { coerceVariables } from './variables';

export type Variables = Record<string, unknown>;
export interface OperationRunner {
  (context: Context, variables?: Variables): Promise<ExecutionResult>;
}

export interface ExecutorOptions extends AdmissionOptions, Partial<MeterLimits> {
  /** Whether the server's own operations, which implement REST and HTML pages, are compiled by graphql-jit instead of interpreted by graphql-js. */
  compileOperations?: boolean;
}

/** Maximum number of values of an answer to a client's operation: about a second of CPU time. */
export const MAX_VALUES = 1_000_000;

/**
 * The same for an answer over REST or an HTML page, whose clients cannot select fewer fields: about as many as MAX_RESPONSE_BYTES hold. Rows of five numbers are
 * the shortest, with six bytes a value and more.
 */
const MAX_INTERNAL_VALUES = 1_500_000;

/** Time after which an operation is aborted, unless it has begun to write. */
const DEADLINE_SECONDS = 60;

export class Executor {
  openSubscriptionCount = 0;
  deliveredEventCount = 0;
  /** Limits each caller to one subscription event that is executed at a time, so that many subscriptions cause no more concurrent load than one. */
  private readonly subscriptionEventLimiter = new ConcurrencyLimiter<LimiterClientKey>({
    slots: Infinity,
    slotsPerClient: 1,
  });
  private readonly admission: OperationAdmission;
  private readonly meterLimits: MeterLimits;

  constructor(
    readonly schema: GraphQLSchema,
    private readonly options: ExecutorOptions = {},
  ) {
    this.admission = new OperationAdmission(schema, options);
    this.meterLimits = { maxResponseBytes: Infinity, maxValues: MAX_VALUES, ...options };
  }

  /** Prepares an operation of the server itself, for REST or an HTML page. It is validated and compiled on first use. */
  prepareInternalOperation(text: string): OperationRunner {
    const preparedOperation = PreparedOperation.getOrCreate(this.schema, text);
    const { document, operation, costCache } = preparedOperation;
    const run: CompiledOperation =
      this.options.compileOperations === false
        ? this.createInterpretedOperation(document)
        : (context, values) => preparedOperation.compiledOperation(context, values);
    return async (context, variables = {}) => {
      const coercionResult = coerceVariables(
        this.schema,
        operation,
        variables,
        !this.permitsIntrospection(context),
      );
      if (coercionResult.errors) return toClientResult({ errors: coercionResult.errors }, context);
      // An operation of the server itself (REST, HTML pages) that costs more than the maximum is not rejected but charged with the maximum: the shape of
      // its document and the number of existing rows bound the work, whatever the page size.
      const cost = this.admission.clampToMaxCost(costCache.costForVariables(coercionResult.values));
      const { reservation, errors } = await this.admission.reserve(cost, context);
      if (errors) return toClientResult({ errors }, context);
      const limits = { ...this.meterLimits, maxValues: MAX_INTERNAL_VALUES };
      return this.runMetered(operation, context, limits, reservation, async () =>
        run(context, coercionResult.values),
      );
    };
  }

  /** Executes a query or mutation of a validated document. */
  async execute(
    document: DocumentNode,
    operationName: string | null | undefined,
    context: Context,
    variables: Variables,
  ): Promise<ExecutionResult> {
    const operation = getOperationAST(document, operationName);
    if (operation?.operation === 'subscription') return { errors: [subscriptionTransportError()] };
    return this.run(document, operation, operationName, context, variables);
  }

  /**
   * Starts a subscription of a validated document. Returns its events, or a result with errors if it cannot start. `formatResult` converts each
   * result to the form that the client receives.
   */
  async subscribe(
    document: DocumentNode,
    operationName: string | null | undefined,
    context: Context,
    variables: Variables,
    formatResult: (result: ExecutionResult) => ExecutionResult,
  ): Promise<ExecutionResult | AsyncIterableIterator<ExecutionResult>> {
    const operation = getOperationAST(document, operationName);
    const admissionResult =
      operation && (await this.admission.admit(document, operation, variables, context));
    if (admissionResult?.errors) return formatResult(toClientResult(admissionResult, context));
    admissionResult?.reservation?.settle();
    const abortController = new AbortController();
    context.subscriptionSignal = abortController.signal;
    const streamOrResult = await createSourceEventStream({
      schema: this.schema,
      document,
      operationName,
      contextValue: context,
      variableValues: variables,
    });
    if (!isEventStream(streamOrResult))
      return formatResult(toClientResult(streamOrResult, context));
    const executeForEvent = (event: unknown) =>
      this.run(document, operation, operationName, context, variables, event);
    const toFailureResult = (error: unknown) => {
      const graphqlError = locatedError(error, rootFields(document, operation!)[0], [
        firstResponseKey(document, operation!),
      ]);
      return toClientResult({ data: null, errors: [graphqlError] }, context);
    };
    return makeCancellable(
      this.deliverEvents(streamOrResult, context, {
        executeForEvent,
        toFailureResult,
        formatResult,
      }),
      () => {
        abortController.abort();
        context.session.cancelReads();
        context.meter?.abortUnlessWriting(clientGoneError());
      },
    );
  }

  /** Executes the document of a subscription for each event of its event source. If the event source fails, the last result contains the error. */
  private async *deliverEvents(
    events: AsyncIterable<unknown>,
    context: Context,
    { executeForEvent, toFailureResult, formatResult }: SubscriptionEventHandlers,
  ): AsyncGenerator<ExecutionResult, void, void> {
    const { session } = context;
    const executeInTurn = async (event: unknown) => {
      await awaitTurn(turnClientOf(context));
      return executeForEvent(event);
    };
    this.openSubscriptionCount += 1;
    try {
      session.beginSubscriptionEvent();
      for await (const event of events) {
        this.deliveredEventCount += 1;
        yield formatResult(
          await this.subscriptionEventLimiter.run(session.clientKey, () => executeInTurn(event)),
        );
        session.beginSubscriptionEvent();
      }
    } catch (error) {
      yield formatResult(toFailureResult(error));
    } finally {
      this.openSubscriptionCount -= 1;
    }
  }

  private async run(
    document: DocumentNode,
    operation: OperationDefinitionNode | null | undefined,
    operationName: string | null | undefined,
    context: Context,
    variables: Variables,
    rootValue?: unknown,
  ): Promise<ExecutionResult> {
    // The events of a subscription are charged, but never rejected: an event that was rejected for its cost would be lost.
    const isSubscriptionEvent = operation?.operation === 'subscription';
    const admissionResult =
      operation && !isSubscriptionEvent
        ? await this.admission.admit(document, operation, variables, context)
        : undefined;
    if (admissionResult?.errors) return toClientResult(admissionResult, context);
    const reservation = isSubscriptionEvent
      ? context.budget?.beginUnreserved()
      : admissionResult?.reservation;
    const runUncompiled = async () =>
      (operation && introspectionResult(this.schema, document, operation)) ??
      this.createInterpretedOperation(document, operationName, rootValue)(context, variables);
    const run = async () => {
      if (!operation) return runUncompiled();
      const storesResponse =
        context.storeIdempotentResponse && this.hasOneWritingRootField(document, operation);
      const runInTransaction = isAtomic(operation)
        ? runAtomically
        : storesResponse
          ? runAndStoreResponse
          : undefined;
      if (!runInTransaction) return runUncompiled();
      await context.services.media.validateUploads(variables);
      return runInTransaction(runUncompiled, firstResponseKey(document, operation), context);
    };
    return this.runMetered(operation, context, this.meterLimits, reservation, run);
  }

  /** Runs an operation with a meter, until it has ended or is aborted. Afterwards charges what it used. */
  private async runMetered(
    operation: OperationDefinitionNode | null | undefined,
    context: Context,
    limits: MeterLimits,
    reservation: CostReservation | undefined,
    run: () => Promise<ExecutionResult>,
  ): Promise<ExecutionResult> {
    const meter = (context.meter = new Meter(context.session, turnClientOf(context), limits));
    context.loaders.eventLoopPacer = meter;
    if (context.session.isClientGone) meter.abort(clientGoneError());
    const deadline = setTimeout(
      () => meter.abortUnlessWriting(deadlineError(DEADLINE_SECONDS)),
      DEADLINE_SECONDS * 1_000,
    );
    try {
      // A mutation is not left before it has ended, because its transaction must not end while a resolver uses it.
      const isMutation = operation?.operation === OperationTypeNode.MUTATION;
      const runToEnd = () => (isMutation ? run() : meter.runUntilAborted(run));
      const { trace } = context.request;
      const result = await (trace && operation
        ? trace.traceOperation(operation.operation, operationNameOf(operation), runToEnd)
        : runToEnd());
      // An aborted answer is replaced by an error as a whole, because a part of it would be useless and could itself be as long as the limit.
      return toClientResult(meter.abortReason ? { errors: [meter.abortReason] } : result, context);
    } catch (error) {
      if (!meter.abortReason) throw error;
      return toClientResult({ errors: [meter.abortReason] }, context);
    } finally {
      clearTimeout(deadline);
      meter.finish();
      reservation?.settle(meter.objectCount);
    }
  }

  /** Whether the client may introspect the schema. If so, error messages may also suggest names from it. */
  permitsIntrospection(context: Context): boolean {
    return this.admission.permitsIntrospection(context);
  }

  /** Performs a dry run: returns the estimated cost of an operation in `extensions` and executes nothing. */
  dryRun(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    context: Context,
    variables: Variables,
  ): ExecutionResult {
    return toClientResult(this.admission.dryRun(document, operation, variables, context), context);
  }

  /** Whether a mutation has a single root field, and this field only writes rows. */
  private hasOneWritingRootField(
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): boolean {
    const [field, ...others] = rootFields(document, operation);
    return (
      others.length === 0 &&
      this.schema.getMutationType()!.getFields()[field!.name.value]?.extensions.onlyWritesRows ===
        true
    );
  }

  private createInterpretedOperation(
    document: DocumentNode,
    operationName?: string | null,
    rootValue?: unknown,
  ) {
    return (contextValue: Context, variableValues: Variables) =>
      execute({
        schema: this.schema,
        document,
        operationName,
        rootValue,
        contextValue,
        variableValues,
      });
  }
}

const turnClientOf = ({ request, viewer }: Context): TurnClient => ({
  network: request.clientNetwork,
  userId: viewer?.id,
});

const subscriptionTransportError = () =>
  new GraphQLError('Subscriptions require server-sent events or a WebSocket.', {
    extensions: { code: 'BAD_REQUEST' },
  });

interface SubscriptionEventHandlers {
  executeForEvent(this: void, event: unknown): Promise<ExecutionResult>;
  /** Converts an error thrown by the event source of a subscription into an execution result. */
  toFailureResult(this: void, error: unknown): ExecutionResult;
  formatResult(this: void, result: ExecutionResult): ExecutionResult;
}

const isEventStream = (
  streamOrResult: AsyncIterable<unknown> | ExecutionResult,
): streamOrResult is AsyncIterable<unknown> => Symbol.asyncIterator in streamOrResult;

/**
 * Wraps an async generator so that it can be ended while a call of `next()` waits. `cancel` must end this wait, because the `return()` of the generator
 * itself is queued behind the pending `next()` (https://tc39.es/ecma262/#sec-asyncgenerator-prototype-return).
 */
function makeCancellable<T>(
  generator: AsyncGenerator<T, void, void>,
  cancel: () => void,
): AsyncIterableIterator<T> {
  const end = () => {
    cancel();
    return generator.return();
  };
  return {
    next: () => generator.next(),
    return: end,
    throw: async (error) => {
      await end();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
