/** Registry of request contexts: creates one for each HTTP request and finds it again by the request. */
import type { IncomingMessage } from 'node:http';
import type { RequestHead } from '../request/clientorigin';
import { createContext, type RequestContext } from '../request/requestcontext';
import type { Services } from '../request/services';

export class RequestContexts {
  private readonly byRequest = new WeakMap<IncomingMessage, RequestContext>();

  constructor(private readonly services: Services) {}

  /** Returns the context of a request for which `begin` was called. */
  readonly of = (request: IncomingMessage): RequestContext => this.byRequest.get(request)!;

  /** Creates a context with the policies of GraphQL without registering it. */
  readonly open = (request: RequestHead): RequestContext => createContext(this.services, request, 'graphql');

  begin(request: IncomingMessage, isRest: boolean): RequestContext {
    const context = createContext(this.services, request, isRest ? 'rest' : 'graphql');
    this.byRequest.set(request, context);
    return context;
  }
}
