/**
 * The GraphQL executor of both APIs: coerces variables, charges the cost, runs operations and
 * subscriptions, and translates errors for clients.
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
import { awaitTurn, type TurnClient } from '../../shared/fair-turns';
import { ConcurrencyLimiter, type LimiterClientKey } from '../../shared/limiter';
import { Meter, type MeterLimits } from './meter';
import { runAndStoreResponse, runAtomically, isAtomic } from './atomic';
import type { CompiledOperation } from './compiled';
import type { Context, CostReservation } from '../context';
import { OperationAdmission, type AdmissionOptions } from './admission';
import { clientGoneError, deadlineError } from '../declare/errors';
import { takeSnapshot } from '../changes/catalogue-cache';
import { introspectionResult } from './introspection-cache';
import { PreparedOperation } from './prepared-operation';
import { firstResponseKey, operationNameOf, rootFields } from './root-fields';
import { toClientResult } from './client-errors';
import { coerceVariables } from './variables';

export type Variables = Record<string, unknown>;
export interface OperationRunner {
  (context: Context, variables?: Variables): Promise<ExecutionResult>;
}

export interface ExecutorOptions extends AdmissionOptions, Partial<MeterLimits> {
  /**
   * Compiles the server's own operations (REST, HTML pages) with graphql-jit instead of
   * interpreting them with graphql-js.
   */
  compileOperations?: boolean;
}

/** Maximum number of values in the response to a client's operation: about a second of CPU time. */
const MAX_RESPONSE_VALUES = 1_000_000;

/**
 * Maximum number of values in a REST response or HTML page, whose clients cannot select fewer
 * fields. About as many values fit in MAX_RESPONSE_BYTES, because a value takes at least six bytes
 * (rows of five numbers).
 */
const MAX_INTERNAL_RESPONSE_VALUES = 1_500_000;

/** Operations that have not begun to write are aborted after this time. */
const DEADLINE_SECONDS = 60;

export class Executor {
  openSubscriptionCount = 0;
  deliveredEventCount = 0;

