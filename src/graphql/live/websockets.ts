/** Subscriptions over WebSocket with the protocol graphql-transport-ws (library graphql-ws). */
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
import { isTransientError, overloadedError } from '../../engine/declare/errors';
import type { RequestContext } from '../../request/request-context';
import { REQUEST_ID_HEADER, type RequestHead } from '../../request/forwarded-headers';
import { rejectWebSocketHandshake } from '../../request/handshake-rejection';
import { awaitTurn } from '../../shared/fair-turns';
import { ConcurrencyLimiter } from '../../shared/limiter';
import { withHttpStatus } from '../http-errors';
import { GRAPHQL_PATH, type SubscriptionParams, type Subscriptions } from './subscriptions';

const MAX_UNSENT_CHARACTERS = 1024 * 1024;

/**
 * Send queue of one WebSocket client. `send` resolves when a message has reached the network, so
 * that a subscription produces one event at a time.
 */
class Outbox {
  private lastSend: Promise<void> = Promise.resolve();
  private unsentCharacterCount = 0;

  constructor(
    private readonly socket: WebSocket,
    private readonly onMessageSent: () => void,
  ) {}

  /**
   * Queues a message. Resolves when it has been sent or the client has disconnected; only the
   * `close` event tells the two apart.
   */
  send(message: string): Promise<void> {
    this.unsentCharacterCount += message.length;
    return (this.lastSend = this.lastSend.then(() => this.sendNow(message)));
  }

  private async sendNow(message: string): Promise<void> {
    const { socket } = this;

    if (socket.readyState === socket.OPEN) {
      const error = await new Promise<Error | undefined>((resolve) =>
        socket.send(message, resolve),
      );

      if (!error) this.onMessageSent();
    }

    this.unsentCharacterCount -= message.length;
  }

  /** Closes the connection after sending all queued messages. */
  close(code?: number, reason?: string): void {
    void this.lastSend.then(() => this.socket.close(code, reason));
  }

  /**
   * Whether the queue exceeds its limit. Meanwhile, no further message of the client should be
   * handled.
   */
  private get isFull(): boolean {
    return this.unsentCharacterCount > MAX_UNSENT_CHARACTERS;
  }

  /** Waits until the queue is below its limit or the client has disconnected. */
  async waitUntilNotFull(): Promise<void> {
    while (this.isFull) await this.lastSend;
  }
}

const ANONYMOUS_CONNECTION_LIMITS = { slots: 1_000, slotsPerClient: 100 };

/** WebSocket close codes (https://www.iana.org/assignments/websocket). */
const SERVICE_RESTART_CLOSE_CODE = 1012;
const TRY_AGAIN_LATER_CLOSE_CODE = 1013;
const INTERNAL_ERROR_CLOSE_CODE = 1011;

/**
 * Interval of WebSocket pings. A client is disconnected if nothing was exchanged with it since the
 * previous ping.
 */
const PING_INTERVAL_MS = 12_000;

/**
 * Maximum total of messages, pings and pongs from a client per ping interval, far more than any
 * client needs.
 */
const MAX_MESSAGES_PER_PING_INTERVAL = 1_000;

const MAX_FRAGMENTS = 256;

/**
 * Minimum expected size of the chunks in which a message arrives. Network packets are more than
 * twice as large.
 */
const MIN_CHUNK_BYTES = 512;
const MIN_LOG_INTERVAL_MS = 1_000;

/** URL of the GraphQL endpoint, also with the trailing slash that HTTP requests may have. */
const GRAPHQL_URL_PATTERN = new RegExp(`^${GRAPHQL_PATH}/?(?:\\?|$)`);

interface WebSocketOptions {
  maxMessageBytes: number;
  createContext(request: RequestHead): RequestContext;
  clientNetworkOf(request: RequestHead): string;

  /** Whether overload rejects new subscriptions of anonymous or signed-in clients. */
  shouldRejectSubscriptions(isAnonymous: boolean): boolean;
  log: Logger;
}

interface ClientConnection {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;

