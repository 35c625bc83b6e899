/** Connections whose clients neither send what they began nor take what they asked for: each holds memory, so each has an end. */
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../platform/config';

/** Longer than that of usual proxies, so that they do not send a request into a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;
/** A whole request, the largest upload over a slow line. */
const REQUEST_FACTOR = 10;

type Timeout = Pick<Config, 'clientTimeout'>;

const checkEvery = (clientTimeout: number) => Math.min(5_000, Math.max(100, clientTimeout / 4));

export const patience = ({ clientTimeout }: Timeout): ServerOptions => ({
  keepAliveTimeout: KEEP_ALIVE_MS,
  headersTimeout: clientTimeout,
  requestTimeout: REQUEST_FACTOR * clientTimeout,
  connectionsCheckingInterval: checkEvery(clientTimeout || Infinity),
});

/** What was written and not taken is thrown away at once; otherwise the operating system would keep it for a while. */
function cutOff(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

const LINGER_MS = 1_000;
const MAX_DROPPED_BYTES = 8 * 1024 * 1024;
/** In bytes: what is dropped before somebody else has a turn. Node would take two megabytes of a socket that is full. */
const TURN = 128 * 1024;

/**
 * A body that was answered before it was read is not read to its end, which could take as long as the client likes. It is read on for a
 * moment, so that the client hears the answer before it notices, and what is left of a short one is not taken for the next request.
 */
export function leaveUnread(request: IncomingMessage, response: ServerResponse): void {
  const { 'transfer-encoding': chunked, 'content-length': length } = request.headers;
  if (chunked === undefined && (length === undefined || length === '0')) return;
  // Before what closes the connection: whatever is unread then takes the answer with it.
  response.prependOnceListener('finish', () => {
    const { socket } = request;
    if (request.complete || socket.destroyed) return;
    const end = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    let isLast = false;
    socket.destroySoon = () => {
      isLast = true;
      socket.end();
    };
    let room = MAX_DROPPED_BYTES;
    let turn = TURN;
    request.on('data', (chunk: Buffer) => {
      room -= chunk.length;
      turn -= chunk.length;
      if (room >= 0 && turn >= 0) return;
      request.pause();
      if (room < 0) return;
      turn = TURN;
      setImmediate(() => request.resume());
    });
    request.once('end', () => {
      clearTimeout(end);
      delete (socket as Partial<Socket>).destroySoon;
      if (isLast) socket.destroySoon();
    });
    request.resume();
  });
}

/** Requests that wait on one connection. Each holds its headers, so a client that pipelines more and reads nothing would fill the memory. */
const MAX_PIPELINED = 100;

/** Begins each pipelined request when the response before it has been taken. */
export function inOrder(listener: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, { last: ServerResponse; waiting: number }>();
  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket);
    if (!queue) {
      queues.set(socket, { last: response, waiting: 0 });
      return void listener(request, response);
    }
    const before = queue.last;
    queue.last = response;
    if (before.writableFinished) return void listener(request, response);
    if (queue.waiting >= MAX_PIPELINED) return cutOff(socket);
    queue.waiting += 1;
    before.once('close', () => {
      queue.waiting -= 1;
      if (!socket.destroyed) listener(request, response);
    });
  };
}

/** Ends connections on which nothing moves in either direction. A WebSocket has an end of its own. */
export function endStalled(server: Server, { clientTimeout }: Timeout): void {
  const last = new WeakMap<Socket, ServerResponse>();
  server.on('request', ({ socket }, response) => void last.set(socket, response));
  const stalled = new WeakMap<Socket, number>();
  server.setTimeout(clientTimeout, (socket: Socket) => {
    const now = performance.now();
    if (socket.writableLength === 0) {
      // It waits for us, or for the end of its body, which has a time of its own.
      if (last.get(socket)?.writableFinished !== false) socket.destroy();
    } else if (now - (stalled.get(socket) ?? -Infinity) < 1.5 * clientTimeout) cutOff(socket);
    else {
      // Over a slow line the operating system asks for more now and then only, so the second time in a row counts.
      stalled.set(socket, now);
      socket.setTimeout(clientTimeout);
    }
  });
}