  /**
   * Executes one subscription event of each client at a time, so that many subscriptions cause no
   * more concurrent load than one.
   */
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
    this.meterLimits = { maxResponseBytes: Infinity, maxValues: MAX_RESPONSE_VALUES, ...options };
  }

  /**
   * Prepares an operation of the server itself (REST, HTML pages), which is validated and compiled
   * on first use.
   */
  prepareInternalOperation(text: string): OperationRunner {
    const preparedOperation = PreparedOperation.getOrCreate(this.schema, text);
    const { document, operation, costCache } = preparedOperation;
    const runCompiled: CompiledOperation = (context, values) =>
      preparedOperation.compiledOperation(context, values);
    const isInterpreted = this.options.compileOperations === false;
    const runPrepared = isInterpreted ? this.createInterpretedOperation(document) : runCompiled;

    return async (context, variables = {}) => {
      const coercionResult = coerceVariables(
        this.schema,
        operation,
        variables,
        !this.permitsIntrospection(context),
      );

      if (coercionResult.errors) return toClientResult({ errors: coercionResult.errors }, context);
      // An expensive operation of the server itself (REST, HTML pages) is not rejected, but charged
      // the maximum cost. Its fixed document and the number of existing rows bound the work,
      // whatever the page size.
      const cost = this.admission.clampToMaxCost(costCache.costForVariables(coercionResult.values));
      const { reservation, errors } = await this.admission.reserve(cost, context);

      if (errors) return toClientResult({ errors }, context);
      const limits = { ...this.meterLimits, maxValues: MAX_INTERNAL_RESPONSE_VALUES };

      return this.runMetered(operation, context, limits, reservation, async () =>
        runPrepared(context, coercionResult.values),
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

    return this.runClientOperation(document, operation, operationName, context, variables);
  }

  /**
   * Starts a subscription of a validated document. Yields its events, or a result with errors if it
   * cannot start. `formatResult` converts each result for the client.
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

    if (!isEventStream(streamOrResult)) {
      return formatResult(toClientResult(streamOrResult, context));
    }

    const executeForEvent = (event: unknown) =>
      this.runClientOperation(document, operation, operationName, context, variables, event);

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

  /**
   * Executes the document of a subscription for each event. If the event source fails, the last
   * result contains the error.
   */
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

  /** Admits and runs a query, a mutation, or a subscription for one event (`rootValue`). */
  private async runClientOperation(
    document: DocumentNode,
    operation: OperationDefinitionNode | null | undefined,
    operationName: string | null | undefined,
    context: Context,
    variables: Variables,
    rootValue?: unknown,
  ): Promise<ExecutionResult> {
    // Subscription events are charged but never rejected, because a rejected event would be lost.
    const isSubscriptionEvent = operation?.operation === 'subscription';
    let reservation: CostReservation | undefined;

    if (isSubscriptionEvent) reservation = context.budget?.beginUnreserved();
    else if (operation) {
      const admissionResult = await this.admission.admit(document, operation, variables, context);

      if (admissionResult.errors) return toClientResult(admissionResult, context);
      reservation = admissionResult.reservation;
    }

    const runUncompiled = async () =>
      (operation && introspectionResult(this.schema, document, operation)) ??
      this.createInterpretedOperation(document, operationName, rootValue)(context, variables);

    const runOperation = async () => {
      if (!operation) return runUncompiled();

      if (this.describesReadState(document, operation)) {
        context.initialSnapshot = await takeSnapshot(context);
      }

      const storesResponse =
        context.storeIdempotentResponse && this.hasOneWritingRootField(document, operation);

      if (!isAtomic(operation) && !storesResponse) return runUncompiled();
      const runInTransaction = isAtomic(operation) ? runAtomically : runAndStoreResponse;

      await context.services.media.validateUploads(variables);
      return runInTransaction(runUncompiled, firstResponseKey(document, operation), context);
    };

    return this.runMetered(operation, context, this.meterLimits, reservation, runOperation);
  }

  /** Runs an operation with a meter until it ends or is aborted, and charges the cost it used. */
  private async runMetered(
    operation: OperationDefinitionNode | null | undefined,
    context: Context,
    limits: MeterLimits,
    reservation: CostReservation | undefined,
    run: () => Promise<ExecutionResult>,
  ): Promise<ExecutionResult> {
    const meter = (context.meter = new Meter(context.session, turnClientOf(context), limits));

    context.loaders.eventLoopPacer = meter;
    if (context.session.hasClientDisconnected) meter.abort(clientGoneError());
    const deadline = setTimeout(
      () => meter.abortUnlessWriting(deadlineError(DEADLINE_SECONDS)),
      DEADLINE_SECONDS * 1_000,
    );

    try {
      // An aborted mutation still runs to its end, because its transaction must not end while a
      // resolver uses it.
      const isMutation = operation?.operation === OperationTypeNode.MUTATION;
      const runToEnd = () => (isMutation ? run() : meter.runUntilAborted(run));
      const { trace } = context.request;

      const runTraced = () => {
        if (!trace || !operation) return runToEnd();

        return trace.traceOperation(operation.operation, operationNameOf(operation), runToEnd);
      };

      const result = await runTraced();

      // An error replaces the whole aborted response, because a part of it would be useless and
      // could itself be as long as the limit.
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

  /**
   * Whether the client may introspect the schema. Error messages may then suggest names from it.
   */
  permitsIntrospection(context: Context): boolean {
    return this.admission.permitsIntrospection(context);
  }

  /** Reports the estimated cost of an operation in `extensions` without executing it. */
  dryRun(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    context: Context,
    variables: Variables,
  ): ExecutionResult {
    return toClientResult(this.admission.dryRun(document, operation, variables, context), context);
  }

  /** Whether a query has a root field that describes the state which the other ones read. */
  private describesReadState(document: DocumentNode, operation: OperationDefinitionNode): boolean {
    if (operation.operation !== OperationTypeNode.QUERY) return false;
    const queryFields = this.schema.getQueryType()!.getFields();
    const fields = rootFields(document, operation);

    return (
      fields.length > 1 &&
      fields.some(({ name }) => queryFields[name.value]?.extensions.describesReadState)
    );
  }

  /** Whether a mutation has a single root field, which only writes rows. */
  private hasOneWritingRootField(
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): boolean {
    const [field, ...others] = rootFields(document, operation);

    if (others.length) return false;
    const definition = this.schema.getMutationType()!.getFields()[field!.name.value];

    return definition?.extensions.onlyWritesRows === true;
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

  /** Converts an error of the event source into an execution result. */
  toFailureResult(this: void, error: unknown): ExecutionResult;
  formatResult(this: void, result: ExecutionResult): ExecutionResult;
}

const isEventStream = (
  streamOrResult: AsyncIterable<unknown> | ExecutionResult,
): streamOrResult is AsyncIterable<unknown> => Symbol.asyncIterator in streamOrResult;

/**
 * Wraps an async generator so that it can be ended while `next()` waits. `cancel` must end this
 * wait, because the generator's own `return()` is queued behind the pending `next()`
 * (https://tc39.es/ecma262/#sec-asyncgenerator-prototype-return).
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
