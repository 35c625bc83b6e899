/** Subscriptions over server-sent events (graphql-sse). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GraphQLError, type ExecutionResult } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/express';
import { RETRY_AFTER_SECONDS } from '../../core/model/errors';
import type { RequestContext } from '../../request/requestcontext';
import { withHttpStatus, sendGraphQLError } from '../httperrors';
import type { Subscriptions } from './subscriptions';

const STREAM_PATH = '/stream';
const MEDIA_TYPE = 'text/event-stream';
/** Tells browsers to reconnect after 1,000 ms. */
const RECONNECT_EVENT = 'retry: 1000\n\n';
const JSON_BODY = 'The body must be JSON, with the Content-Type application/json.';

/** Drops the Cache-Control header set by graphql-sse, which would let a browser cache personal events. */
function dropLibraryCacheControl(response: ServerResponse): void {
  const writeHead = response.writeHead.bind(response) as (status: number, ...rest: unknown[]) => ServerResponse;
  response.writeHead = ((status: number, ...rest: unknown[]) => {
    for (const part of rest) if (part && typeof part === 'object') delete (part as Record<string, unknown>)['cache-control'];
    return writeHead(status, ...rest);
  }) as typeof response.writeHead;
}

/** Sends errors as an event, as the graphql-sse protocol requires. */
async function* singleResult(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}

/** Some clients use one URL for all operations and request an event stream by the Accept header alone. */
const requestsEventStream = (path: string, acceptHeader: string): boolean =>
  path === STREAM_PATH || (path === '/' && acceptHeader.includes(MEDIA_TYPE) && !acceptHeader.includes('json'));

export class EventStreamTransport {
  private readonly openResponses = new Set<ServerResponse>();
  private readonly serve: (request: Request, response: Response) => Promise<void>;
  private isShuttingDown = false;

  /** `contextOf` returns the request context of a request in progress. */
  constructor(subscriptions: Subscriptions, contextOf: (request: IncomingMessage) => RequestContext) {
    this.serve = createHandler({
      // Distinct connections mode needs no state between requests, which may reach different instances.
      authenticate: () => null,
      subscribe: subscriptions.follow,
      onSubscribe: async ({ raw }, params) => {
        const requestContext = contextOf(raw);
        await requestContext.authentication.authenticate();
        const args = subscriptions.read({ ...params }, requestContext);
        return Array.isArray(args) ? singleResult({ errors: args }) : args;
      },
    });
  }

  readonly handle: RequestHandler = (request, response, next) => {
    const acceptHeader = request.headers.accept ?? '';
    if (!requestsEventStream(request.path, acceptHeader)) return next();
    // A closed response emits no further `close` event and would stay in `openResponses` forever.
    if (response.closed) return;
    if (this.isShuttingDown) {
      response.setHeader('Retry-After', String(RETRY_AFTER_SECONDS));
      return sendGraphQLError(request, response, 503, 'SERVICE_UNAVAILABLE', 'The server is shutting down. Try again in a moment.');
    }
    // graphql-sse would read a body that our parser skipped for its media type, without a size limit.
    if (request.method === 'POST' && request.body === undefined) return sendGraphQLError(request, response, 415, 'BAD_REQUEST', JSON_BODY);
    // graphql-sse does not parse a list of media types.
    if (acceptHeader.includes(MEDIA_TYPE)) request.headers.accept = MEDIA_TYPE;
    dropLibraryCacheControl(response);
    this.openResponses.add(response);
    response.once('close', () => this.openResponses.delete(response));
    this.serve(request, response).catch((error: unknown) => respondWithError(error, response, next));
  };

  get size(): number {
    return this.openResponses.size;
  }

  end(): void {
    this.isShuttingDown = true;
    // No `complete` event is sent, so that clients reconnect to another instance.
    for (const response of this.openResponses) if (response.headersSent) response.end(RECONNECT_EVENT);
  }
}

function respondWithError(error: unknown, response: Response, next: NextFunction): void {
  const clientError = withHttpStatus(error);
  if (!(clientError instanceof GraphQLError) || response.headersSent) return next(error);
  const { status = 500 } = (clientError.extensions.http ?? {}) as { status?: number };
  response.status(status).json({ errors: [clientError] });
}
