/** GraphQL over HTTP with Apollo Server: configuration, plugins, and conversion of errors to HTTP statuses. */
import { ApolloServer, HeaderMap, type ApolloServerOptions, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  GraphQLError,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type FormattedExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { unwrapResolverError } from '@apollo/server/errors';
import Negotiator from 'negotiator';
import type { Logger } from 'pino';
import { CsrfError } from '../auth/sessions';
import { TEMPORARY_ERROR_CODES, HTTP_STATUS_BY_ERROR_CODE } from '../contract/errorcodes';
import { documentLimitsRule, MAX_TOKENS } from './documentlimits';
import type { Config } from '../platform/config';
import { stringifyIncrementally, JsonTooLongError } from '../platform/incrementaljson';
import type { Context, RateBudget } from '../core/context';
import { ClientError, MAX_ERRORS_PER_RESPONSE, resultTooLargeError } from '../core/model/errors';
import type { Executor } from '../core/operation/executor';
import { cachedIntrospectionJson } from '../core/operation/introspectioncache';
import type { RequestContext } from '../exchange/requestcontext';
import type { ClaimResult } from '../exchange/idempotency';
import { limitFormattedErrors } from './errorlimits';

export interface GraphQLContext {
  exchange: RequestContext;
  full: Context;
}

/** graphql-js appends one more error that says that validation was aborted. */
const VALIDATION_OPTIONS = { maxErrors: MAX_ERRORS_PER_RESPONSE - 1 };

/** Parses and validates the text of a client's operation. Returns the document or the errors. Charges the time to `spending`. */
export function readDocument(schema: GraphQLSchema, text: string, spending?: RateBudget): DocumentNode | readonly GraphQLError[] {
  const startedAt = performance.now();
  try {
    spending?.requireBudget();
    const document = parse(text, { maxTokens: MAX_TOKENS });
    const errors = validate(schema, document, [...specifiedRules, documentLimitsRule], VALIDATION_OPTIONS);
    return errors.length ? errors : document;
  } catch (error) {
    if (error instanceof ClientError) return [error];
    const { message, source, positions } = error as GraphQLError;
    return [new GraphQLError(message, { source, positions, extensions: { code: 'GRAPHQL_PARSE_FAILED' } })];
  } finally {
    spending?.chargeMilliseconds(performance.now() - startedAt);
  }
}

type Gateway = NonNullable<ApolloServerOptions<GraphQLContext>['gateway']>;

/** Plugs our executor into Apollo through its gateway interface, the documented way to replace graphql-js execution. */
function executorGateway(schema: GraphQLSchema, executor: Executor): Gateway {
  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    load: async () => ({
      // The name comes from the request: Apollo drops a name that matches no operation, and the only operation would run in spite of it.
      executor: ({ document, context, request }) =>
        executor.execute(document, request.operationName, (context as unknown as GraphQLContext).full, request.variables ?? {}),
    }),
    stop: async () => undefined,
  };
}

const isTransient = ({ extensions }: { extensions?: Record<string, unknown> }) => TEMPORARY_ERROR_CODES.includes(String(extensions?.code));
const responseHeaders = (retryAfter: unknown, additionalHeaders: Record<string, string> = {}) => {
  const headers = Object.entries(additionalHeaders).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  return new HeaderMap(retryAfter === undefined ? headers : [...headers, ['retry-after', String(retryAfter)]]);
};

/** Sets status 503 and Retry-After if an overloaded server produced no data, so that clients can retry the operation. */
const overloadStatus: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ response: { http, body } }) => {
      if (body.kind !== 'single') return;
      const { errors, data } = body.singleResult;
      const overloadError = errors?.find(({ extensions }) => extensions?.retryAfter !== undefined && isTransient({ extensions }));
      if (!overloadError || Object.values(data ?? {}).some((value) => value !== null)) return;
      http.status = 503;
      http.headers.set('retry-after', String(overloadError.extensions!.retryAfter));
    },
  }),
};

