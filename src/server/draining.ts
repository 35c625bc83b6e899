/**
 * The end of a server, in an order in which no client is cut off: who watches over it is told first, so that nothing new is sent here; connections that are
 * kept are ended by the answers to their next requests; then no new ones are taken; and only what is idle then is ended from this side.
 */
import { Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

/** Connections on which nothing came for so long after the last answer are ended. */
const IDLE_MS = 1_000;
const SWEEP_MS = 50;
/** Requests that run have this long to finish, from the beginning. */
const DRAIN_MS = 7_000;
/** So many turns are waited for one in which nobody new came, and that was so short that hardly anybody came since. */
const MOST_TURNS = 500;
const SHORT_MS = 0.5;
/** Before such a turn: a process that has just slept is not the one that a busy machine interrupts next. */
const REST_MS = 2;

export class Draining {
  private begun = false;
  private arrived = 0;

  constructor(private readonly server: HttpServer) {
    server.on('connection', () => (this.arrived += 1));
    // Before anything is answered.
    server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      if (this.begun) response.shouldKeepAlive = false;
    });
  }

  /** Resolves when nobody is connected any more. `notice`: milliseconds for which new connections are taken all the same. */
  async end(notice: number): Promise<void> {
    const { server } = this;
    const deadline = performance.now() + DRAIN_MS;
    this.begun = true;
    const connected = () => new Promise<number>((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
    // Where nobody is, nobody has to notice.
    if (server.listening && (await connected())) await sleep(notice);
    await this.untilNobodyComes();
    const closed = new Promise<void>((resolve) => server.once('close', resolve));
    // That of HTTP would end idle connections at once, into which a request may be on its way.
    NetServer.prototype.close.call(server);
    const sweepAt = performance.now() + IDLE_MS;
    const sweep = setInterval(() => {
      if (performance.now() > deadline) server.closeAllConnections();
      else if (performance.now() > sweepAt) server.closeIdleConnections();
    }, SWEEP_MS);
    // A WebSocket whose client does not say goodbye is nobody's any more.
    await Promise.race([closed, sleep(DRAIN_MS + IDLE_MS, undefined, { ref: false })]);
    clearInterval(sweep);
    // What checks connections now and then is ended by this alone.
    server.close(() => undefined);
  }

  /** Connections that wait to be taken would be reset. Those who come while a turn of the loop answers others wait until the next one. */
  private async untilNobodyComes(): Promise<void> {
    for (let turns = 0; turns < MOST_TURNS; turns += 1) {
      await sleep(REST_MS);
      const [before, began] = [this.arrived, performance.now()];
      await turn();
      if (this.arrived === before && performance.now() - began < SHORT_MS) return;
    }
  }
}
