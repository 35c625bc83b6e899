/** Apollo Server with the executor and the response policy of Fitgraph. */
import {
  ApolloServer,
  type ApolloServerOptions,
  HeaderMap,
  type ApolloServerPlugin,
  type BaseContext,
  type GraphQLRequest,
  type GraphQLRequestContext,
} from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { randomUUID } from 'node:crypto';
import { GraphQLError, type FormattedExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import { toClientError, ClientError, resultTooLargeError } from '../engine/declare/errors';
import type { Executor } from '../engine/execution/executor';
import type { Config } from '../shared/config';
import { documentLimitsRule, MAX_TOKENS, VALIDATION_OPTIONS } from './document-limits';
import { HTTP_STATUS_BY_ERROR_CODE, TEMPORARY_ERROR_CODES } from '../shared/error-codes';
import { DRY_RUN_HEADER } from '../shared/messages';
import { cachedIntrospectionJson } from '../engine/execution/introspection-cache';
import { matchesIfNoneMatch } from '../rest/preconditions';
import { publicCacheHeaders } from '../rest/response';
import { stringifyIncrementally } from '../shared/incremental-json-writer';
import type { ClaimResult } from '../request/idempotency';
import type { RequestContext } from '../request/request-context';
import { dryRunResponse, isDryRun } from './dry-run';
import { limitFormattedErrors } from './error-limits';
import { publicOperationTest } from './public-results';
import {
  hasTemporaryErrorCode,
  JSON_MEDIA_TYPE,
  negotiateMediaType,
  headersWithRetryAfter,
} from './http-errors';

/**
 * Context of an operation in Apollo. Apollo copies this object for each operation, but all copies
 * refer to the same context of the HTTP request.
 */
export interface ApolloContext {
  requestContext: RequestContext;
}

/** Error codes of well-formed requests whose operation is rejected before it runs. */
const REJECTED_OPERATION_CODES = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
];

/**
 * Error codes of responses that are not stored under an Idempotency-Key, because a retry may
 * succeed.
 */
const RETRYABLE_CODES = [
  'INTERNAL_SERVER_ERROR',
  'TOO_MANY_REQUESTS',
  'RATE_LIMITED',
  'CLIENT_GONE',
  ...TEMPORARY_ERROR_CODES,
];

type ResponseHead = GraphQLRequestContext<BaseContext>['response']['http'];

const isDryRunRequest = ({ extensions, http }: GraphQLRequest): boolean =>
  isDryRun(extensions, http?.headers.get(DRY_RUN_HEADER));

/**
 * Apollo plugin for the HTTP response of a GraphQL operation: charges its cost, applies the
 * Idempotency-Key, sets status and headers, and serializes the result. The steps of
 * `willSendResponse` must run in this order.
 */
const graphqlResponsePlugin = (
  executor: Executor,
  maxResponseBytes: number,
  isPublicOperation = publicOperationTest(executor.schema),
): ApolloServerPlugin<ApolloContext> => ({
  requestDidStart: async ({ request, contextValue: { requestContext } }) => {
    // An empty operation name counts as absent.
    // (https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters)
    request.operationName ||= undefined;
    let claimResult: ClaimResult | undefined;

    // Parsing and validation are charged even for invalid documents.
    const awaitTurnAndChargeDuration = async () => {
      await requestContext.awaitTurn();
      const startedAt = performance.now();

      return async () => requestContext.budget?.chargeMilliseconds(performance.now() - startedAt);
    };

    return {
      parsingDidStart: awaitTurnAndChargeDuration,
      validationDidStart: awaitTurnAndChargeDuration,
      async didResolveOperation({ operation, source }) {
        if (operation?.operation !== 'mutation' || isDryRunRequest(request)) return;
        claimResult = await claimIdempotencyKey(requestContext, [
          source,
          request.operationName ?? null,
          request.variables ?? {},
        ]);
        if (!claimResult || 'storedResponse' in claimResult) return;
        const { claim } = claimResult;

        requestContext.storeIdempotentResponse = async (result) => {
          if (!requestContext.meter?.abortReason) {
            await claim.storeResponseInTransaction({ status: 200, body: result });
          }
        };
      },
      async responseForOperation(operationContext) {
        if (isDryRunRequest(request)) {
          await requestContext.awaitTurn();
          return dryRunResponse(executor, operationContext, requestContext);
        }

        if (!claimResult || !('storedResponse' in claimResult)) return null;
        const { status, body } = claimResult.storedResponse;

        return {
          http: { status, headers: new HeaderMap() },
          body: { kind: 'single', singleResult: body as FormattedExecutionResult },
        };
      },
      async willSendResponse({ response: { http, body }, document, operation }) {
        requestContext.operationName = operation && (operation.name?.value ?? null);
        if (body.kind !== 'single') return;
        const result = body.singleResult;

        if (result.errors?.length) {
          result.errors = limitFormattedErrors(
            result.errors,
            executor.permitsIntrospection(requestContext),
          );
        }

        setOverloadStatus(http, result);

        // The result for an Idempotency-Key is stored before its HTTP status is adapted to the
        // media type, because a repeated request may accept a different one.
        if (claimResult && 'claim' in claimResult) {
          await storeIdempotentResult(claimResult, http, result);
        }

        setStatusByMediaType(http, result, request.http?.headers.get('accept'));
        setRejectionStatus(http, result);
        const responseText = `${await serializeResult(result, requestContext, maxResponseBytes, http)}\n`;

        requestContext.budget?.chargeResponseBytes(Buffer.byteLength(responseText));
        const isPublic =
          requestContext.isAnonymous &&
          !result.errors &&
          operation !== undefined &&
          !isDryRunRequest(request) &&
          isPublicOperation(document!, operation);

        if (isPublic) publishResult(responseText, request, http, requestContext);

        for (const [name, value] of Object.entries(requestContext.responseHeaders())) {
          http.headers.set(name.toLowerCase(), value);
        }

        body.singleResult = {
          data: new SerializedBody(responseText) as unknown as Record<string, unknown>,
        };
      },
    };
  },
});

