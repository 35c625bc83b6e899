/** GraphQL over HTTP: Apollo parses, validates and answers. */
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
import { PASSING, STATUSES } from '../contract/statuses';
import { bounds, MAX_TOKENS } from './bounds';
import type { Config } from '../platform/config';
import { jsonInPieces, TooLongError } from '../platform/jsonpieces';
import type { Context, Spending } from '../core/context';
import { KnownError, MAX_ERRORS, tooLong } from '../core/model/errors';
import type { Executor } from '../core/operation/execute';
import { cachedJson } from '../core/operation/introspectioncache';
import type { HttpExchange } from '../exchange/exchange';
import type { Attempt } from '../exchange/idempotency';
import { shownErrors } from './shownerrors';

export interface GraphQLContext {
  exchange: HttpExchange;
  full: Context;
}

/** One more is graphql-js's own, which says that there are more. */
const VALIDATION = { maxErrors: MAX_ERRORS - 1 };

/** A document as operations of others may have it: parsed and validated, or what is wrong with it. */
export function readDocument(schema: GraphQLSchema, text: string, spending?: Spending): DocumentNode | readonly GraphQLError[] {
  const began = performance.now();
  try {
    spending?.demand();
    const document = parse(text, { maxTokens: MAX_TOKENS });
    const errors = validate(schema, document, [...specifiedRules, bounds], VALIDATION);
    return errors.length ? errors : document;
  } catch (error) {
    if (error instanceof KnownError) return [error];
    const { message, source, positions } = error as GraphQLError;
    return [new GraphQLError(message, { source, positions, extensions: { code: 'GRAPHQL_PARSE_FAILED' } })];
  } finally {
    spending?.worked(performance.now() - began);
  }
}

type Gateway = NonNullable<ApolloServerOptions<GraphQLContext>['gateway']>;

/** Apollo's documented way to run operations by an executor of one's own. */
function gateway(schema: GraphQLSchema, executor: Executor): Gateway {
  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    load: async () => ({
      // Of the request, because Apollo forgets a name that no operation has, and then the only operation would run by a wrong name.
      executor: ({ document, context, request }) =>
        executor.execute(document, request.operationName, (context as unknown as GraphQLContext).full, request.variables ?? {}),
    }),
    stop: async () => undefined,
  };
}

const isPassing = ({ extensions }: { extensions?: Record<string, unknown> }) => PASSING.includes(String(extensions?.code));
const retryHeader = (retryAfter: unknown, further: Record<string, string> = {}) => {
  const headers = Object.entries(further).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  return new HeaderMap(retryAfter === undefined ? headers : [...headers, ['retry-after', String(retryAfter)]]);
};

/** An operation that the server had no time for has done nothing, and may be sent again. */
const overloaded: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ response: { http, body } }) => {
      if (body.kind !== 'single') return;
      const { errors, data } = body.singleResult;
      const told = errors?.find(({ extensions }) => extensions?.retryAfter !== undefined && isPassing({ extensions }));
      if (!told || Object.values(data ?? {}).some((value) => value !== null)) return;
      http.status = 503;
      http.headers.set('retry-after', String(told.extensions!.retryAfter));
    },
  }),
};

/** Credentials that are no good are told before anything runs; REST's codes are its own. */
export function refusal(error: unknown, headers: Record<string, string> = {}): unknown {
  if (!(error instanceof GraphQLError)) return error;
  if (isPassing(error) || error.extensions.code === 'RATE_LIMITED') {
    const { code, retryAfter } = error.extensions;
    return new GraphQLError(error.message, {
      extensions: { ...error.extensions, http: { status: STATUSES[String(code)], headers: retryHeader(retryAfter, headers) } },
    });
  }
  const [code, status] = error instanceof CsrfError ? ['FORBIDDEN', 403] : ['UNAUTHENTICATED', 401];
  return new GraphQLError(error.message, { extensions: { code, http: { status } } });
}

const JSON_TYPE = 'application/json';

/** What an answer is sent as; the older type where the client takes either. */
const mediaTypeOf = (accept: string | undefined): string =>
  new Negotiator({ headers: { accept } }).mediaType([JSON_TYPE, 'application/graphql-response+json']) ?? JSON_TYPE;

/** Of operations that are sent as they should be, and still do not run. */
const NOT_EXECUTED = ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'OPERATION_RESOLUTION_FAILURE', 'BAD_USER_INPUT'];

/** Refuses a request before Apollo sees it. */
export function refuse(request: IncomingMessage, response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'Content-Type': `${mediaTypeOf(request.headers.accept)}; charset=utf-8` });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
}

/**
 * With application/json a status other than 200 may be an intermediary's, so that clients do not read the body; what is wrong with an operation
 * is therefore said in the body alone. With application/graphql-response+json the status says it too.
 * (https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes)
 */
const statusByMediaType: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ request, response: { http, body } }) => {
      const errors = body.kind === 'single' ? body.singleResult.errors : undefined;
      if (http.status !== 400 || !NOT_EXECUTED.includes(String(errors?.[0]?.extensions?.code))) return;
      if (mediaTypeOf(request.http?.headers.get('accept')) === JSON_TYPE) http.status = 200;
    },
  }),
};

