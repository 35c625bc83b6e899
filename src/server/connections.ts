/**
 * Timeouts and limits of connections. Clients that stop sending or reading are disconnected,
 * because each connection occupies memory.
 */
import type {
  IncomingMessage,
  RequestListener,
  Server,
  ServerOptions,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import onHeaders from 'on-headers';
import type { Config } from '../shared/config';
import type { CorsPolicy } from '../shared/cors';

/**
 * Keep-alive timeout. It exceeds the idle timeout of common proxies (60 s), which could otherwise
 * reuse a connection that is being closed.
 */
const KEEP_ALIVE_MS = 65_000;

/**
 * Maximum duration of a request, as a multiple of CLIENT_TIMEOUT. It suffices for the largest
 * upload over a slow connection.
 */
const REQUEST_TIMEOUT_FACTOR = 10;

type TimeoutConfig = Pick<Config, 'clientTimeout'>;

export const serverTimeouts = ({ clientTimeout }: TimeoutConfig): ServerOptions => ({
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: clientTimeout,
  requestTimeout: REQUEST_TIMEOUT_FACTOR * clientTimeout,
  connectionsCheckingInterval: 1_000,
});

/**
 * Closes connections that are idle while a response is sent (CLIENT_TIMEOUT) or awaited
 * (REQUEST_TIMEOUT_FACTOR times that). After a bug, such as a promise that never settles, the
 * response may never come.
 */
export function limitResponseTime(server: Server, { clientTimeout }: TimeoutConfig): void {
  server.on('request', (_request, response) => {
    response.setTimeout(REQUEST_TIMEOUT_FACTOR * clientTimeout);
    onHeaders(response, () => response.setTimeout(clientTimeout));
  });
}

/**
 * After an early response, the time for the client to send the rest of the body and to read the
 * response.
 */
const DISCARD_TIMEOUT_MS = 1_000;

/**
 * Discards the rest of a body whose request was answered early. Otherwise, Node would close the
 * connection with unread data, TCP would reset it, and the client could lose the response.
 */
export function discardUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const {
    'transfer-encoding': transferEncoding,
    'content-length': contentLength,
    connection = '',
  } = request.headers;

  if (transferEncoding === undefined && !Number(contentLength)) return;

  onHeaders(response, () => {
    if (request.complete) return;
    response.setHeader('Connection', 'keep-alive');

    response.once('finish', () => {
      const { socket } = request;
      const timer = setTimeout(() => socket.destroy(), DISCARD_TIMEOUT_MS).unref();
      const isPersistent = request.httpVersion === '1.1' && !/close/i.test(connection);
      const endDiscarding = () => (isPersistent ? clearTimeout(timer) : socket.end());

      // The body may have ended while the response was sent.
      if (request.readableEnded) endDiscarding();
      else request.once('end', endDiscarding).resume();
    });
  });
}

/**
 * Maximum number of queued requests per connection. A client that pipelines without reading
 * responses could otherwise fill memory.
 */
const MAX_PIPELINED_REQUESTS = 100;

/**
 * Property of a socket that contains its queue. A WeakMap would be slower: minor garbage
 * collections treat its values as roots and would move everything of a request to the old
 * generation.
 */
const QUEUE_KEY = Symbol('request queue');

type SocketWithQueue = Socket & {
  [QUEUE_KEY]?: { lastResponse?: ServerResponse; queuedCount: number };
};

/**
 * Runs the pipelined requests of a connection one after the other. Node alone starts all at once
 * and keeps their responses in memory to order them.
 */
export function serializePipelinedRequests(listener: RequestListener): RequestListener {
  return (request, response) => {
    const socket: SocketWithQueue = request.socket;
    const queue = (socket[QUEUE_KEY] ??= { queuedCount: 0 });
    const previousResponse = queue.lastResponse;

    queue.lastResponse = response;
    // Otherwise, an idle connection would keep its last request and response in memory.
    response.once('close', () => {
      if (queue.lastResponse === response) queue.lastResponse = undefined;
    });

    if (!previousResponse || previousResponse.writableFinished) {
      return void listener(request, response);
    }

    if (queue.queuedCount >= MAX_PIPELINED_REQUESTS) return void socket.destroy();
    queue.queuedCount += 1;
    previousResponse.once('close', () => {
      queue.queuedCount -= 1;
      if (!socket.destroyed) listener(request, response);
    });
  };
}

/** Statuses with which Node.js answers requests that it cannot parse, by error code. */
const STATUS_BY_PARSER_ERROR: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

const INVALID_URL_BODY = JSON.stringify({
  detail:
    'The URL contains characters that must be percent-encoded as UTF-8, such as "ü" as "%C3%BC". With curl, send parameters with -G --data-urlencode "term=ü".',
});

type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer };

/**
 * Answers a request that cannot be parsed like Node.js does by default. Adds CORS headers, so that
 * pages of other origins can read the status, and says what is wrong with a URL that contains bytes
 * outside of ASCII.
 */
export const createParserErrorListener =
  (cors: CorsPolicy) =>
  (error: ParserError, socket: Duplex): void => {
    const { lastResponse, queuedCount = 0 } = (socket as SocketWithQueue)[QUEUE_KEY] ?? {};
    const isResponseBegun = lastResponse?.headersSent || queuedCount > 0;
    const code = error.code ?? '';

    // Other errors are those of the connection or of its TLS handshake.
    if (!/^(?:HPE|ERR_HTTP)_/.test(code) || !socket.writable || isResponseBegun) {
      return void socket.destroy();
    }

    const status = STATUS_BY_PARSER_ERROR[code] ?? '400 Bad Request';
    const body = code === 'HPE_INVALID_URL' ? INVALID_URL_BODY : '';
    const headers = {
      Connection: 'close',
      ...(body && { 'Content-Type': 'application/json' }),
      'Content-Length': Buffer.byteLength(body),
      ...cors.headersForUnparsedRequest(error.rawPacket),
    };
    const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);

    socket.end(`HTTP/1.1 ${status}\r\n${headerLines.join('')}\r\n${body}`, () => socket.destroy());
  };
