/** Creates the context of each HTTP request and stores it in the request. */
import type { IncomingMessage } from 'node:http';
import type { RequestHead } from '../request/forwarded-headers';
import { RequestContext } from '../request/request-context';
import type { Services } from '../request/services';

/**
 * Property of a request that contains its context. A WeakMap would be slower: minor garbage
 * collections treat its values as roots and would move everything of a request to the old
 * generation.
 */
const CONTEXT_KEY = Symbol('request context');

type RequestWithContext = IncomingMessage & { [CONTEXT_KEY]?: RequestContext };

export class RequestContextStore {
  constructor(private readonly services: Services) {}

  readonly get = (request: IncomingMessage): RequestContext =>
    (request as RequestWithContext)[CONTEXT_KEY]!;

  /**
   * Creates a context for a WebSocket, with the policies of the GraphQL API. `get` does not find
   * this context.
   */
  readonly createForWebSocket = (request: RequestHead): RequestContext =>
    new RequestContext(this.services, request, 'graphql');

  create(request: IncomingMessage, isRestRequest: boolean): RequestContext {
    const context = new RequestContext(this.services, request, isRestRequest ? 'rest' : 'graphql');

    (request as RequestWithContext)[CONTEXT_KEY] = context;
    return context;
  }
}
