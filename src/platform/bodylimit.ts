/**
 * Limits on request bodies. Size: Express's body parsers reject an oversized body only after reading it to its end; `limitBodySize` rejects it at once.
 * Concurrency: each user's large bodies are processed one at a time.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { ConcurrencyLimiter } from './limiter';

/**
 * Wraps a body parser. As soon as the body exceeds `limit` bytes, calls `rejectTooLarge`, which must respond. Use it only for media types that the parser
 * reads: counting the bytes starts the stream, and nothing else would receive them.
 */
export function limitBodySize(
  limit: number,
  parseBody: RequestHandler,
  rejectTooLarge: (request: Request, response: Response) => void,
): RequestHandler {
  return (request, response, next) => {
    if (Number(request.headers['content-length'] ?? 0) > limit)
      return rejectTooLarge(request, response);
    let remainingBytes = limit;
    request.on('data', (chunk: Buffer) => {
      remainingBytes -= chunk.length;
      if (remainingBytes < 0 && !response.headersSent) rejectTooLarge(request, response);
    });
    parseBody(request, response, next);
  };
}

/** Size above which a body counts as large. The large bodies of a user are processed one at a time. */
const LARGE_BODY_BYTES = 256 * 1024;

/** Limiter that runs each user's requests with large bodies one after the other. It identifies users by their id. */
const largeBodyLimiter = new ConcurrencyLimiter<number>({
  slots: Infinity,
  slotsPerClient: 1,
  maxQueuedPerClient: 20,
  maxWaitMs: 30_000,
});

const slotReleaseByRequest = new WeakMap<IncomingMessage, () => void>();

/**
 * Lets the user's next request with a large body start before the response to this one is complete. Call it when the response begins to stream: a
 * subscription may last for hours.
 */
export const releaseLargeBodySlot = (request: IncomingMessage): void =>
  slotReleaseByRequest.get(request)?.();

/**
 * Waits until the user's earlier requests with large bodies are completed or have called `releaseLargeBodySlot`. Throws OverloadedError if the user's
 * queue is full.
 */
export async function awaitLargeBodySlot(
  request: IncomingMessage,
  response: ServerResponse,
  senderUserId: number | undefined,
): Promise<void> {
  const length = request.headers['content-length'];
  if (senderUserId === undefined || (length !== undefined && Number(length) <= LARGE_BODY_BYTES))
    return;
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
