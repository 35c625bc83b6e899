/** The context of an HTTP request, which is the same for REST, GraphQL and HTML pages. The pipeline in docs/architecture.md shows which step uses each part. */
import type { ServerResponse } from 'node:http';
import type { ApiName } from '../contract/metadata';
import type { Context, RateBudget, Viewer } from '../core/context';
import { clientGoneError } from '../core/model/errors';
import { POLICIES_BY_API } from '../core/model/policies';
import { Loaders } from '../core/read/loaders';
import type { DatabaseSession } from '../database/session';
import { awaitTurn } from '../platform/fairturns';
import type { Route } from '../rest/routes';
import { AccountService } from './account';
import { Authentication } from './authentication';
import { rateLimitHeaders } from './costlimit';
import { IdempotentExecution } from './idempotentexecution';
import { requestInfoOf, type HttpRequestInfo } from './requestinfo';
import type { RequestHead } from './forwardedheaders';
import type { Services } from './services';

const AUTH_SCHEMES: Readonly<Record<ApiName, readonly string[]>> = {
  rest: ['token'],
  graphql: ['token', 'bearer'],
};

export interface RequestContext {
  readonly requestInfo: HttpRequestInfo;
  readonly authentication: Authentication;
  readonly account: AccountService;
  readonly idempotentExecution: IdempotentExecution;
  readonly resolverContext: Context;
  /** Name of the GraphQL operation; null for an anonymous operation, undefined until the document is parsed. */
  operationName?: string | null;
  /** Route of a REST request; undefined before routing and for other requests. */
  route?: Route;
  /** Waits for a fair turn of the client to do synchronous work, such as validating a document. */
  awaitTurn(): Promise<void>;
  chargeResponse(bytes: number): void;
  chargeMilliseconds(ms: number): void;
  /** Returns response headers with rate limits and server timing. */
  responseHeaders(): Record<string, string>;
}

/**
 * Context of resolvers. It is a class, because an object literal with a getter would get a new hidden class in V8 for each request. Access to such an
 * object would be slow, and the object would stay in memory, with everything that it references, until a major garbage collection.
 */
class ResolverContext implements Context {
  readonly policies: Context['policies'];
  readonly loaders = new Loaders();
  budget?: RateBudget;
  // Declared here, so that setting it does not change the hidden class.
  meter?: Context['meter'] = undefined;

  constructor(
    readonly request: HttpRequestInfo,
    readonly api: ApiName,
    readonly session: DatabaseSession,
    readonly account: AccountService,
    readonly services: Services,
    private readonly authentication: Authentication,
  ) {
    this.policies = POLICIES_BY_API[api];
    this.budget = services.costLimiter.budgetFor(this, request.clientNetwork);
  }

  get viewer(): Viewer | null {
    return this.authentication.viewer;
  }
}

/**
 * Creates the context of a request. `api` determines the accepted authentication schemes and the rules in which REST and GraphQL differ. HTML pages
 * that do not belong to REST use those of GraphQL.
 */
export function createRequestContext(
  services: Services,
  request: RequestHead,
  api: ApiName,
): RequestContext {
  const { config, metrics } = services;
  const requestInfo = requestInfoOf(
    request,
    services.forwardedHeaders,
    metrics && ((code) => metrics.countError(api, code)),
  );
  const session = services.database.createSession();
  session.setClient('anonymous', requestInfo.clientNetwork);
  const authentication = new Authentication(
    request,
    services,
    session,
    requestInfo,
    AUTH_SCHEMES[api],
  );
  const account = new AccountService(request, services, session, requestInfo, authentication);
  const resolverContext = new ResolverContext(
    requestInfo,
    api,
    session,
    account,
    services,
    authentication,
  );
  const serverTimingHeader = () => ({
    'Server-Timing': `db;dur=${session.statementMs.toFixed(1)};desc="${session.statementCount} statements"`,
  });
  return {
    requestInfo,
    authentication,
    account,
    idempotentExecution: new IdempotentExecution(request, services, resolverContext),
    resolverContext,
    awaitTurn: () =>
      awaitTurn({ network: requestInfo.clientNetwork, userId: authentication.senderUserId }),
    chargeResponse: (bytes) => resolverContext.budget?.chargeResponseBytes(bytes),
    chargeMilliseconds: (ms) => resolverContext.budget?.chargeMilliseconds(ms),
    responseHeaders: () => ({
      ...(config.serverTiming && serverTimingHeader()),
      ...rateLimitHeaders(resolverContext.budget),
    }),
  };
}

/** Cancels the reads of a request when its client disconnects before the response is sent. A write that has begun is completed. */
export function cancelReadsOnDisconnect(
  { resolverContext }: RequestContext,
  response: ServerResponse,
): void {
  response.once('close', () => {
    if (response.writableFinished) return;
    resolverContext.session.cancelReads();
    resolverContext.meter?.abortUnlessWriting(clientGoneError());
  });
}
