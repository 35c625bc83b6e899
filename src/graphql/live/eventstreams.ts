/** Subscriptions over server-sent events (graphql-sse, https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GraphQLError, type ExecutionResult } from 'graphql';
import { createHandler, type Handler } from 'graphql-sse';
import { RETRY_AFTER_SECONDS } from '../../core/model/errors';
import type { RequestContext } from '../../request/requestcontext';
import { releaseLargeBodySlot } from '../../platform/bodylimit';
import { DRY_RUN_HEADER } from '../../contract/messages';
import { withHttpStatus, sendGraphQLError } from '../httperrors';
import { trustedDocumentsMiddleware, type TrustedDocuments } from '../trusteddocuments';
import type { SubscriptionArgs, Subscriptions } from './subscriptions';

const STREAM_PATH = '/stream';
const EVENT_STREAM_MEDIA_TYPE = 'text/event-stream';
/** Server-sent event after which browsers reconnect 1,000 ms after the end of the stream. */
const RECONNECT_EVENT = 'retry: 1000\n\n';
/** First characters of an event with a result. Other messages are pings and the end of the subscription. */
const NEXT_EVENT_PREFIX = 'event: next';
const JSON_REQUIRED_MESSAGE = 'The body must be JSON with the Content-Type application/json.';

/** Yields one result with errors: the graphql-sse protocol requires that errors are sent as an event. */
async function* yieldSingleResult(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}

/** Whether a request is for an event stream. Some clients use one URL for all operations, so that only the Accept header differs. */
const isEventStreamRequest = (path: string, acceptHeader: string): boolean =>
  path === STREAM_PATH ||
  (path === '/' &&
    acceptHeader.includes(EVENT_STREAM_MEDIA_TYPE) &&
    !acceptHeader.includes('json'));

const hasQuery = ({ method, url, body }: Request): boolean =>
  method === 'GET'
    ? Boolean(new URLSearchParams(url.split('?')[1]).get('query'))
    : Boolean((body as { query?: unknown } | null)?.query);

/**
 * Backpressure of an event stream: the next event is produced when the previous one has been written. graphql-sse itself queues an unlimited number
 * of events for a slow client.
 */
class Backpressure {
  private isEventUnwritten = false;
  private isClosed = false;
  private resumeEvents?: () => void;

  /** Waits until the previous event has been written, or the connection is closed. */
  async waitForPreviousEvent(): Promise<void> {
    if (this.isEventUnwritten && !this.isClosed)
      await new Promise<void>((resolve) => (this.resumeEvents = resolve));
    this.isEventUnwritten = true;
  }

  markEventWritten(): void {
    this.isEventUnwritten = false;
    this.resumeEvents?.();
  }

  close(): void {
    this.isClosed = true;
    this.resumeEvents?.();
  }
}

export class EventStreamTransport {
  private readonly openResponses = new Set<ServerResponse>();
  private readonly graphqlSseHandler: Handler<Request>;
  private readonly backpressureByRequest = new WeakMap<IncomingMessage, Backpressure>();
  private isShuttingDown = false;

  /** Middleware that resolves the ids of trusted documents, because graphql-sse passes on only the query. */
  private readonly resolveTrustedDocument: RequestHandler;

  constructor(
    subscriptions: Subscriptions,
    trustedDocuments: TrustedDocuments,
    contextOf: (request: IncomingMessage) => RequestContext,
  ) {
    this.resolveTrustedDocument = trustedDocumentsMiddleware(trustedDocuments);
    this.graphqlSseHandler = createHandler<Request, unknown, SubscriptionArgs['contextValue']>({
      // Selects the "distinct connections mode" of graphql-sse. It needs no state between requests, which may reach different instances.
      authenticate: () => null,
      subscribe: subscriptions.subscribe,
      onNext: (_context, { raw }) => this.backpressureByRequest.get(raw)!.waitForPreviousEvent(),
      onSubscribe: async ({ raw }, params) => {
        const requestContext = contextOf(raw);
        await requestContext.authentication.authenticate();
        const executionArgs = await subscriptions.parse(
          { ...params },
          requestContext,
          raw.headers[DRY_RUN_HEADER],
        );
        return Array.isArray(executionArgs)
          ? yieldSingleResult({ errors: executionArgs })
          : executionArgs;
      },
    });
  }

