/** Timeouts and limits for connections. Connections whose clients stop sending or reading are closed, because each one occupies memory. */
import type {
  IncomingMessage,
  RequestListener,
  Server,
  ServerOptions,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import onHeaders from 'on-headers';
import { deferSocketClose } from '../internals/node';
import type { Config } from '../platform/config';

/** Keep-alive timeout. It exceeds the idle timeout of common proxies (60 s), so that they do not reuse a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;
/** Maximum duration of a whole request, as a multiple of CLIENT_TIMEOUT. It suffices for the largest upload over a slow connection. */
const REQUEST_TIMEOUT_FACTOR = 10;

type TimeoutConfig = Pick<Config, 'clientTimeout'>;

const connectionsCheckingIntervalMs = (clientTimeout: number) =>
  Math.min(5_000, Math.max(100, clientTimeout / 4));

export const serverTimeouts = ({ clientTimeout }: TimeoutConfig): ServerOptions => ({
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: clientTimeout,
  requestTimeout: REQUEST_TIMEOUT_FACTOR * clientTimeout,
  connectionsCheckingInterval: connectionsCheckingIntervalMs(clientTimeout || Infinity),
});

/** Resets the connection (RST). After a normal close, the kernel would keep unsent data in memory for some time. */
function resetConnection(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Maximum length of a body that is assumed to arrive within the linger timeout. */
const MAX_SHORT_BODY_BYTES = 64 * 1024;
const LINGER_TIMEOUT_MS = 1_000;
const MAX_DISCARDED_BYTES = 8 * 1024 * 1024;
/** Number of discarded bytes after which reading yields to the event loop. Otherwise, Node reads up to 2 MB from a full socket in one turn. */
const DISCARDED_BYTES_PER_EVENT_LOOP_TURN = 128 * 1024;

/**
 * Lingering close (https://nginx.org/en/docs/http/ngx_http_core_module.html#lingering_close) after a response that was sent before the request
 * body was read completely. Discards the rest of the body within limits of time and size, so that the client receives the response instead of a
 * reset, and so that the rest of a short body is not parsed as the next request.
 */
export function discardUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const { 'transfer-encoding': transferEncoding, 'content-length': contentLength } =
    request.headers;
  if (transferEncoding === undefined && (contentLength === undefined || contentLength === '0'))
    return;
  // A response that precedes the end of a long body has `Connection: close`, so that the client sends no further request on the connection.
  if (transferEncoding !== undefined || Number(contentLength) > MAX_SHORT_BODY_BYTES)
    onHeaders(response, () => {
      if (!request.complete) response.setHeader('Connection', 'close');
    });
  // This `finish` listener is prepended to run before Node's own, which closes the connection. Closing it with part of the request body unread would make
  // TCP reset the connection, and the client could lose the response.
  response.prependOnceListener('finish', () => {
    const { socket } = request;
    if (request.complete || socket.destroyed) return;
    const lingerTimer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT_MS).unref();
    const closeSocket = deferSocketClose(socket);
    let remainingBytes = MAX_DISCARDED_BYTES;
    let bytesUntilYield = DISCARDED_BYTES_PER_EVENT_LOOP_TURN;
    request.on('data', (chunk: Buffer) => {
      remainingBytes -= chunk.length;
      bytesUntilYield -= chunk.length;
      if (remainingBytes >= 0 && bytesUntilYield >= 0) return;
      request.pause();
      if (remainingBytes < 0) return;
      bytesUntilYield = DISCARDED_BYTES_PER_EVENT_LOOP_TURN;
      setImmediate(() => request.resume());
    });
    request.once('end', () => {
      clearTimeout(lingerTimer);
      closeSocket();
    });
    request.resume();
  });
}

/** Maximum number of queued requests per connection. A client could otherwise fill memory with their headers by pipelining without reading responses. */
const MAX_PIPELINED_REQUESTS = 100;

/** Serializes pipelined requests: each one starts when the previous response of its connection has been sent completely. */
export function serializePipelinedRequests(listener: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, { lastResponse: ServerResponse; queuedCount: number }>();
  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket);
    if (!queue) {
      queues.set(socket, { lastResponse: response, queuedCount: 0 });
      return void listener(request, response);
    }
    const previousResponse = queue.lastResponse;
    queue.lastResponse = response;
    if (previousResponse.writableFinished) return void listener(request, response);
    if (queue.queuedCount >= MAX_PIPELINED_REQUESTS) return resetConnection(socket);
    queue.queuedCount += 1;
    previousResponse.once('close', () => {
      queue.queuedCount -= 1;
      if (!socket.destroyed) listener(request, response);
    });
  };
}

/**
 * Closes connections that have no traffic in either direction for CLIENT_TIMEOUT. WebSockets are excluded, because they have their own timeout. A connection
 * that waits for a response has REQUEST_TIMEOUT_FACTOR times as long. A limit is needed there, too: after a bug (an error in a promise that is not awaited)
 * the response may never come.
 */
export function closeStalledConnections(server: Server, { clientTimeout }: TimeoutConfig): void {
  const lastRequests = new WeakMap<Socket, { response: ServerResponse; receivedAt: number }>();
  server.on(
    'request',
    ({ socket }, response) =>
      void lastRequests.set(socket, { response, receivedAt: performance.now() }),
  );
  const stalledSinceBySocket = new WeakMap<Socket, number>();
  server.setTimeout(clientTimeout, (socket: Socket) => {
    const now = performance.now();
    if (socket.writableLength === 0) {
      const lastRequest = lastRequests.get(socket);
      const isResponseLost =
        lastRequest &&
        !lastRequest.response.headersSent &&
        now - lastRequest.receivedAt > REQUEST_TIMEOUT_FACTOR * clientTimeout;
      // A connection whose latest response is unfinished is not closed yet: its client is waiting for the server, or is still sending its request body,
      // for which `requestTimeout` applies.
      if (lastRequest?.response.writableFinished !== false || isResponseLost) socket.destroy();
      else socket.setTimeout(clientTimeout);
    } else if (now - (stalledSinceBySocket.get(socket) ?? -Infinity) < 1.5 * clientTimeout)
      resetConnection(socket);
    else {
      // On a slow line, the kernel empties its send buffer in bursts, so the connection is reset only after a second consecutive timeout.
      stalledSinceBySocket.set(socket, now);
      socket.setTimeout(clientTimeout);
    }
  });
}
