/** Parser of JSON bodies of /graphql. Authenticates first, because anonymous clients have a lower size limit than signed-in users. */
import express, { type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import iconv from 'iconv-lite';
import type { Config } from '../platform/config';
import type { RequestContext } from '../request/requestcontext';
import { sendGraphQLError } from '../graphql/httperrors';
import { awaitLargeBodySlot, limitBody } from '../platform/bodylimit';
import { findExceededLimit } from '../platform/jsonlimits';

export function graphqlJsonParser(
  { maxBody, maxJson, maxAnonymousBody }: Config,
  contextOf: (request: IncomingMessage) => RequestContext,
): RequestHandler {
  const maxBytes = Math.min(maxBody, maxJson);
  const userParser = jsonParser(maxBytes);
  const anonymousParser = jsonParser(Math.min(maxBytes, maxAnonymousBody));
  return async (request, response, next) => {
    // Without a JSON body express.json only sets `request.body`, which Apollo requires.
    if (!request.is('json')) return anonymousParser.parse(request, response, next);
    const { authentication } = contextOf(request);
    const { within } = (await authentication.isSignedIn()) ? userParser : anonymousParser;
    await awaitLargeBodySlot(request, response, authentication.sender);
    within(request, response, next);
  };
}

/** `verify` hook of express.json: rejects bodies beyond the structural JSON limits before they are parsed. Decodes like the parser. */
function checkJsonLimits(_request: IncomingMessage, _response: unknown, body: Buffer, encoding: string): void {
  const excess = findExceededLimit(iconv.decode(body, encoding));
  if (excess !== undefined) throw Object.assign(new Error(`The body is refused: ${excess}.`), { status: 400 });
}

// Loads the tables of iconv-lite, which it otherwise does in the first request with a body, and fails if no file descriptor is free then.
iconv.getDecoder('utf-8');

function jsonParser(limit: number): Record<'parse' | 'within', RequestHandler> {
  const parse = express.json({ limit, verify: checkJsonLimits });
  const message = `The body is larger than ${limit} bytes.`;
  return {
    parse,
    within: limitBody(limit, parse, (request, response) => sendGraphQLError(request, response, 413, 'BAD_REQUEST', message)),
  };
}
