/** From when the port is taken until there is somebody to answer: requests wait for that, though not for long. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Origin } from '../exchange/origin';
import { inOrder, leaveUnread } from './connections';
import type { Site } from './site';

/** A restart takes less, so that nobody notices it. What takes longer (a first start, a migration, a database that is slow) may take minutes. */
const OPENS_WITHIN_MS = 3_000;

/**
 * To be awaited between parts of the start that keep the loop for long: who asks how the process is, has waited long enough or orders something
 * is heard first.
 */
export const others = () => sleep(1);

/** What a refusal needs takes as long to load as all the rest, and is loaded with it. */
const refusals = async () => ({
  ...(await import('./failures.ts')),
  ...(await import('./turnedaway.ts')),
  ...(await import('../core/model/errors.ts')),
  ...(await import('../platform/cors.ts')),
});

/** Answers for a server whose site is being opened, but for what asks how the process is. Call what it returns when the site is there. */
export function answerOnceOpen(server: Server, origin: Origin, log: Logger): (site: Site) => void {
  let open!: (site: Site) => void;
  const opened = new Promise<Site>((resolve) => (open = resolve));
  const until = performance.now() + OPENS_WITHIN_MS;
  /** The site; nothing once that has taken too long. */
  const soon = async (): Promise<Site | undefined> => {
    const left = until - performance.now();
    // Nothing is kept of those that come in the minutes after that.
    if (left <= 0) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, left);
      void opened.then((site) => {
        clearTimeout(timer);
        resolve(site);
      });
    });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const id = origin.identify(request);
    const say = (status: number, body: object) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', 'X-Request-Id': id })
        .end(JSON.stringify(body));
    if (request.url === '/health/live') return void say(200, { status: 'ok' });
    if (request.url === '/health/ready') return void say(503, { status: 'unavailable', reason: 'the server starts' });
    const site = await soon();
    if (site) return void site.app.listener(request, response);
    const { Failures, noteTurnedAway, starting, corsOf } = await refusals();
    noteTurnedAway(request, 'starting', origin, log);
    response.setHeader('X-Request-Id', id);
    leaveUnread(request, response);
    new Failures(log).turnAway(request, response, starting(), corsOf(request));
  };
  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const gone = () => socket.destroy();
    socket.once('error', gone);
    origin.identify(request);
    const site = await soon();
    if (!site) {
      const { noteTurnedAway, closeSocket } = await refusals();
      noteTurnedAway(request, 'starting', origin, log);
      return closeSocket(request, socket);
    }
    socket.off('error', gone);
    site.app.upgrade(request, socket, head);
  };
  const waiting: RequestListener = (request, response) => void answer(request, response);
  const upgrading = (request: IncomingMessage, socket: Duplex, head: Buffer) => void upgrade(request, socket, head);
  server.on('request', waiting).on('upgrade', upgrading);
  return (site) => {
    server.off('request', waiting).off('upgrade', upgrading);
    server.on('request', inOrder(site.app.listener)).on('upgrade', site.app.upgrade).on('connection', site.app.connected);
    open(site);
  };
}
