/** Parser of the JSON bodies of /graphql. It authenticates the request first, because anonymous clients have a lower size limit than signed-in users. */
import express, { type RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import iconv from 'iconv-lite';
import type { Config } from '../platform/config';
import type { RequestContext } from '../request/requestcontext';
import { sendGraphQLError } from '../graphql/httperrors';
import { awaitLargeBodySlot, limitBodySize } from '../platform/bodylimit';
import { charsetOf, isSupportedCharset } from '../platform/charsets';
import { describeExceededJsonLimit } from '../platform/jsonlimits';

export function graphqlJsonParser(
  { maxBody, maxJson, maxAnonymousBody }: Config,
  contextOf: (request: IncomingMessage) => RequestContext,
): RequestHandler {
  const maxBytes = Math.min(maxBody, maxJson);
  const readBodyOfUser = createBodyReader(maxBytes);
  const readAnonymousBody = createBodyReader(Math.min(maxBytes, maxAnonymousBody));
  return async (request, response, next) => {
    // Apollo requires the property even if the body is not JSON.
    request.body = undefined;
    if (!request.is('json')) return next();
    const charset = charsetOf(request.headers['content-type']!.split(';'));
    // JSON is Unicode (RFC 8259, section 8.1).
    if (!/^utf-/i.test(charset) || !isSupportedCharset(charset))
      return next(requestError(415, `unsupported charset "${charset.toUpperCase()}"`));
    const { authentication, awaitTurn } = contextOf(request);
    const readBody = (await authentication.isSignedIn()) ? readBodyOfUser : readAnonymousBody;
    await awaitLargeBodySlot(request, response, authentication.senderUserId);
    const parseBody = async (body: Buffer) => {
      await awaitTurn();
      request.body = parseJson(iconv.decode(body, charset));
    };
    readBody(request, response, (error?: unknown) => {
      if (error || !Buffer.isBuffer(request.body)) return next(error);
      parseBody(request.body).then(() => next(), next);
    });
  };
}

const requestError = (status: number, message: string) =>
  Object.assign(new Error(message), { status });

function createBodyReader(limit: number): RequestHandler {
  const message = `The body is larger than ${limit} bytes.`;
  return limitBodySize(limit, express.raw({ limit, type: 'json' }), (request, response) =>
    sendGraphQLError(request, response, 413, 'BAD_REQUEST', message),
  );
}

function parseJson(text: string): unknown {
  const exceededLimitMessage = describeExceededJsonLimit(text);
  if (exceededLimitMessage !== undefined)
    throw requestError(400, `The body is rejected: ${exceededLimitMessage}.`);
  if (text === '') return {};
  if (!/^\s*[{[]/.test(text)) throw requestError(400, 'The body must be a JSON object.');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw requestError(400, (error as Error).message);
  }
}
