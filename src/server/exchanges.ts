/** The exchange of each request that is being answered. */
import type { IncomingMessage } from 'node:http';
import { HttpExchange, type Dependencies } from '../exchange/exchange';

/** Of the Authorization header. */
const REST_SCHEMES = ['token'];
const GRAPHQL_SCHEMES = ['token', 'bearer'];

export class Exchanges {
  private readonly begun = new WeakMap<IncomingMessage, HttpExchange>();

  constructor(private readonly dependencies: Dependencies) {}

  /** Of a request that has been begun. */
  readonly of = (request: IncomingMessage): HttpExchange => this.begun.get(request)!;

  /** For GraphQL, and whatever else is not REST's. */
  readonly open = (request: IncomingMessage): HttpExchange => new HttpExchange(request, this.dependencies, GRAPHQL_SCHEMES, 'graphql');

  begin(request: IncomingMessage, isRest: boolean): HttpExchange {
    const exchange = isRest ? new HttpExchange(request, this.dependencies, REST_SCHEMES, 'rest') : this.open(request);
    this.begun.set(request, exchange);
    return exchange;
  }
}
