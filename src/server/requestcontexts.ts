/** Registry of request contexts: creates one for each HTTP request and finds it again by the request. */
import type { IncomingMessage } from 'node:http';
import type { RequestHead } from '../exchange/clientorigin';
import { RequestContext, type RequestServices } from '../exchange/requestcontext';

/** Accepted schemes of the Authorization header, in lower case. */
const REST_AUTH_SCHEMES = ['token'];
const GRAPHQL_AUTH_SCHEMES = ['token', 'bearer'];

export class RequestContexts {
  private readonly byRequest = new WeakMap<IncomingMessage, RequestContext>();

  constructor(private readonly dependencies: RequestServices) {}

  /** Returns the context of a request for which `begin` was called. */
  readonly of = (request: IncomingMessage): RequestContext => this.byRequest.get(request)!;

  /** Creates a context with the rules of GraphQL, which also apply to HTML pages; does not register it. */
  readonly open = (request: RequestHead): RequestContext => new RequestContext(request, this.dependencies, GRAPHQL_AUTH_SCHEMES, 'graphql');

  begin(request: IncomingMessage, isRest: boolean): RequestContext {
    const exchange = isRest ? new RequestContext(request, this.dependencies, REST_AUTH_SCHEMES, 'rest') : this.open(request);
    this.byRequest.set(request, exchange);
    return exchange;
  }
}
