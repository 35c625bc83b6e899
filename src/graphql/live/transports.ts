/** Creates both transports of subscriptions: server-sent events and WebSocket. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { RequestHandler } from 'express';
import type { Executor } from '../../core/operation/executor';
import type { RequestContext } from '../../request/requestcontext';
import type { TrustedDocuments } from '../trusteddocuments';
import { EventStreamTransport } from './eventstreams';
import { WebSocketTransport, type SocketOptions } from './websockets';
import { Subscriptions } from './subscriptions';

export interface LiveOptions extends SocketOptions {
  executor: Executor;
  trusted: TrustedDocuments;
  /** Returns the request context of a request in progress. */
  known(request: IncomingMessage): RequestContext;
  failed(error: unknown): void;
}

export interface LiveTransports {
  events: RequestHandler;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  end(): void;
  connections(): { events: number; sockets: number };
}

export function createLiveTransports({ executor, trusted, known, failed, ...options }: LiveOptions): LiveTransports {
  const subscriptions = new Subscriptions(executor, trusted);
  const streams = new EventStreamTransport(subscriptions, known);
  const sockets = new WebSocketTransport(subscriptions, options);
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
