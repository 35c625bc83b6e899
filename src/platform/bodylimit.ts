/** Bodies for a parser of express, which reads what is too long to its end before it says so, however long that takes; and large ones in turn. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { Limiter } from './limiter';

/** Only for a body that `parse` reads. `limit` in bytes; `tooLarge` answers as soon as it is known that the body is longer. */
export function parsedWithin(
  limit: number,
  parse: RequestHandler,
  tooLarge: (request: Request, response: Response) => void,
): RequestHandler {
  return (request, response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) return tooLarge(request, response);
    let room = limit;
    request.on('data', (chunk: Buffer) => {
      room -= chunk.length;
      if (room < 0 && !response.headersSent) tooLarge(request, response);
    });
    parse(request, response, next);
  };
}

/** Bytes: of bodies above it one user sends one at a time. */
const LARGE = 256 * 1024;

/** By user. */
const largeBodies = new Limiter<number>({ slots: Infinity, slotsPerClient: 1, maxQueuedPerClient: 20, maxWaitMs: 30_000 });

/** Waits until no other large body of the same user is being read or answered. Throws Overloaded where too many wait. */
export async function largeBodiesInTurn(request: IncomingMessage, response: ServerResponse, sender: number | undefined): Promise<void> {
  const length = request.headers['content-length'];
  if (sender === undefined || (length !== undefined && Number(length) <= LARGE)) return;
  // Without a length it is as long as it likes, unless there is none.
  if (length === undefined && request.headers['transfer-encoding'] === undefined) return;
  await new Promise<void>((begin, refuse) => {
    const answered = () => {
      begin();
      return response.closed ? Promise.resolve() : once(response, 'close').then(() => undefined);
    };
    largeBodies.run(sender, answered).catch(refuse);
  });
}