  readonly handle: RequestHandler = (request, response, next) => {
    const acceptHeader = request.headers.accept ?? '';
    if (!isEventStreamRequest(request.path, acceptHeader)) return next();
    // A closed response emits no further `close` event and would stay in `openResponses` forever.
    if (response.closed) return;
    if (this.isShuttingDown) {
      response.setHeader('Retry-After', String(RETRY_AFTER_SECONDS));
      return sendGraphQLError(
        request,
        response,
        503,
        'SERVICE_UNAVAILABLE',
        'The server is shutting down. Try again in a moment.',
      );
    }
    // Rejects a POST whose media type is not JSON: otherwise, graphql-sse would read its body without a size limit.
    if (request.method === 'POST' && request.body === undefined)
      return sendGraphQLError(request, response, 415, 'BAD_REQUEST', JSON_REQUIRED_MESSAGE);
    this.openResponses.add(response);
    response.once('close', () => this.openResponses.delete(response));
    const serve = () =>
      void this.serve(request, response, acceptHeader).catch((error: unknown) =>
        respondWithError(error, response, next),
      );
    // Clients of event streams do not read the body of a response with a status other than 200, so errors of a document are sent as an event.
    if (hasQuery(request)) serve();
    else void this.resolveTrustedDocument(request, response, serve);
  };

  private async serve(request: Request, response: Response, acceptHeader: string): Promise<void> {
    const backpressure = new Backpressure();
    this.backpressureByRequest.set(request, backpressure);
    response.once('close', () => backpressure.close());
    // If the Accept header is a list with the media type of event streams, it is reduced to this type, which graphql-sse does not recognize in a list.
    const effectiveAcceptHeader = acceptHeader.includes(EVENT_STREAM_MEDIA_TYPE)
      ? EVENT_STREAM_MEDIA_TYPE
      : acceptHeader;
    const { method, url, headers } = request;
    const get = (name: string) =>
      name === 'accept' ? effectiveAcceptHeader : headers[name]?.toString();
    const [body, { status, statusText, headers: libraryHeaders }] = await this.graphqlSseHandler({
      method,
      url,
      headers: { get },
      body: request.body as Record<string, unknown> | null,
      raw: request,
      context: undefined,
    });
    releaseLargeBodySlot(request);
    // The Cache-Control header of graphql-sse would let a browser cache personal events.
    const { 'cache-control': _, ...responseHeaders } = libraryHeaders ?? {};
    response.writeHead(status, statusText, responseHeaders);
    if (!body || typeof body === 'string') return void response.end(body);
    await sendEvents(body, response, backpressure);
  }

  get openStreamCount(): number {
    return this.openResponses.size;
  }

  endAllStreams(): void {
    this.isShuttingDown = true;
    // At a shutdown, open streams end without a `complete` event, so that clients reconnect to another instance.
    for (const response of this.openResponses)
      if (response.headersSent) response.end(RECONNECT_EVENT);
  }
}

async function sendEvents(
  events: AsyncGenerator<string, void, undefined>,
  response: ServerResponse,
  backpressure: Backpressure,
): Promise<void> {
  // When the connection closes, ends the subscription even while it waits for an event. Errors are ignored here, because the loop over the events throws
  // them too.
  response.once('close', () => void events.return().catch(() => undefined));
  for await (const event of events) {
    if (!response.writable) return;
    await new Promise<void>((resolve, reject) =>
      response.write(event, (error) => (error ? reject(error) : resolve())),
    );
    if (event.startsWith(NEXT_EVENT_PREFIX)) backpressure.markEventWritten();
  }
  response.end();
}

function respondWithError(error: unknown, response: Response, next: NextFunction): void {
  const clientError = withHttpStatus(error);
  if (!(clientError instanceof GraphQLError) || response.headersSent) return next(error);
  const { status = 500 } = (clientError.extensions.http ?? {}) as { status?: number };
  response.status(status).json({ errors: [clientError] });
}
