/** The answer on the wire: its headers and its text. */
import type { ServerResponse } from 'node:http';
import { corsOf } from '../platform/cors';
import { tagOfText } from './preconditions';
import type { Request } from './request';

const VARY = 'Accept, Accept-Language, Cookie, Origin';

/** Nobody keeps what another one might be shown. */
export const PRIVATE = 'private, no-store';

/** What is everybody's may be kept, and is asked for again each time: mostly nothing has changed, and nothing is sent. */
export const ofEverybody = (text: string): Record<string, string> => ({ ETag: tagOfText(text), 'Cache-Control': 'public, no-cache' });

/** Whether somebody else might be answered otherwise. */
const isPersonal = ({ message: { headers }, route }: Request): boolean =>
  headers.authorization !== undefined ||
  headers.cookie !== undefined ||
  route?.kind === 'login' ||
  (route?.endpoint?.resource.owned ?? false);

type Headers = Record<string, string>;

export const headersOf = (request: Request, ...further: (Headers | undefined)[]): Headers =>
  Object.assign(
    {
      Vary: request.route?.kind === 'root' ? 'Accept' : VARY,
      'Content-Language': 'en',
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
    },
    request.route && { Allow: request.route.allow.join(', ') },
    isPersonal(request) && { 'Cache-Control': PRIVATE },
    corsOf(request.message),
    ...further,
  );

/** A short text is sent in one piece with the headers; a long one is turned into bytes once, and not copied to stand behind them. */
const LONG = 1 << 16;

/** Without a text there is no type either. */
export function respond(response: ServerResponse, status: number, headers: Headers, type: string, text: string | undefined): void {
  if (text === undefined) return void response.writeHead(status, { ...headers, 'Content-Length': '0' }).end();
  const body = text.length > LONG ? Buffer.from(text) : text;
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}
