/**
 * Limits on request bodies. Size: `limitBodySize` rejects an oversized body at once, whereas
 * Express's body parsers first read it to its end. Concurrency: each user's large bodies are
 * processed one at a time.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { ConcurrencyLimiter } from './limiter';

/**
 * Limits the size of the bodies that a body parser reads. `rejectTooLarge` must respond. Use it
 * only for media types that the parser reads: counting the bytes starts the stream, so that a later
 * reader would miss its beginning.
 */
export function limitBodySize(
  limit: number,
  parseBody: RequestHandler,
  rejectTooLarge: (request: Request, response: Response) => void,
): RequestHandler {
  return (request, response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      return rejectTooLarge(request, response);
    }

    let remainingBytes = limit;

    request.on('data', (chunk: Buffer) => {
      remainingBytes -= chunk.length;
      if (remainingBytes < 0 && !response.headersSent) rejectTooLarge(request, response);
    });
    parseBody(request, response, next);
  };
}

/** Bodies above this size count as large. */
const LARGE_BODY_BYTES = 256 * 1024;

/** Runs the requests with large bodies of each user (by id) one after the other. */
const largeBodyLimiter = new ConcurrencyLimiter<number>({
  slots: Infinity,
  slotsPerClient: 1,
  maxQueuedPerClient: 20,
  maxWaitMs: 30_000,
});

const slotReleaseByRequest = new WeakMap<IncomingMessage, () => void>();

/**
 * Lets the user's next request with a large body start before the response to this one ends. Call
 * it when a response begins to stream, because a subscription can last for hours.
 */
export const releaseLargeBodySlot = (request: IncomingMessage): void =>
  slotReleaseByRequest.get(request)?.();

/**
 * Waits until the user's earlier requests with large bodies have ended or released their slots.
 * Throws OverloadedError if too many of them wait or the wait takes too long.
 */
export async function awaitLargeBodySlot(
  request: IncomingMessage,
  response: ServerResponse,
  senderUserId: number | undefined,
): Promise<void> {
  const length = request.headers['content-length'];

  if (senderUserId === undefined || (length !== undefined && Number(length) <= LARGE_BODY_BYTES)) {
    return;
  }

  // A chunked body has no declared length and counts as large.
  if (length === undefined && request.headers['transfer-encoding'] === undefined) return;
  await new Promise<void>((resolve, reject) => {
    const holdSlot = () => {
      resolve();
      if (response.closed) return Promise.resolve();

      return new Promise<void>((release) => {
        slotReleaseByRequest.set(request, release);
        response.once('close', release);
      });
    };

    largeBodyLimiter.run(senderUserId, holdSlot).catch(reject);
  });
}