/** Adds the HTTP status to an authentication error for GraphQL: 401, 403 for CSRF, or the status of overload and rate limits. */
export function withHttpStatus(error: unknown, headers: Record<string, string> = {}): unknown {
  if (!(error instanceof GraphQLError)) return error;
  if (isTransient(error) || error.extensions.code === 'RATE_LIMITED') {
    const { code, retryAfter } = error.extensions;
    return new GraphQLError(error.message, {
      extensions: {
        ...error.extensions,
        http: { status: HTTP_STATUS_BY_ERROR_CODE[String(code)], headers: responseHeaders(retryAfter, headers) },
      },
    });
  }
  const [code, status] = error instanceof CsrfError ? ['FORBIDDEN', 403] : ['UNAUTHENTICATED', 401];
  return new GraphQLError(error.message, { extensions: { code, http: { status } } });
}

const JSON_TYPE = 'application/json';

/** Negotiates the media type of a response; prefers `application/json` if the client accepts both. */
const mediaTypeOf = (accept: string | undefined): string =>
  new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, 'application/graphql-response+json']) ?? JSON_TYPE;

/** Errors of well-formed requests whose operation was rejected before execution. */
const REJECTED_OPERATION_CODES = ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'OPERATION_RESOLUTION_FAILURE', 'BAD_USER_INPUT'];

/** Sends a GraphQL error response without involving Apollo. */
export function sendGraphQLError(request: IncomingMessage, response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'Content-Type': `${mediaTypeOf(request.headers.accept)}; charset=utf-8` });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
}

/**
 * Sends rejected operations with status 200 as application/json, because another status could come from an intermediary and clients would ignore the
 * body. With application/graphql-response+json the status is 400. (https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes)
 */
const statusByMediaType: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ request, response: { http, body } }) => {
      const errors = body.kind === 'single' ? body.singleResult.errors : undefined;
      if (http.status !== 400 || !REJECTED_OPERATION_CODES.includes(String(errors?.[0]?.extensions?.code))) return;
      if (mediaTypeOf(request.http?.headers.get('accept')) === JSON_TYPE) http.status = 200;
    },
  }),
};

/** Errors that are not stored under an Idempotency-Key, because a retry may succeed. */
const RETRYABLE_CODES = ['INTERNAL_SERVER_ERROR', 'TOO_MANY_REQUESTS', 'RATE_LIMITED', 'CLIENT_GONE', ...TEMPORARY_ERROR_CODES];

/** Sets status 429 for an exhausted cost budget and 400 for an oversized result. */
const limitStatus: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ response: { http, body } }) => {
      const { code, retryAfter } = (body.kind === 'single' && body.singleResult.errors?.[0]?.extensions) || {};
      if (code === 'RESULT_TOO_LARGE') http.status = 400;
      if (code !== 'RATE_LIMITED') return;
      http.status = 429;
      http.headers.set('retry-after', String(retryAfter));
    },
  }),
};

const limitErrors: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async ({ contextValue }) => ({
    willSendResponse: async ({ response: { body } }) => {
      if (body.kind !== 'single' || !body.singleResult.errors?.length) return;
      body.singleResult.errors = limitFormattedErrors(body.singleResult.errors, contextValue.full.viewer !== null);
    },
  }),
};

class SerializedBody {
  constructor(readonly text: string) {}
}

const stringifyResult = ({ data, ...result }: FormattedExecutionResult): string =>
  data instanceof SerializedBody ? data.text : `${JSON.stringify({ ...result, data })}\n`;

/** Serializes the response within the size limit, charges its bytes to the client's budget and sets headers. Must be the last plugin. */
const serializeResponse = (maxResponse: number): ApolloServerPlugin<GraphQLContext> => ({
  requestDidStart: async ({ contextValue: { exchange, full } }) => ({
    willSendResponse: async ({ response: { http, body }, operation }) => {
      exchange.operation = operation && (operation.name?.value ?? null);
      if (body.kind !== 'single') return;
      const { errors, data, extensions } = body.singleResult;
      const result = { errors, data, extensions };
      const introspectionJson = errors || extensions ? undefined : cachedIntrospectionJson(data);
      let text = introspectionJson
        ? `{"data":${introspectionJson}}`
        : full.responseSize?.isLong
          ? await stringifyIncrementally(result, maxResponse).catch(whenTooLong)
          : JSON.stringify(result);
      if (text === undefined || Buffer.byteLength(text) > maxResponse) {
        http.status = 400;
        text = JSON.stringify({ errors: [resultTooLargeError(maxResponse)] });
      }
      full.budget?.chargeResponseBytes(Buffer.byteLength(text));
      for (const [name, value] of Object.entries(exchange.headers())) http.headers.set(name.toLowerCase(), value);
      body.singleResult = { data: new SerializedBody(`${text}\n`) as unknown as Record<string, unknown> };
    },
  }),
});

