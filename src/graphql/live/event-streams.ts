/**
 * Subscriptions over server-sent events (graphql-sse,
 * https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { GraphQLError, type ExecutionResult } from 'graphql';
import { createHandler, type Handler } from 'graphql-sse';
import { RETRY_AFTER_SECONDS } from '../../engine/declare/errors';
import type { RequestContext } from '../../request/request-context';
import { releaseLargeBodySlot } from '../../shared/body-limit';
import { DRY_RUN_HEADER } from '../../shared/messages';
import { UNBUFFERED_HEADERS } from '../../shared/proxy-buffering';
import { withHttpStatus, sendGraphQLError } from '../http-errors';
import { trustedDocumentsMiddleware, type TrustedDocuments } from '../trusted-documents';
import type { SubscriptionArgs, Subscriptions } from './subscriptions';

/** Path of event streams below the GraphQL endpoint. */
export const STREAM_PATH = '/stream';
const EVENT_STREAM_MEDIA_TYPE = 'text/event-stream';

/** Server-sent event that makes browsers reconnect 1,000 ms after the end of the stream. */
const RECONNECT_EVENT = 'retry: 1000\n\n';

/**
 * Start of an event that contains a result. Other events are pings and the end of the subscription.
 */
const NEXT_EVENT_PREFIX = 'event: next';
const JSON_REQUIRED_MESSAGE = 'The body must be JSON with the Content-Type application/json.';

/** Yields a result with errors as the only event, as the graphql-sse protocol requires. */
async function* yieldSingleResult(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}

/**
 * Whether a request is for an event stream. Clients that use one URL for all operations request a
 * stream by the Accept header.
 */
const isEventStreamRequest = (path: string, acceptHeader: string): boolean =>
  path === STREAM_PATH ||
  (path === '/' &&
    acceptHeader.includes(EVENT_STREAM_MEDIA_TYPE) &&
    !acceptHeader.includes('json'));

const hasQuery = ({ method, url, body }: Request): boolean => {
  if (method === 'GET') return Boolean(new URLSearchParams(url.split('?')[1]).get('query'));

  return Boolean((body as { query?: unknown } | null)?.query);
};

/**
 * Backpressure of an event stream: an event is produced only after the previous event has been
 * written. graphql-sse alone would queue events for a slow client without limit.
 */
class Backpressure {
  private isEventUnwritten = false;
  private isClosed = false;
  private resumeEvents?: () => void;

  /** Waits until the previous event has been written, or the connection is closed. */
  async waitForPreviousEvent(): Promise<void> {
    if (this.isEventUnwritten && !this.isClosed) {
      await new Promise<void>((resolve) => (this.resumeEvents = resolve));
    }

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

  /** Resolves the ids of trusted documents, because graphql-sse passes on only the query. */
  private readonly resolveTrustedDocument: RequestHandler;

  constructor(
    subscriptions: Subscriptions,
    trustedDocuments: TrustedDocuments,
    contextOf: (request: IncomingMessage) => RequestContext,
  ) {
    this.resolveTrustedDocument = trustedDocumentsMiddleware(trustedDocuments);
    this.graphqlSseHandler = createHandler<Request, unknown, SubscriptionArgs['contextValue']>({
      // Selects graphql-sse's "distinct connections mode", which keeps no state between requests,
      // because requests may reach different instances.
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

        if (Array.isArray(executionArgs)) return yieldSingleResult({ errors: executionArgs });

        return executionArgs;
      },
    });
  }

  readonly handle: RequestHandler = (request, response, next) => {
    const acceptHeader = request.headers.accept ?? '';

    if (request.method === 'HEAD' || !isEventStreamRequest(request.path, acceptHeader)) {
      return next();
    }

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

    // A POST without JSON is rejected, because graphql-sse would read its body without a size
    // limit.
    if (request.method === 'POST' && request.body === undefined) {
      return sendGraphQLError(request, response, 415, 'BAD_REQUEST', JSON_REQUIRED_MESSAGE);
    }

    this.openResponses.add(response);
    response.once('close', () => this.openResponses.delete(response));
    const serve = () =>
      void this.serve(request, response, acceptHeader).catch((error: unknown) =>
        respondWithError(error, response, next),
      );

    // Errors of a document are sent as an event, because clients do not read the body of a response
    // with a status other than 200.
    if (hasQuery(request)) serve();
    else void this.resolveTrustedDocument(request, response, serve);
  };

  private async serve(request: Request, response: Response, acceptHeader: string): Promise<void> {
    const backpressure = new Backpressure();

    this.backpressureByRequest.set(request, backpressure);
    response.once('close', () => backpressure.close());
    // graphql-sse does not recognize `text/event-stream` in a list of media types, so this media
    // type replaces the list.
    const acceptsEvents = acceptHeader.includes(EVENT_STREAM_MEDIA_TYPE);
    const effectiveAcceptHeader = acceptsEvents ? EVENT_STREAM_MEDIA_TYPE : acceptHeader;
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
    // The Cache-Control header of graphql-sse would let a browser cache personal events, and its
    // Content-Encoding is not a registered coding.
    const {
      'cache-control': _cacheControl,
      'content-encoding': _contentEncoding,
      ...responseHeaders
    } = libraryHeaders ?? {};

    if (!body || typeof body === 'string') {
      return void response.writeHead(status, statusText, responseHeaders).end(body);
    }

    response.writeHead(status, statusText, { ...responseHeaders, ...UNBUFFERED_HEADERS });
    await sendEvents(body, response, backpressure);
  }

  get openStreamCount(): number {
    return this.openResponses.size;
  }

  endAllStreams(): void {
    this.isShuttingDown = true;

    // Streams end without a `complete` event, so that clients reconnect to another instance.
    for (const response of this.openResponses) {
      if (response.headersSent) response.end(RECONNECT_EVENT);
    }
  }
}

async function sendEvents(
  events: AsyncGenerator<string, void, undefined>,
  response: ServerResponse,
  backpressure: Backpressure,
): Promise<void> {
  // A closed connection ends the subscription even while it waits for an event. Errors are ignored
  // here, because the loop below throws them as well.
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
