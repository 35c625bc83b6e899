/** Creates Apollo Server with the executor and the response policy of Fitgraph. */
import { ApolloServer, type ApolloServerOptions } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { randomUUID } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import type { Logger } from 'pino';
import { toClientError } from '../core/model/errors';
import type { Executor } from '../core/operation/executor';
import type { Config } from '../platform/config';
import { documentLimitsRule, MAX_TOKENS } from './documentlimits';
import { VALIDATION_OPTIONS } from './parseddocument';
import { graphqlResponsePlugin, stringifyResult, type ApolloContext } from './responsepolicy';

/** Headers that protect against cross-site request forgery: browsers send them to another origin only after a CORS preflight request. */
export const CSRF_PREVENTION_HEADERS = [
  'authorization',
  'apollo-require-preflight',
  'x-apollo-operation-name',
];

type Gateway = NonNullable<ApolloServerOptions<ApolloContext>['gateway']>;

/** Connects Fitgraph's executor to Apollo through Apollo's gateway interface, the documented way to replace the execution by graphql-js. */
function executorGateway(executor: Executor): Gateway {
  return {
    onSchemaLoadOrUpdate(callback) {
      callback({ apiSchema: executor.schema, coreSupergraphSdl: '' });
      return () => undefined;
    },
    load: async () => ({
      // `operationName` is read from the request, because Apollo drops a name that matches no operation, and would then run the only operation.
      executor: ({ document, context, request }) =>
        executor.execute(
          document,
          request.operationName,
          (context as unknown as ApolloContext).resolverContext,
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
    // Automatic persisted queries stay in Apollo's default cache (LRU, 30 MB per instance). If one is not in the cache, clients receive
    // PERSISTED_QUERY_NOT_FOUND and send its text.
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    formatError: (formattedError, error) => {
      // Errors with an id were logged by the executor; the others are errors of Apollo itself or of a plugin.
      if (
        formattedError.extensions?.code !== 'INTERNAL_SERVER_ERROR' ||
        formattedError.extensions.id !== undefined
      )
        return formattedError;
      const id = randomUUID();
      const cause = (error as Partial<GraphQLError>).originalError ?? error;
      const clientError = toClientError(cause, log, id);
      if (clientError)
        return { message: clientError.message, extensions: { ...clientError.extensions } };
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
