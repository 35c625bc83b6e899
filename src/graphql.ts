/** GraphQL over HTTP: Apollo parses, validates and answers; operations run compiled, as REST's do. */
import { ApolloServer, type ApolloServerOptions } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  GraphQLError,
  Kind,
  parse,
  specifiedRules,
  validate,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLSchema,
  type ValidationContext,
} from 'graphql';
import { CsrfError } from './auth/sessions';
import type { Context } from './core/context';
import type { Executor } from './core/execute';
import type { HttpExchange } from './exchange';

export interface GraphQLContext {
  exchange: HttpExchange;
  full: Context;
}

/** A plain limit on nesting; limits by cost are another matter. */
const MAX_DEPTH = 20;
const MAX_TOKENS = 10_000;

function depthLimit(context: ValidationContext): ASTVisitor {
  let depth = 0;
  return {
    Field: {
      enter(node) {
        depth += 1;
        if (depth === MAX_DEPTH + 1)
          context.reportError(new GraphQLError(`Fields are nested deeper than ${MAX_DEPTH} levels.`, { nodes: [node] }));
      },
      leave() {
        depth -= 1;
      },
    },
    FragmentSpread(node) {
      const fragment = context.getFragment(node.name.value);
      const levels = fragment ? height(fragment.selectionSet, context, new Set([node.name.value])) : 0;
      if (depth + levels > MAX_DEPTH)
        context.reportError(new GraphQLError(`Fields are nested deeper than ${MAX_DEPTH} levels.`, { nodes: [node] }));
    },
  };
}

function height(set: { selections: readonly any[] } | undefined, context: ValidationContext, seen: ReadonlySet<string>): number {
  let tallest = 0;
  for (const selection of set?.selections ?? []) {
    let levels: number;
    if (selection.kind === Kind.FIELD) levels = 1 + height(selection.selectionSet, context, seen);
    else if (selection.kind === Kind.INLINE_FRAGMENT) levels = height(selection.selectionSet, context, seen);
    else {
      const name = selection.name.value;
      levels = seen.has(name) ? 0 : height(context.getFragment(name)?.selectionSet, context, new Set([...seen, name]));
    }
    tallest = Math.max(tallest, levels);
    if (tallest > MAX_DEPTH) return tallest;
  }
  return tallest;
}

/** A document as operations of others may have it: parsed and validated, or what is wrong with it. */
export function readDocument(schema: GraphQLSchema, text: string): DocumentNode | readonly GraphQLError[] {
  let document: DocumentNode;
  try {
    document = parse(text, { maxTokens: MAX_TOKENS });
  } catch (error) {
    return [new GraphQLError((error as GraphQLError).message, { extensions: { code: 'GRAPHQL_PARSE_FAILED' } })];
  }
  const errors = validate(schema, document, [...specifiedRules, depthLimit]);
  return errors.length ? errors : document;
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

/** Credentials that are no good are told before anything runs; REST's codes are its own. */
export function refusal(error: unknown): unknown {
  if (!(error instanceof GraphQLError)) return error;
  const [code, status] = error instanceof CsrfError ? ['FORBIDDEN', 403] : ['UNAUTHENTICATED', 401];
  return new GraphQLError(error.message, { extensions: { code, http: { status } } });
}

export async function apolloServer(executor: Executor): Promise<ApolloServer<GraphQLContext>> {
  const options: ApolloServerOptions<GraphQLContext> = {
    gateway: gateway(executor.schema, executor),
    introspection: true,
    csrfPrevention: true,
    stopOnTerminationSignals: false,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: [depthLimit],
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      {
        requestDidStart: async ({ contextValue }) => ({
          willSendResponse: async ({ response }) => {
            for (const [name, value] of Object.entries(contextValue.exchange.headers()))
              response.http.headers.set(name.toLowerCase(), value);
          },
        }),
      },
    ],
  };
  const server = new ApolloServer<GraphQLContext>(options);
  await server.start();
  return server;
}
