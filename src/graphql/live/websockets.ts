/** Subscriptions over WebSocket: the protocol graphql-transport-ws, by the library graphql-ws. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GraphQLError } from 'graphql';
import {
  CloseCode,
  GRAPHQL_TRANSPORT_WS_PROTOCOL,
  makeServer,
  type ConnectionInitMessage,
  type Server,
} from 'graphql-ws';
import type { Logger } from 'pino';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { isTransientError, overloadedError } from '../../core/model/errors';
import type { RequestContext } from '../../request/requestcontext';
import { REQUEST_ID_HEADER, type RequestHead } from '../../request/forwardedheaders';
import { rejectWebSocketHandshake } from '../../request/handshakerejection';
import { awaitTurn } from '../../platform/fairturns';
import { ConcurrencyLimiter } from '../../platform/limiter';
import { withHttpStatus } from '../httperrors';
import { Outbox } from './outbox';
import { GRAPHQL_PATH, type SubscriptionParams, type Subscriptions } from './subscriptions';

const ANONYMOUS_CONNECTION_LIMITS = { slots: 1_000, slotsPerClient: 100 };
/** WebSocket close codes (https://www.iana.org/assignments/websocket). */
const SERVICE_RESTART_CLOSE_CODE = 1012;
const TRY_AGAIN_LATER_CLOSE_CODE = 1013;
const INTERNAL_ERROR_CLOSE_CODE = 1011;
/** Interval of WebSocket pings. A client is disconnected if it has neither answered a ping nor received a message since the previous one. */
const PING_INTERVAL_MS = 12_000;
/** Maximum number of messages, pings and pongs from a client between two pings of the server, far more than any client needs. */
const MAX_MESSAGES_PER_PING_INTERVAL = 1_000;
/** Maximum number of frames of one message. */
const MAX_FRAGMENTS = 256;
/** Expected size of the chunks in which a message arrives. Packets have more than twice as many bytes. */
const MIN_CHUNK_BYTES = 512;
const MIN_LOG_INTERVAL_MS = 1_000;

export interface WebSocketOptions {
  maxMessageBytes: number;
  createContext(request: RequestHead): RequestContext;
  clientNetworkOf(request: RequestHead): string;
  /** Whether new subscriptions of anonymous or signed-in clients are rejected because of overload. */
  shouldRejectSubscriptions(isAnonymous: boolean): boolean;
  log: Logger;
}

interface ClientConnection {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** Ids of the client's subscriptions, each from the start of its setup until the subscription has ended completely. */
  readonly subscriptionIds: Set<string>;
  createContext?: () => RequestContext;
  readonly network: string;
  /** Id of a signed-in user. */
  userId: number | undefined;
  /** Whether the client is anonymous and its connection counts towards the connection limit. */
  isAnonymous?: boolean;
}

