/**
 * Connection draining (graceful shutdown) in an order that cuts off no client: readiness already fails, so load balancers send nothing new;
 * keep-alive connections get `Connection: close` with their next response; then the server stops accepting; at last it closes idle connections.
 */
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { stopAccepting } from '../internals/node';

/** Grace period after the server stopped accepting, before it closes idle connections. */
const IDLE_GRACE_MS = 1_000;
const SWEEP_INTERVAL_MS = 50;
/** Time for running requests to finish, from the start of draining. */
const DRAIN_TIMEOUT_MS = 7_000;
const MAX_TURNS = 500;
const SHORT_TURN_MS = 0.5;
/** Sleep before each observed turn: on a busy machine the scheduler is less likely to preempt a process that has just slept. */
const SLEEP_MS = 2;

export class ConnectionDrainer {
  private isDraining = false;
  private acceptedConnections = 0;

  constructor(private readonly server: HttpServer) {
    server.on('connection', () => (this.acceptedConnections += 1));
    // Prepended, because a handler may send its response at once.
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      if (this.isDraining) response.setHeader('Connection', 'close');
    });
  }

  /** Drains; resolves once all connections are closed. `notice`: milliseconds during which new connections are still accepted. */
  async drain(notice: number): Promise<void> {
    const { server } = this;
    const deadline = performance.now() + DRAIN_TIMEOUT_MS;
    this.isDraining = true;
    const countConnections = () => new Promise<number>((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
    // Without a connection there is no load balancer or client that needs the notice.
    if (server.listening && (await countConnections())) await sleep(notice);
    await this.untilNoneArrives();
    const closed = new Promise<void>((resolve) => server.once('close', resolve));
    // A request may already be on its way on an idle connection.
    stopAccepting(server);
    const sweepAt = performance.now() + IDLE_GRACE_MS;
    const sweep = setInterval(() => {
      if (performance.now() > deadline) server.closeAllConnections();
      else if (performance.now() > sweepAt) server.closeIdleConnections();
    }, SWEEP_INTERVAL_MS);
    // The timeout covers WebSockets whose clients never send a close frame: closeAllConnections does not reach them.
    await Promise.race([closed, sleep(DRAIN_TIMEOUT_MS + IDLE_GRACE_MS, undefined, { ref: false })]);
    clearInterval(sweep);
    // http.Server.close is what stops Node's connections-checking timer.
    server.close(() => undefined);
  }

  /**
   * Waits for an event-loop turn without a new connection, so that closing resets none in the accept queue. The turn must be short, because
   * connections that arrive during a turn are accepted in the next one.
   */
  private async untilNoneArrives(): Promise<void> {
    for (let turns = 0; turns < MAX_TURNS; turns += 1) {
      await sleep(SLEEP_MS);
      const [acceptedBefore, startedAt] = [this.acceptedConnections, performance.now()];
      await nextTurn();
      if (this.acceptedConnections === acceptedBefore && performance.now() - startedAt < SHORT_TURN_MS) return;
    }
  }
}