/**
 * Claims the Idempotency-Key of a mutation, or finds the stored response of an earlier run.
 * Anonymous clients have no keys.
 */
async function claimIdempotencyKey(
  { idempotentExecution }: RequestContext,
  body: unknown,
): Promise<ClaimResult | undefined> {
  try {
    return await idempotentExecution.claimKey(body);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const { code, retryAfter } = error.extensions;
    const http = {
      status: HTTP_STATUS_BY_ERROR_CODE[String(code)],
      headers: headersWithRetryAfter(retryAfter),
    };

    throw new GraphQLError(error.message, { extensions: { ...error.extensions, http } });
  }
}

async function storeIdempotentResult(
  { claim }: Extract<ClaimResult, { claim: unknown }>,
  http: ResponseHead,
  result: FormattedExecutionResult,
): Promise<void> {
  if (claim.isResponseStored && !result.errors?.length) return;
  const isRetryable = result.errors?.some(({ extensions }) =>
    RETRYABLE_CODES.includes(String(extensions?.code)),
  );

  if (isRetryable) await claim.release();
  else await claim.storeResponse({ status: http.status ?? 200, body: result });
}

/**
 * Sets status 503 and Retry-After if an overloaded server produced no data, so that clients can
 * retry.
 */
function setOverloadStatus(http: ResponseHead, { errors, data }: FormattedExecutionResult): void {
  const overloadError = errors?.find(
    ({ extensions }) =>
      extensions?.retryAfter !== undefined && hasTemporaryErrorCode({ extensions }),
  );

  if (!overloadError || Object.values(data ?? {}).some((value) => value !== null)) return;
  http.status = 503;
  http.headers.set('retry-after', String(overloadError.extensions!.retryAfter));
}

/**
 * Sets status 200 for rejected operations if the response has the media type application/json. With
 * another status, clients would ignore the body, because it could come from an intermediary.
 * (https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes)
 */
function setStatusByMediaType(
  http: ResponseHead,
  { errors }: FormattedExecutionResult,
  acceptHeader: string | undefined,
): void {
  const firstErrorCode = String(errors?.[0]?.extensions?.code);
  const isRejectedOperation =
    http.status === 400 && REJECTED_OPERATION_CODES.includes(firstErrorCode);

  if (isRejectedOperation && negotiateMediaType(acceptHeader) === JSON_MEDIA_TYPE) {
    http.status = 200;
  }
}

/**
 * Sets status 429 for an exhausted cost budget, 400 for an oversized result, and 401 for an
 * operation that requires signing in as a whole (introspection).
 */
function setRejectionStatus(http: ResponseHead, { errors, data }: FormattedExecutionResult): void {
  const { code, retryAfter } = errors?.[0]?.extensions ?? {};

  if (code === 'RESULT_TOO_LARGE') http.status = 400;
  if (code === 'UNAUTHENTICATED' && data === undefined) http.status = 401;
  if (code !== 'RATE_LIMITED') return;
  http.status = 429;
  http.headers.set('retry-after', String(retryAfter));
}

/**
 * Keeps a public result for equal requests. Shared caches may store those of GET, but must
 * revalidate them.
 */
