/** Subscriptions over WebSocket (graphql-ws, the protocol graphql-transport-ws). */
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { GraphQLError } from 'graphql';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, makeServer, type ConnectionInitMessage, type Server } from 'graphql-ws';
import type { Logger } from 'pino';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { isPassing, overloaded } from '../../core/model/errors';
import type { HttpExchange } from '../../exchange/exchange';
import { REQUEST_ID } from '../../exchange/origin';
import { Limiter } from '../../platform/limiter';
import { refusal } from '../handler';
import { PATH, type Params, type Subscriptions } from './subscriptions';

/** WebSockets of nobody at a time: in all, and of one network. */
const ANONYMOUS = { slots: 1_000, slotsPerClient: 100 };
/** https://www.iana.org/assignments/websocket */
const SERVICE_RESTART = 1012;
const TRY_AGAIN_LATER = 1013;
const INTERNAL_ERROR = 1011;
/** Milliseconds between pings; a client that has not answered one by the next is gone. */
const PING_EVERY_MS = 12_000;
const MAX_UNREAD_BYTES = 1024 * 1024;
const LOG_EVERY_MS = 1_000;

export interface SocketOptions {
  /** Bytes of one message, whose sender may be unknown. */
  maxMessage: number;
  /** A new exchange, for a connection that is not an HTTP request like others. */
  open(request: IncomingMessage): HttpExchange;
  networkOf(request: IncomingMessage): string;
  /** Whether there is no time for anything new of a stranger, or of somebody signed in. */
  refuses(isStranger: boolean): boolean;
  log: Logger;
}

interface Connected {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** Ids of subscriptions that are being set up. */
  readonly pending: Set<string>;
  exchange?: () => HttpExchange;
  /** Of an anonymous client that has a slot. */
  network?: string;
}