  /**
   * Ids of the client's subscriptions, from the start of their setup until graphql-ws has forgotten
   * them.
   */
  readonly subscriptionIds: Set<string>;
  createContext?: () => RequestContext;
  readonly network: string;

  userId: number | undefined;

  /** Whether the connection counts towards the limit of anonymous connections. */
  isAnonymous?: boolean;
}

/**
 * Treats a WebSocket handshake as a POST, so that cookies need a CSRF token: the same-origin policy
 * does not cover WebSockets.
 */
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
  /**
   * Limits anonymous connections in total and per client network. Subscriptions are limited in
   * `src/engine/changes`.
   */
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
      // Deletes the id of a completed subscription only after `onComplete` has returned, because
      // graphql-ws also forgets the subscription only then.
      onComplete: ({ extra: connection }, id) =>
        void setImmediate(() => connection.subscriptionIds.delete(id)),
      subscribe: subscriptions.subscribe,
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A client may disconnect during the handshake, which is no error.
    socket.on('error', () => socket.destroy());

    if (GRAPHQL_URL_PATTERN.test(request.url!)) {
      return this.server.handleUpgrade(request, socket, head, (client) =>
        this.server.emit('connection', client, request),
      );
    }

    rejectWebSocketHandshake(request, socket, '404 Not Found');
  }

  get connectionCount(): number {
    return this.server.clients.size;
  }

  async endAllConnections(): Promise<void> {
    for (const client of this.server.clients) {
      client.close(SERVICE_RESTART_CLOSE_CODE, 'Service Restart');
    }

    await new Promise<void>((resolve, reject) =>
      this.server.close((error) => (error ? reject(error) : resolve())),
    );
  }

  /**
   * Adapts a WebSocket to graphql-ws. Unlike graphql-ws's own adapter, it stops reading while too
   * many replies are unsent, and prints no stack trace for a bad frame.
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
      messageCount += 1;
      if (messageCount > MAX_MESSAGES_PER_PING_INTERVAL) socket.terminate();
    };

    socket.on('ping', countMessage).on('pong', countMessage);
    socket.on('pong', () => (isAlive = true));
    // The error is only logged, because `ws` has already closed the connection with a matching
    // close code.
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
            // Reads no further messages while this one waits for its turn, so that they do not pile
            // up.
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
      // Anonymous clients may subscribe to catalogue changes; invalid credentials close the
      // connection.
      const { authentication } = connection.createContext();

      if (await authentication.authenticate()) {
        return void (connection.userId = authentication.senderUserId);
      }

      // A connection that has closed in the meantime takes no slot, because nothing would release
      // it.
      if (connection.socket.readyState !== connection.socket.OPEN) return;
    } catch (error) {
      if (isTransientError(error)) return close(TRY_AGAIN_LATER_CLOSE_CODE, 'Try Again Later');

      return close(CloseCode.Unauthorized, 'Unauthorized');
    }

    if (!this.anonymousConnectionLimiter.tryAcquire(connection.network)) {
      return close(CloseCode.TooManyInitialisationRequests, 'Too many connections');
    }

    connection.isAnonymous = true;
  }

  private async startSubscription(
    connection: ClientConnection,
    id: string,
    params: SubscriptionParams,
  ) {
    // A client may not reuse the id of a subscription that has not ended completely: graphql-ws
    // would lose track of the new one.
    if (connection.subscriptionIds.has(id)) {
      connection.socket.close(CloseCode.SubscriberAlreadyExists, 'Subscriber already exists');
      // This promise never resolves. Otherwise, graphql-ws would forget the earlier subscription
      // and not end it when the connection closes.
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
      // Load shedding applies per subscription: open connections are cheap, and subscriptions pass
      // no other admission control.
      if (this.options.shouldRejectSubscriptions(connection.isAnonymous === true)) {
        throw overloadedError();
      }

      await requestContext.authentication.authenticate();
    } catch (error) {
      return [withHttpStatus(error) as GraphQLError];
    }

    return this.subscriptions.parse(params, requestContext);
  }
}