function whenTooLong(error: unknown): undefined {
  if (!(error instanceof JsonTooLongError)) throw error;
}

/** Charges parsing and validation time to the client's budget, even for invalid documents. */
const chargeParsing: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async ({ contextValue: { full } }) => {
    const chargeDuration = async () => {
      const startedAt = performance.now();
      return async () => full.budget?.chargeMilliseconds(performance.now() - startedAt);
    };
    return { parsingDidStart: chargeDuration, validationDidStart: chargeDuration };
  },
};

/** An empty operation name counts as absent. (https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters) */
const dropEmptyOperationName: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async ({ request }) => {
    request.operationName ||= undefined;
  },
};

/** Idempotency-Key support: repeated mutations receive the stored response instead of running again. */
const replayByIdempotencyKey: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async () => {
    let attempt: ClaimResult | undefined;
    return {
      async didResolveOperation({ operation, source, request, contextValue }) {
        if (operation?.operation !== 'mutation') return;
        try {
          attempt = await contextValue.exchange.claimIdempotencyKey([source, request.operationName ?? null, request.variables ?? {}]);
        } catch (error) {
          if (!(error instanceof ClientError)) throw error;
          const { code, retryAfter } = error.extensions;
          const http = { status: HTTP_STATUS_BY_ERROR_CODE[String(code)], headers: responseHeaders(retryAfter) };
          throw new GraphQLError(error.message, { extensions: { ...error.extensions, http } });
        }
      },
      async responseForOperation() {
        if (!attempt || !('kept' in attempt)) return null;
        const { status, body } = attempt.kept;
        return { http: { status, headers: new HeaderMap() }, body: { kind: 'single', singleResult: body as FormattedExecutionResult } };
      },
      async willSendResponse({ response: { http, body } }) {
        if (!attempt || !('claim' in attempt) || body.kind !== 'single') return;
        const isRetryable = body.singleResult.errors?.some(({ extensions }) => RETRYABLE_CODES.includes(String(extensions?.code)));
        await (isRetryable
          ? attempt.claim.release()
          : attempt.claim.storeResponse({ status: http.status ?? 200, body: body.singleResult }));
      },
    };
  },
};

export async function createApolloServer(
  executor: Executor,
  { graphqlCsrf, maxResponse }: Config,
  log: Logger,
): Promise<ApolloServer<GraphQLContext>> {
  const options: ApolloServerOptions<GraphQLContext> = {
    gateway: executorGateway(executor.schema, executor),
    introspection: true,
    stringifyResult,
    csrfPrevention: graphqlCsrf,
    // Automatic persisted queries stay in Apollo's default cache (LRU, 30 MB per instance). After PERSISTED_QUERY_NOT_FOUND clients send the text.
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    formatError: (formatted, error) => {
      // Errors with an id were logged by the executor; the others are unexpected errors of Apollo itself.
      if (formatted.extensions?.code !== 'INTERNAL_SERVER_ERROR' || formatted.extensions.id !== undefined) return formatted;
      const id = randomUUID();
      log.error({ err: unwrapResolverError(error), id }, 'unexpected error');
      return { message: `Internal server error (id ${id}).`, extensions: { code: 'INTERNAL_SERVER_ERROR', id } };
    },
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [documentLimitsRule],
    validationOptions: VALIDATION_OPTIONS,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      dropEmptyOperationName,
      chargeParsing,
      // Runs before the plugins that store or inspect errors.
      limitErrors,
      // The stored status must not depend on the media type of the first response, so idempotency precedes statusByMediaType.
      overloadStatus,
      replayByIdempotencyKey,
      statusByMediaType,
      limitStatus,
      serializeResponse(maxResponse),
    ],
  };
  const server = new ApolloServer<GraphQLContext>(options);
  await server.start();
  return server;
}