/** What a browser's cookie may do over a WebSocket it may do with a CSRF token only, as if it came by POST: no same-origin rule holds there. */
function asPost(request: IncomingMessage, parameters: Record<string, unknown> | undefined): IncomingMessage {
  const given = Object.fromEntries(Object.entries(parameters ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const text = (name: string) => (typeof given[name] === 'string' ? { [name]: given[name] } : {});
  return Object.create(request, {
    method: { value: 'POST' },
    headers: { value: { ...request.headers, ...text('authorization'), ...text('x-csrftoken') } },
  }) as IncomingMessage;
}

export class Sockets {
  /** Those of nobody, by their networks; how much may be followed over them is limited where it is read. */
  private readonly anonymous = new Limiter<string>(ANONYMOUS);
  private readonly server: WebSocketServer;
  private readonly protocol: Server<Connected>;
  private lastLogged = -Infinity;

  constructor(
    private readonly subscriptions: Subscriptions,
    private readonly options: SocketOptions,
  ) {
    this.server = new WebSocketServer({
      noServer: true,
      maxPayload: options.maxMessage,
      handleProtocols: (protocols) => protocols.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) && GRAPHQL_TRANSPORT_WS_PROTOCOL,
    });
    this.server.on('headers', (headers, request) => void headers.push(`X-Request-Id: ${String(request.headers[REQUEST_ID])}`));
    this.server.on('connection', (socket, request) => this.serve(socket, request));
    this.protocol = makeServer<NonNullable<ConnectionInitMessage['payload']>, Connected>({
      onConnect: ({ extra, connectionParams }) => this.connect(extra, connectionParams),
      onClose: ({ extra: { network } }) => {
        if (network !== undefined) this.anonymous.leave(network);
      },
      onSubscribe: ({ extra }, id, params) => this.begin(extra, id, { ...params }),
      onOperation: ({ extra }, id) => void extra.pending.delete(id),
      subscribe: subscriptions.follow,
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A client that goes away early is nobody's business.
    socket.on('error', () => socket.destroy());
    if (request.url?.split('?')[0] === PATH)
      return this.server.handleUpgrade(request, socket, head, (client) => this.server.emit('connection', client, request));
    socket.end(`HTTP/1.1 404 ${STATUS_CODES[404]}\r\nX-Request-Id: ${String(request.headers[REQUEST_ID])}\r\nConnection: close\r\n\r\n`);
  }

  get size(): number {
    return this.server.clients.size;
  }

  async end(): Promise<void> {
    for (const client of this.server.clients) client.close(SERVICE_RESTART, 'Service Restart');
    await new Promise<void>((resolve, reject) => this.server.close((error) => (error ? reject(error) : resolve())));
  }

  /** Adapts a WebSocket to graphql-ws, whose own adapter prints a stack trace for each bad frame and does not limit unread replies. */
  private serve(socket: WebSocket, request: IncomingMessage): void {
    let isAlive = true;
    const ping = setInterval(() => {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      if (socket.readyState === socket.OPEN) socket.ping();
    }, PING_EVERY_MS);
    socket.on('pong', () => (isAlive = true));
    // `ws` has closed it with the right code.
    socket.on('error', (error) => this.note(request, error));
    const isReadable = () => {
      if (socket.readyState !== socket.OPEN) return false;
      if (socket.bufferedAmount <= MAX_UNREAD_BYTES) return true;
      socket.terminate();
      return false;
    };
    const send = (data: string) =>
      new Promise<void>((resolve) => {
        // A client that has gone is reported by the close event.
        if (isReadable()) socket.send(data, () => resolve());
        else resolve();
      });
    const failed = (error: unknown) => {
      this.note(request, error);
      socket.close(INTERNAL_ERROR, 'Internal server error');
    };
    const closed = this.protocol.opened(
      {
        protocol: socket.protocol,
        send,
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data: RawData) => {
            if (isReadable()) handle(String(data)).catch(failed);
          }),
      },
      { socket, request, pending: new Set() },
    );
    socket.once('close', (code, reason) => {
      clearInterval(ping);
      Promise.resolve(closed(code, String(reason))).catch((error: unknown) => this.note(request, error));
    });
  }

  /** One line a second at most: a client may connect as often as it likes. */
  private note(request: IncomingMessage, error: unknown): void {
    const now = performance.now();
    if (now - this.lastLogged < LOG_EVERY_MS) return;
    this.lastLogged = now;
    const { code, message } = error as { code?: string; message?: string };
    this.options.log.warn({ id: request.headers[REQUEST_ID], code, reason: message }, 'WebSocket error');
  }

  private async connect(extra: Connected, parameters: Params | undefined): Promise<void> {
    const { open, networkOf } = this.options;
    const request = asPost(extra.request, parameters);
    extra.exchange = () => open(request);
    const close = (code: number, reason: string) => extra.socket.close(code, reason);
    try {
      // Who is nobody may follow the catalogue; wrong credentials are a mistake.
      if (await extra.exchange().authenticate()) return;
      // Its slot would never be returned.
      if (extra.socket.readyState !== extra.socket.OPEN) return;
    } catch (error) {
      if (isPassing(error)) return close(TRY_AGAIN_LATER, 'Try Again Later');
      return close(CloseCode.Unauthorized, 'Unauthorized');
    }
    const network = networkOf(request);
    if (!this.anonymous.tryEnter(network)) return close(CloseCode.TooManyInitialisationRequests, 'Too many connections');
    extra.network = network;
  }

  private async begin(extra: Connected, id: string, params: Params) {
    // graphql-ws loses a subscription that is completed while it is being set up if its id is used again meanwhile.
    if (extra.pending.has(id)) {
      extra.socket.close(CloseCode.SubscriberAlreadyExists, 'Subscriber already exists');
      return [new GraphQLError('The id of the subscription is in use.', { extensions: { code: 'BAD_REQUEST' } })];
    }
    extra.pending.add(id);
    const args = await this.read(extra, params);
    if (Array.isArray(args)) extra.pending.delete(id);
    return args;
  }

  private async read(extra: Connected, params: Params) {
    const exchange = extra.exchange!();
    try {
      // A connection that is open costs nothing; what is asked for over it waits for nobody before it begins.
      if (this.options.refuses(extra.network !== undefined)) throw overloaded();
      await exchange.authenticate();
    } catch (error) {
      return [refusal(error) as GraphQLError];
    }
    return this.subscriptions.read(params, exchange);
  }
}
