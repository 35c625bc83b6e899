/** Request contexts: creates one for each HTTP request and stores it in the request. */
import type { IncomingMessage } from 'node:http';
import type { RequestHead } from '../request/forwardedheaders';
import { createRequestContext, type RequestContext } from '../request/requestcontext';
import type { Services } from '../request/services';

/**
 * Property of a request that contains its context. A WeakMap would be slower: a minor garbage collection treats the values of a long-lived WeakMap
 * as roots, so everything that belongs to a request would be promoted to the old generation.
 */
const CONTEXT_KEY = Symbol('request context');

type RequestWithContext = IncomingMessage & { [CONTEXT_KEY]?: RequestContext };

export class RequestContextStore {
  constructor(private readonly services: Services) {}

  /** Returns the context that `create` has stored in the request. */
  readonly get = (request: IncomingMessage): RequestContext =>
    (request as RequestWithContext)[CONTEXT_KEY]!;

  /** Creates a context for a WebSocket, with the policies of the GraphQL API. It is not stored in the request, so `get` does not find it. */
  readonly createForWebSocket = (request: RequestHead): RequestContext =>
    createRequestContext(this.services, request, 'graphql');

  /** Creates the context of a request and stores it in the request. */
  create(request: IncomingMessage, isRestRequest: boolean): RequestContext {
    const context = createRequestContext(
      this.services,
      request,
      isRestRequest ? 'rest' : 'graphql',
    );
    (request as RequestWithContext)[CONTEXT_KEY] = context;
    return context;
  }
}
