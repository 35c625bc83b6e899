/** Subscriptions over server-sent events (graphql-sse). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GraphQLError, type ExecutionResult } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/express';
import { RETRY_SECONDS } from '../../core/model/errors';
import type { HttpExchange } from '../../exchange/exchange';
import { refusal, refuse } from '../handler';
import type { Subscriptions } from './subscriptions';

const STREAM = '/stream';
const MEDIA_TYPE = 'text/event-stream';
/** In milliseconds: what a browser waits before it comes back. */
const COME_BACK = 'retry: 1000\n\n';
const JSON_BODY = 'The body must be JSON, with the Content-Type application/json.';

/** The library has words of its own for caches, which would let a browser keep what one person was told. */
function keptByNobody(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (status: number, ...rest: unknown[]) => ServerResponse;
  response.writeHead = ((status: number, ...rest: unknown[]) => {
    for (const part of rest) if (part && typeof part === 'object') delete (part as Record<string, unknown>)['cache-control'];
    return writeHead(status, ...rest);
  }) as typeof response.writeHead;
}

/** What is wrong comes as an event, as graphql-sse wants it. */
async function* once(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}

/** Some clients use one address for everything and say by Accept that they want events and nothing else. */
const asksForEvents = (path: string, accepted: string): boolean =>
  path === STREAM || (path === '/' && accepted.includes(MEDIA_TYPE) && !accepted.includes('json'));

export class EventStreams {
  private readonly open = new Set<ServerResponse>();
  private readonly serve: (request: Request, response: Response) => Promise<void>;
  private leaving = false;

  /** `known`: the exchange of a request that is being answered. */
  constructor(subscriptions: Subscriptions, known: (request: IncomingMessage) => HttpExchange) {
    this.serve = createHandler({
      // Every subscription has a connection of its own: that needs no state between requests, which may reach different instances.
      authenticate: () => null,
      subscribe: subscriptions.follow,
      onSubscribe: async ({ raw }, params) => {
        const exchange = known(raw);
        await exchange.authenticate();
        const args = subscriptions.read({ ...params }, exchange);
        return Array.isArray(args) ? once({ errors: args }) : args;
      },
    });
  }

  readonly handle: RequestHandler = (request, response, next) => {
    const accepted = request.headers.accept ?? '';
    if (!asksForEvents(request.path, accepted)) return next();
    // The `close` event of a response that is closed already will not come, so it must not be added to the open ones.
    if (response.closed) return;
    if (this.leaving) {
      response.setHeader('Retry-After', String(RETRY_SECONDS));
      return refuse(request, response, 503, 'SERVICE_UNAVAILABLE', 'The server is about to end. Come back in a moment.');
    }
    // It would read a body that our parser took for something else, however long it is.
    if (request.method === 'POST' && request.body === undefined) return refuse(request, response, 415, 'BAD_REQUEST', JSON_BODY);
    // graphql-sse knows no list of types here.
    if (accepted.includes(MEDIA_TYPE)) request.headers.accept = MEDIA_TYPE;
    keptByNobody(response);
    this.open.add(response);
    response.once('close', () => this.open.delete(response));
    this.serve(request, response).catch((error: unknown) => fail(error, response, next));
  };

  get size(): number {
    return this.open.size;
  }

  end(): void {
    this.leaving = true;
    // An end without the event that says that all was told: whoever follows goes on elsewhere.
    for (const response of this.open) if (response.headersSent) response.end(COME_BACK);
  }
}

function fail(error: unknown, response: Response, next: NextFunction): void {
  const shown = refusal(error);
  if (!(shown instanceof GraphQLError) || response.headersSent) return next(error);
  const { status = 500 } = (shown.extensions.http ?? {}) as { status?: number };
  response.status(status).json({ errors: [shown] });
}
