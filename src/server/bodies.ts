/** JSON bodies of /graphql: whose they are is known before they are read, and a stranger's are small. */
import express, { type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import iconv from 'iconv-lite';
import type { Config } from '../platform/config';
import type { HttpExchange } from '../exchange/exchange';
import { refuse } from '../graphql/handler';
import { largeBodiesInTurn, parsedWithin } from '../platform/bodylimit';
import { excessOf } from '../platform/jsonlimits';

export function jsonBody(
  { maxBody, maxJson, maxAnonymousBody }: Config,
  exchangeOf: (request: IncomingMessage) => HttpExchange,
): RequestHandler {
  const most = Math.min(maxBody, maxJson);
  const ofUsers = jsonWithin(most);
  const ofStrangers = jsonWithin(Math.min(most, maxAnonymousBody));
  return async (request, response, next) => {
    // It says that there is no body, which Apollo wants to know.
    if (!request.is('json')) return ofStrangers.parse(request, response, next);
    const exchange = exchangeOf(request);
    const { within } = (await exchange.isKnown()) ? ofUsers : ofStrangers;
    await largeBodiesInTurn(request, response, exchange.sender);
    within(request, response, next);
  };
}

/** Before the body is parsed; read as its parser does. */
function notTooMuch(_request: IncomingMessage, _response: unknown, body: Buffer, encoding: string): void {
  const excess = excessOf(iconv.decode(body, encoding));
  if (excess !== undefined) throw Object.assign(new Error(`The body is refused: ${excess}.`), { status: 400 });
}

function jsonWithin(limit: number): Record<'parse' | 'within', RequestHandler> {
  const parse = express.json({ limit, verify: notTooMuch });
  const message = `The body is larger than ${limit} bytes.`;
  return { parse, within: parsedWithin(limit, parse, (request, response) => refuse(request, response, 413, 'BAD_REQUEST', message)) };
}