/** Treats a WebSocket handshake as a POST, so that cookies need a CSRF token: the same-origin policy does not cover WebSockets. */
function asPostRequest(
  { url, headers, socket }: IncomingMessage,
  parameters: Record<string, unknown> | undefined,
): RequestHead {
  const valueByLowerCaseName = Object.fromEntries(
    Object.entries(parameters ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const headerFrom = (name: string) =>
    typeof valueByLowerCaseName[name] === 'string' ? { [name]: valueByLowerCaseName[name] } : {};
  return {
    method: 'POST',
    url,
    headers: { ...headers, ...headerFrom('authorization'), ...headerFrom('x-csrftoken') },
    socket,
  };
}

export class WebSocketTransport {
  /** Limits the anonymous connections, in total and per client network. The number of subscriptions is limited in `src/core/changes`. */
  private readonly anonymousConnectionLimiter = new ConcurrencyLimiter<string>(
    ANONYMOUS_CONNECTION_LIMITS,
  );
  private readonly server: WebSocketServer;
  private readonly graphqlWsServer: Server<ClientConnection>;
  private lastLogTime = -Infinity;

  constructor(
    private readonly subscriptions: Subscriptions,
    private readonly options: WebSocketOptions,
  ) {
    this.server = new WebSocketServer({
      noServer: true,
      maxPayload: options.maxMessageBytes,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: Math.ceil(options.maxMessageBytes / MIN_CHUNK_BYTES),
      handleProtocols: (protocols) =>
        protocols.has(GRAPHQL_TRANSPORT_WS_PROTOCOL) && GRAPHQL_TRANSPORT_WS_PROTOCOL,
    });
    this.server.on(
      'headers',
      (headers, request) =>
        void headers.push(`X-Request-Id: ${String(request.headers[REQUEST_ID_HEADER])}`),
    );
    this.server.on('connection', (socket, request) => this.serve(socket, request));
    this.graphqlWsServer = makeServer<
      NonNullable<ConnectionInitMessage['payload']>,
      ClientConnection
    >({
      onConnect: ({ extra: connection, connectionParams }) =>
        this.onConnect(connection, connectionParams),
      onClose: ({ extra: { isAnonymous, network } }) => {
        if (isAnonymous) this.anonymousConnectionLimiter.release(network);
      },
      onSubscribe: ({ extra: connection }, id, params) =>
        this.startSubscription(connection, id, { ...params }),
      // Deletes the id of a completed subscription after `onComplete` has returned, because graphql-ws itself releases the id only then.
      onComplete: ({ extra: connection }, id) =>
        void setImmediate(() => connection.subscriptionIds.delete(id)),
      subscribe: subscriptions.subscribe,
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // If a client disconnects during the WebSocket handshake, its socket is closed and no error is reported.
    socket.on('error', () => socket.destroy());
    if (request.url?.split('?')[0] === GRAPHQL_PATH)
      return this.server.handleUpgrade(request, socket, head, (client) =>
        this.server.emit('connection', client, request),
      );
    rejectWebSocketHandshake(request, socket, '404 Not Found');
  }

  get connectionCount(): number {
    return this.server.clients.size;
  }

  async endAllConnections(): Promise<void> {
    for (const client of this.server.clients)
      client.close(SERVICE_RESTART_CLOSE_CODE, 'Service Restart');
    await new Promise<void>((resolve, reject) =>
      this.server.close((error) => (error ? reject(error) : resolve())),
    );
  }

  /**
   * Adapts a WebSocket to graphql-ws, whose own adapter prints a stack trace for each bad frame and does not limit unread replies. While too many
   * replies are unsent, no message from the client is read.
   */
  private serve(socket: WebSocket, request: IncomingMessage): void {
    let isAlive = true;
    let messageCount = 0;
    const pingTimer = setInterval(() => {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      messageCount = 0;
      if (socket.readyState === socket.OPEN) socket.ping();
    }, PING_INTERVAL_MS);
    const countMessage = () => {
      if ((messageCount += 1) > MAX_MESSAGES_PER_PING_INTERVAL) socket.terminate();
    };
    socket.on('ping', countMessage).on('pong', countMessage);
    socket.on('pong', () => (isAlive = true));
    // Only logs the error, because `ws` has already closed the connection with a matching close code.
    socket.on('error', (error) => this.logWarning(request, error));
    const connection: ClientConnection = {
      socket,
      request,
      subscriptionIds: new Set(),
      network: this.options.clientNetworkOf(request),
      userId: undefined,
    };
    const outbox = new Outbox(socket, () => (isAlive = true));
    let precedingMessagePromise = Promise.resolve();
    const closeWithError = (error: unknown) => {
      this.logWarning(request, error);
      socket.close(INTERNAL_ERROR_CLOSE_CODE, 'Internal server error');
    };
    const notifyClosed = this.graphqlWsServer.opened(
      {
        protocol: socket.protocol,
        send: (data) => outbox.send(data),
        close: (code, reason) => outbox.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data: RawData) => {
            countMessage();
            if (socket.readyState !== socket.OPEN) return;
            // Messages that wait for their turn must not pile up.
            socket.pause();
            precedingMessagePromise = precedingMessagePromise.then(async () => {
              await outbox.waitUntilNotFull();
              await awaitTurn(connection);
              socket.resume();
              if (socket.readyState === socket.OPEN) handle(String(data)).catch(closeWithError);
            });
          }),
      },
      connection,
    );
    socket.once('close', (code, reason) => {
      clearInterval(pingTimer);
      Promise.resolve(notifyClosed(code, String(reason))).catch((error: unknown) =>
        this.logWarning(request, error),
      );
    });
  }

  /** Logs at most one line per second, because clients can reconnect as often as they like. */
  private logWarning(request: IncomingMessage, error: unknown): void {
    const now = performance.now();
    if (now - this.lastLogTime < MIN_LOG_INTERVAL_MS) return;
    this.lastLogTime = now;
    const { code, message } = error as { code?: string; message?: string };
    this.options.log.warn(
      { id: request.headers[REQUEST_ID_HEADER], code, reason: message },
      'WebSocket error',
    );
  }

  private async onConnect(
    connection: ClientConnection,
    parameters: SubscriptionParams | undefined,
  ): Promise<void> {
    const request = asPostRequest(connection.request, parameters);
    connection.createContext = () => this.options.createContext(request);
    const close = (code: number, reason: string) => connection.socket.close(code, reason);
    try {
      // Anonymous clients may subscribe to catalogue changes; invalid credentials close the connection.
      const { authentication } = connection.createContext();
      if (await authentication.authenticate())
        return void (connection.userId = authentication.senderUserId);
      // A connection that has closed in the meantime takes no slot, because nothing would release it.
      if (connection.socket.readyState !== connection.socket.OPEN) return;
    } catch (error) {
      if (isTransientError(error)) return close(TRY_AGAIN_LATER_CLOSE_CODE, 'Try Again Later');
      return close(CloseCode.Unauthorized, 'Unauthorized');
    }
    if (!this.anonymousConnectionLimiter.tryAcquire(connection.network))
      return close(CloseCode.TooManyInitialisationRequests, 'Too many connections');
    connection.isAnonymous = true;
  }

  private async startSubscription(
    connection: ClientConnection,
    id: string,
    params: SubscriptionParams,
  ) {
    // Closes the connection if a new subscription has the id of one that has not ended completely: graphql-ws would lose a new one while the other is
    // being set up or ended.
    if (connection.subscriptionIds.has(id)) {
      connection.socket.close(CloseCode.SubscriberAlreadyExists, 'Subscriber already exists');
      // For a duplicate subscription id, this promise never resolves: otherwise, graphql-ws would forget the earlier subscription with this id and not end
      // it when the connection closes.
      return new Promise<never>(() => undefined);
    }
    connection.subscriptionIds.add(id);
    const executionArgs = await this.parseSubscription(connection, params);
    if (Array.isArray(executionArgs)) connection.subscriptionIds.delete(id);
    return executionArgs;
  }

  private async parseSubscription(connection: ClientConnection, params: SubscriptionParams) {
    const requestContext = connection.createContext!();
    try {
      // Load shedding is applied per subscription: open connections are cheap, and subscriptions pass no other admission control.
      if (this.options.shouldRejectSubscriptions(connection.isAnonymous === true))
        throw overloadedError();
      await requestContext.authentication.authenticate();
    } catch (error) {
      return [withHttpStatus(error) as GraphQLError];
    }
    return this.subscriptions.parse(params, requestContext);
  }
}
