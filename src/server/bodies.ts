/** JSON bodies of /graphql: whose they are is known before they are read, and a stranger's are small. */
import express, { type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../platform/config';
import type { HttpExchange } from '../exchange/exchange';
import { refuse } from '../graphql/handler';

export function jsonBody({ maxBody, maxAnonymousBody }: Config, exchangeOf: (request: IncomingMessage) => HttpExchange): RequestHandler {
  const ofUsers = { limit: maxBody, parse: express.json({ limit: maxBody }) };
  const least = Math.min(maxBody, maxAnonymousBody);
  const ofStrangers = { limit: least, parse: express.json({ limit: least }) };
  return async (request, response, next) => {
    // It says that there is no body, which Apollo wants to know.
    if (!request.is('json')) return ofStrangers.parse(request, response, next);
    const { limit, parse } = (await exchangeOf(request).isKnown()) ? ofUsers : ofStrangers;
    // The parser would read the rest first, however long it is.
    const tooLarge = () => refuse(request, response, 413, 'BAD_REQUEST', `The body is larger than ${limit} bytes.`);
    if (Number(request.headers['content-length'] ?? 0) > limit) return tooLarge();
    let room = limit;
    request.on('data', (chunk: Buffer) => {
      room -= chunk.length;
      if (room < 0 && !response.headersSent) tooLarge();
    });
    parse(request, response, next);
  };
}
