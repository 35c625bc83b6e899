/**
 * Connection draining (graceful shutdown) in an order that interrupts no client: `/health/ready` already fails, so that load balancers send no new requests;
 * keep-alive connections get `Connection: close` with their next response; then the server stops accepting connections; finally it closes idle ones.
 */
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { stopAcceptingConnections } from '../internals/node';

/** Time during a shutdown between the moment when the server stops accepting connections and the closing of idle connections. */
const IDLE_CONNECTION_GRACE_MS = 1_000;
const CLOSE_INTERVAL_MS = 50;
const DRAIN_TIMEOUT_MS = 7_000;
/** Maximum number of event-loop turns to wait for one in which no new connection arrives. */
const MAX_AWAITED_EVENT_LOOP_TURNS = 500;
/** Maximum duration of an event-loop turn that counts as one without new connections: those that arrive in a longer turn are accepted in the next. */
const MAX_SHORT_EVENT_LOOP_TURN_MS = 0.5;
/** Sleep before each observed turn: on a busy machine, the scheduler is less likely to interrupt a process that has just slept. */
const SLEEP_BEFORE_EVENT_LOOP_TURN_MS = 2;

/** Identifies a connection among the open ones of a server. The raw socket and the TLS socket of a connection have the same key. */
const connectionKey = ({ remoteAddress, remotePort }: Socket): string =>
  `${remoteAddress} ${remotePort}`;

export class ConnectionDrainer {
  private isDraining = false;
  /** Connections whose TLS handshake has not completed. The server's methods for closing connections do not close these. */
  private readonly handshakingSockets = new Map<string, Socket>();
  private acceptedConnectionCount = 0;

  constructor(private readonly server: HttpServer) {
    server.on('connection', () => (this.acceptedConnectionCount += 1));
    if (server instanceof HttpsServer) this.trackHandshakes(server);
    // This `request` listener is prepended to run before the actual request handler, which may send its response immediately.
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      if (this.isDraining) response.setHeader('Connection', 'close');
    });
  }

  private trackHandshakes(server: HttpsServer): void {
    server.on('connection', (socket: Socket) => {
      const key = connectionKey(socket);
      this.handshakingSockets.set(key, socket);
      socket.once('close', () => this.handshakingSockets.delete(key));
    });
    server.on('secureConnection', (socket) =>
      this.handshakingSockets.delete(connectionKey(socket)),
    );
  }

  /** Drains the server and resolves when all connections are closed. `noticePeriodMs`: milliseconds during which the server still accepts new ones. */
  async drain(noticePeriodMs: number): Promise<void> {
    const { server } = this;
    const deadline = performance.now() + DRAIN_TIMEOUT_MS;
    this.isDraining = true;
    const countConnections = () =>
      new Promise<number>((resolve) =>
        server.getConnections((error, count) => resolve(error ? 0 : count)),
      );
    // Gives load balancers and clients time to react to the drain, unless no connection is open.
    if (server.listening && (await countConnections())) await sleep(noticePeriodMs);
    await this.waitForEventLoopTurnWithoutConnection();
    const serverClosed = new Promise<void>((resolve) => server.once('close', resolve));
    // Keeps idle connections open for now, because a client may already have sent a request on one.
    stopAcceptingConnections(server);
    const idleClosingStartsAt = performance.now() + IDLE_CONNECTION_GRACE_MS;
    const closingTimer = setInterval(() => {
      if (performance.now() <= idleClosingStartsAt) return;
      if (performance.now() > deadline) server.closeAllConnections();
      else server.closeIdleConnections();
      for (const socket of this.handshakingSockets.values()) socket.destroy();
    }, CLOSE_INTERVAL_MS);
    // The wait has a timeout because of WebSockets whose clients never send a close frame: `closeAllConnections` does not close WebSockets.
    await Promise.race([
      serverClosed,
      sleep(DRAIN_TIMEOUT_MS + IDLE_CONNECTION_GRACE_MS, undefined, { ref: false }),
    ]);
    clearInterval(closingTimer);
    // Stops the timer with which Node checks the timeouts of connections.
    server.close(() => undefined);
  }

  /**
   * Waits for an event-loop turn without a new connection. Then the kernel's accept queue is empty, and no connection in it is reset when the server stops
   * accepting. Only short turns count, because connections that arrive during a turn are accepted in the next one.
   */
  private async waitForEventLoopTurnWithoutConnection(): Promise<void> {
    for (let observedTurns = 0; observedTurns < MAX_AWAITED_EVENT_LOOP_TURNS; observedTurns += 1) {
      await sleep(SLEEP_BEFORE_EVENT_LOOP_TURN_MS);
      const [acceptedBefore, startedAt] = [this.acceptedConnectionCount, performance.now()];
      await nextTurn();
      if (
        this.acceptedConnectionCount === acceptedBefore &&
        performance.now() - startedAt < MAX_SHORT_EVENT_LOOP_TURN_MS
      )
        return;
    }
  }
}
