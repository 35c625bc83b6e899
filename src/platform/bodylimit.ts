/** Bodies for a parser of express, which reads what is too long to its end before it says so, however long that takes; and large ones in turn. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { Turns } from './turns';

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
const PATIENCE = { waiting: 20, ms: 30_000 };

const large = new Map<number, Turns>();

/** Waits until no other large body of the same user is being read or answered. Throws TooBusy where too many wait. */
export async function largeBodiesInTurn(request: IncomingMessage, response: ServerResponse, sender: number | undefined): Promise<void> {
  const length = request.headers['content-length'];
  if (sender === undefined || (length !== undefined && Number(length) <= LARGE)) return;
  // Without a length it is as long as it likes, unless there is none.
  if (length === undefined && request.headers['transfer-encoding'] === undefined) return;
  const turns = large.get(sender) ?? new Turns(1, PATIENCE);
  large.set(sender, turns);
  await new Promise<void>((begin, refuse) => {
    const answered = () => {
      begin();
      return response.closed ? Promise.resolve() : once(response, 'close').then(() => undefined);
    };
    turns
      .run(answered)
      .catch(refuse)
      .finally(() => turns.isIdle && large.delete(sender));
  });
}
