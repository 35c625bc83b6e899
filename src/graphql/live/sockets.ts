/** Subscriptions over WebSocket (graphql-ws, the protocol graphql-transport-ws). */
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, type ConnectionInitMessage, type Disposable } from 'graphql-ws';
import { useServer, type Extra } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { isPassing, overloaded } from '../../core/model/errors';
import type { HttpExchange } from '../../exchange/exchange';
import { REQUEST_ID } from '../../exchange/origin';
import { refusal } from '../handler';
import { PATH, type Params, type Subscriptions } from './subscriptions';

/** WebSockets of nobody at a time: in all, and of one network. */
const MAX_ANONYMOUS = 1_000;
const MAX_OF_NETWORK = 100;
/** https://www.iana.org/assignments/websocket */
const SERVICE_RESTART = 1012;
const TRY_AGAIN_LATER = 1013;

export interface SocketOptions {
  /** Bytes of one message, whose sender may be unknown. */
  maxMessage: number;
  /** A new exchange, for a connection that is not an HTTP request like others. */
  open(request: IncomingMessage): HttpExchange;
  /** From where it came. */
  networkOf(request: IncomingMessage): string;
  /** Whether there is no time for anything new of a stranger, or of somebody signed in. */
  refuses(isStranger: boolean): boolean;
}

/** What is kept of a connection. */
type Connected = Extra & { exchange?: () => HttpExchange };

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
  private readonly anonymous = new Map<unknown, string>();
  private readonly server: WebSocketServer;
  private readonly served: Disposable;

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
    this.served = useServer<NonNullable<ConnectionInitMessage['payload']>, Pick<Connected, 'exchange'>>(
      {
        onConnect: ({ extra, connectionParams }) => this.connect(extra, connectionParams),
        onClose: ({ extra }) => void this.anonymous.delete(extra.socket),
        onSubscribe: ({ extra }, _id, params) => this.begin(extra, { ...params }),
        subscribe: subscriptions.follow,
      },
      this.server,
    );
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
    await this.served.dispose();
  }

  private async connect(extra: Connected, parameters: Params | undefined): Promise<void> {
    const { open, networkOf } = this.options;
    const request = asPost(extra.request, parameters);
    extra.exchange = () => open(request);
    const close = (code: number, reason: string) => extra.socket.close(code, reason);
    try {
      // Who is nobody may follow the catalogue; wrong credentials are a mistake.
      if (await extra.exchange().authenticate()) return;
    } catch (error) {
      if (isPassing(error)) return close(TRY_AGAIN_LATER, 'Try Again Later');
      return close(CloseCode.Unauthorized, 'Unauthorized');
    }
    if (!this.take(extra.socket, networkOf(request))) close(CloseCode.TooManyInitialisationRequests, 'Too many connections');
  }

  /** Whether one more of nobody may stay. */
  private take(connection: unknown, network: string): boolean {
    if (this.anonymous.size >= MAX_ANONYMOUS) return false;
    let others = 0;
    for (const other of this.anonymous.values()) if (other === network) others += 1;
    if (others >= MAX_OF_NETWORK) return false;
    this.anonymous.set(connection, network);
    return true;
  }

  private async begin(extra: Connected, params: Params) {
    const exchange = extra.exchange!();
    try {
      // A connection that is open costs nothing; what is asked for over it waits for nobody before it begins.
      if (this.options.refuses(this.anonymous.has(extra.socket))) throw overloaded();
      await exchange.authenticate();
    } catch (error) {
      return [refusal(error) as GraphQLError];
    }
    return this.subscriptions.read(params, exchange);
  }
}
