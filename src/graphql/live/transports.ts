/** Creates both transports of subscriptions: server-sent events and WebSocket. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestHandler } from 'express';
import type { Executor } from '../../core/operation/execute';
import type { HttpExchange } from '../../exchange/exchange';
import type { TrustedDocuments } from '../trusted';
import { EventStreams } from './events';
import { Sockets, type SocketOptions } from './sockets';
import { Subscriptions } from './subscriptions';

export interface LiveOptions extends SocketOptions {
  executor: Executor;
  trusted: TrustedDocuments;
  /** Returns the request context of a request in progress. */
  known(request: IncomingMessage): HttpExchange;
  failed(error: unknown): void;
}

export interface Live {
  events: RequestHandler;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  end(): void;
  connections(): { events: number; sockets: number };
}

export function liveTransports({ executor, trusted, known, failed, ...options }: LiveOptions): Live {
  const subscriptions = new Subscriptions(executor, trusted);
  const streams = new EventStreams(subscriptions, known);
  const sockets = new Sockets(subscriptions, options);
  return {
    events: streams.handle,
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
    connections: () => ({ events: streams.size, sockets: sockets.size }),
    end() {
      streams.end();
      sockets.end().catch(failed);
    },
  };
}
