/** Parser of the JSON bodies of /graphql. It authenticates the request first, because anonymous clients have a lower size limit than signed-in users. */
import express, { type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import iconv from 'iconv-lite';
import type { Config } from '../platform/config';
import type { RequestContext } from '../request/requestcontext';
import { sendGraphQLError } from '../graphql/httperrors';
import { awaitLargeBodySlot, limitBodySize } from '../platform/bodylimit';
import { describeExceededJsonLimit } from '../platform/jsonlimits';

export function graphqlJsonParser(
  { maxBody, maxJson, maxAnonymousBody }: Config,
  contextOf: (request: IncomingMessage) => RequestContext,
): RequestHandler {
  const maxBytes = Math.min(maxBody, maxJson);
  const signedInUserParser = createJsonParsers(maxBytes);
  const anonymousUserParser = createJsonParsers(Math.min(maxBytes, maxAnonymousBody));
  return async (request, response, next) => {
    // If the body is not JSON, express.json does not read it and only sets `request.body`, which Apollo requires.
    if (!request.is('json')) return anonymousUserParser.parse(request, response, next);
    const { authentication } = contextOf(request);
    const { parseWithinLimit } = (await authentication.isSignedIn()) ? signedInUserParser : anonymousUserParser;
    await awaitLargeBodySlot(request, response, authentication.senderUserId);
    parseWithinLimit(request, response, next);
  };
}

/** Rejects bodies that exceed the structural JSON limits before they are parsed (`verify` hook of express.json). Decodes them as the parser does. */
function checkJsonLimits(_request: IncomingMessage, _response: unknown, body: Buffer, encoding: string): void {
  const exceededLimitMessage = describeExceededJsonLimit(iconv.decode(body, encoding));
  if (exceededLimitMessage !== undefined) throw Object.assign(new Error(`The body is rejected: ${exceededLimitMessage}.`), { status: 400 });
}

// Makes iconv-lite load its tables at startup. In the first request with a body, loading them would fail if no file descriptor were free.
iconv.getDecoder('utf-8');

function createJsonParsers(limit: number): Record<'parse' | 'parseWithinLimit', RequestHandler> {
  const parse = express.json({ limit, verify: checkJsonLimits });
  const message = `The body is larger than ${limit} bytes.`;
  return {
    parse,
    parseWithinLimit: limitBodySize(limit, parse, (request, response) => sendGraphQLError(request, response, 413, 'BAD_REQUEST', message)),
  };
}
