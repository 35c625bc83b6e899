/** Registry of request contexts: creates one for each HTTP request and finds it again by the request. */
import type { IncomingMessage } from 'node:http';
import { HttpExchange, type Dependencies } from '../exchange/exchange';

/** Accepted schemes of the Authorization header, in lower case. */
const REST_AUTH_SCHEMES = ['token'];
const GRAPHQL_AUTH_SCHEMES = ['token', 'bearer'];

export class Exchanges {
  private readonly byRequest = new WeakMap<IncomingMessage, HttpExchange>();

  constructor(private readonly dependencies: Dependencies) {}

  /** Returns the context of a request for which `begin` was called. */
  readonly of = (request: IncomingMessage): HttpExchange => this.byRequest.get(request)!;

  /** Creates a context with the rules of GraphQL, which also apply to HTML pages; does not register it. */
  readonly open = (request: IncomingMessage): HttpExchange => new HttpExchange(request, this.dependencies, GRAPHQL_AUTH_SCHEMES, 'graphql');

  begin(request: IncomingMessage, isRest: boolean): HttpExchange {
    const exchange = isRest ? new HttpExchange(request, this.dependencies, REST_AUTH_SCHEMES, 'rest') : this.open(request);
    this.byRequest.set(request, exchange);
    return exchange;
  }
}