function publishResult(
  bodyText: string,
  { http: httpRequest }: GraphQLRequest,
  http: ResponseHead,
  { keepResponse, operationName }: RequestContext,
): void {
  const isGet = httpRequest?.method === 'GET';
  const headers = isGet ? publicCacheHeaders(bodyText) : {};
  const contentType = `${negotiateMediaType(httpRequest?.headers.get('accept'))}; charset=utf-8`;

  for (const [name, value] of Object.entries(headers)) http.headers.set(name.toLowerCase(), value);
  const ifNoneMatch = httpRequest?.headers.get('if-none-match');

  if (isGet && matchesIfNoneMatch({ 'if-none-match': ifNoneMatch }, headers.ETag!)) {
    http.status = 304;
  }

  keepResponse?.({ headers, contentType, bodyText, operationName });
}

class SerializedBody {
  constructor(readonly text: string) {}
}

/** Serializes a result for Apollo, unless the response plugin has already done so. */
const stringifyResult = ({ data, ...result }: FormattedExecutionResult): string =>
  data instanceof SerializedBody ? data.text : `${JSON.stringify({ ...result, data })}\n`;

/** Serializes a response. A result above the size limit becomes an error with status 400. */
async function serializeResult(
  { errors, data, extensions }: FormattedExecutionResult,
  { meter }: RequestContext,
  maxResponseBytes: number,
  http: ResponseHead,
): Promise<string> {
  const result = { errors, data, extensions };
  const introspectionJson = errors || extensions ? undefined : cachedIntrospectionJson(data);
  let responseText: string | undefined;

  if (introspectionJson) responseText = `{"data":${introspectionJson}}`;
  else if (meter?.isLong) responseText = await stringifyIncrementally(result, maxResponseBytes);
  else responseText = JSON.stringify(result);

  if (responseText !== undefined && Buffer.byteLength(responseText) <= maxResponseBytes) {
    return responseText;
  }

  http.status = 400;
  return JSON.stringify({ errors: [resultTooLargeError(maxResponseBytes)] });
}

/**
 * Headers that protect against cross-site request forgery: browsers send them to another origin
 * only after a CORS preflight.
 */
export const CSRF_PREVENTION_HEADERS = [
  'authorization',
  'apollo-require-preflight',
  'x-apollo-operation-name',
];

type Gateway = NonNullable<ApolloServerOptions<ApolloContext>['gateway']>;

/**
 * Connects Fitgraph's executor to Apollo through the gateway interface, Apollo's documented way to
 * replace graphql-js.
 */
function executorGateway(executor: Executor): Gateway {
  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: executor.schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    load: async () => ({
      // `operationName` is read from the request: Apollo drops a name that matches no operation,
      // and would then run the only operation.
      executor: ({ document, context, request }) =>
        executor.execute(
          document,
          request.operationName,
          (context as unknown as ApolloContext).requestContext,
          request.variables ?? {},
        ),
    }),
    stop: async () => undefined,
  };
}

export async function createApolloServer(
  executor: Executor,
  { graphqlCsrf, maxResponseBytes }: Config,
  log: Logger,
): Promise<ApolloServer<ApolloContext>> {
  const options: ApolloServerOptions<ApolloContext> = {
    gateway: executorGateway(executor),
    introspection: true,
    stringifyResult,
    csrfPrevention: graphqlCsrf && { requestHeaders: CSRF_PREVENTION_HEADERS },
    // Automatic persisted queries stay in Apollo's default cache (LRU, 30 MB per instance). If a
    // query is missing from the cache, clients receive PERSISTED_QUERY_NOT_FOUND and then send the
    // text of the query.
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    formatError: (formattedError, error) => {
      // Errors with an id have been logged by the executor. Others come from Apollo itself or from
      // a plugin, and are logged here.
      if (
        formattedError.extensions?.code !== 'INTERNAL_SERVER_ERROR' ||
        formattedError.extensions.id !== undefined
      ) {
        return formattedError;
      }

      const id = randomUUID();
      const cause = (error as Partial<GraphQLError>).originalError ?? error;
      const clientError = toClientError(cause, log, id);

      if (clientError) {
        return { message: clientError.message, extensions: { ...clientError.extensions } };
      }

      log.error({ err: cause, id }, 'unexpected error');
      return {
        message: `Internal server error (id ${id}).`,
        extensions: { code: 'INTERNAL_SERVER_ERROR', id },
      };
    },
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [documentLimitsRule],
    validationOptions: VALIDATION_OPTIONS,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      graphqlResponsePlugin(executor, maxResponseBytes),
    ],
  };
  const server = new ApolloServer<ApolloContext>(options);

  await server.start();
  return server;
}
