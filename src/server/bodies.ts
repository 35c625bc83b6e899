/** JSON bodies of /graphql: whose they are is known before they are read, and a stranger's are small. */
import express, { type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import type { Config } from '../platform/config';
import type { HttpExchange } from '../exchange/exchange';
import { refuse } from '../graphql/handler';
import { parsedWithin } from '../platform/bodylimit';

export function jsonBody({ maxBody, maxAnonymousBody }: Config, exchangeOf: (request: IncomingMessage) => HttpExchange): RequestHandler {
  const ofUsers = jsonWithin(maxBody);
  const ofStrangers = jsonWithin(Math.min(maxBody, maxAnonymousBody));
  return async (request, response, next) => {
    // It says that there is no body, which Apollo wants to know.
    if (!request.is('json')) return ofStrangers.parse(request, response, next);
    const { within } = (await exchangeOf(request).isKnown()) ? ofUsers : ofStrangers;
    within(request, response, next);
  };
}

function jsonWithin(limit: number): Record<'parse' | 'within', RequestHandler> {
  const parse = express.json({ limit });
  const message = `The body is larger than ${limit} bytes.`;
  return { parse, within: parsedWithin(limit, parse, (request, response) => refuse(request, response, 413, 'BAD_REQUEST', message)) };
}
