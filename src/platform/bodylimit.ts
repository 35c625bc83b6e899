/** Bodies for a parser of express, which reads what is too long to its end before it says so, however long that takes. */
import type { Request, RequestHandler, Response } from 'express';

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