/** After them the same request may come to something else. */
const PERHAPS_LATER = ['INTERNAL_SERVER_ERROR', 'TOO_MANY_REQUESTS', 'RATE_LIMITED', 'CLIENT_GONE', ...PASSING];

/** A spent budget and a response that is too long have a status of their own. */
const toldByStatus: ApolloServerPlugin<GraphQLContext> = {
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

const fewErrors: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async ({ contextValue }) => ({
    willSendResponse: async ({ response: { body } }) => {
      if (body.kind !== 'single' || !body.singleResult.errors?.length) return;
      body.singleResult.errors = shownErrors(body.singleResult.errors, contextValue.full.viewer !== null);
    },
  }),
};

class Written {
  constructor(readonly text: string) {}
}

const textOf = ({ data, ...result }: FormattedExecutionResult): string =>
  data instanceof Written ? data.text : `${JSON.stringify({ ...result, data })}\n`;

/** The last of all: writes the answer, which is bounded in bytes and paid for by them, and its headers. */
const written = (maxResponse: number): ApolloServerPlugin<GraphQLContext> => ({
  requestDidStart: async ({ contextValue: { exchange, full } }) => ({
    willSendResponse: async ({ response: { http, body }, operation }) => {
      exchange.operation = operation && (operation.name?.value ?? null);
      if (body.kind !== 'single') return;
      const { errors, data, extensions } = body.singleResult;
      const answer = { errors, data, extensions };
      const kept = errors || extensions ? undefined : cachedJson(data);
      let text = kept
        ? `{"data":${kept}}`
        : full.size?.isLong
          ? await jsonInPieces(answer, maxResponse).catch(whenTooLong)
          : JSON.stringify(answer);
      if (text === undefined || Buffer.byteLength(text) > maxResponse) {
        http.status = 400;
        text = JSON.stringify({ errors: [tooLong(maxResponse)] });
      }
      full.spending?.sent(Buffer.byteLength(text));
      for (const [name, value] of Object.entries(exchange.headers())) http.headers.set(name.toLowerCase(), value);
      body.singleResult = { data: new Written(`${text}\n`) as unknown as Record<string, unknown> };
    },
  }),
});

function whenTooLong(error: unknown): undefined {
  if (!(error instanceof TooLongError)) throw error;
}

/** A document that is not valid has cost the server time too. */
const paidReading: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async ({ contextValue: { full } }) => {
    const measured = async () => {
      const began = performance.now();
      return async () => full.spending?.worked(performance.now() - began);
    };
    return { parsingDidStart: measured, validationDidStart: measured };
  },
};

/** An empty name is none, as where a form leaves the field empty. (https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters) */
const noEmptyName: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async ({ request }) => {
    request.operationName ||= undefined;
  },
};

/** A mutation that was carried out before with the same Idempotency-Key is not carried out again. */
const idempotency: ApolloServerPlugin<GraphQLContext> = {
  requestDidStart: async () => {
    let attempt: Attempt | undefined;
    return {
      async didResolveOperation({ operation, source, request, contextValue }) {
        if (operation?.operation !== 'mutation') return;
        try {
          attempt = await contextValue.exchange.attempt([source, request.operationName ?? null, request.variables ?? {}]);
        } catch (error) {
          if (!(error instanceof KnownError)) throw error;
          const { code, retryAfter } = error.extensions;
          const http = { status: STATUSES[String(code)], headers: retryHeader(retryAfter) };
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
        const passing = body.singleResult.errors?.some(({ extensions }) => PERHAPS_LATER.includes(String(extensions?.code)));
        await (passing ? attempt.claim.release() : attempt.claim.settle({ status: http.status ?? 200, body: body.singleResult }));
      },
    };
  },
};

export async function apolloServer(
  executor: Executor,
  { graphqlCsrf, maxResponse }: Config,
  log: Logger,
): Promise<ApolloServer<GraphQLContext>> {
  const options: ApolloServerOptions<GraphQLContext> = {
    gateway: gateway(executor.schema, executor),
    introspection: true,
    stringifyResult: textOf,
    csrfPrevention: graphqlCsrf,
    // Automatic persisted queries are kept by Apollo, 30 MB of those used last. Each instance has its own: a client that hears
    // PERSISTED_QUERY_NOT_FOUND sends the text again.
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    formatError: (formatted, error) => {
      // What Apollo itself did not expect; of operations the executor has told already.
      if (formatted.extensions?.code !== 'INTERNAL_SERVER_ERROR' || formatted.extensions.id !== undefined) return formatted;
      const id = randomUUID();
      log.error({ err: unwrapResolverError(error), id }, 'unexpected error');
      return { message: `Internal server error (id ${id}).`, extensions: { code: 'INTERNAL_SERVER_ERROR', id } };
    },
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [bounds],
    validationOptions: VALIDATION,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      noEmptyName,
      paidReading,
      // Before those that keep and read errors.
      fewErrors,
      // What is kept is the status that no media type has changed yet, so it comes before that.
      overloaded,
      idempotency,
      statusByMediaType,
      toldByStatus,
      written(maxResponse),
    ],
  };
  const server = new ApolloServer<GraphQLContext>(options);
  await server.start();
  return server;
}
