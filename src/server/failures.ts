/** What is answered where a request came to nothing: there is no time for it now, it could not be read, or it failed. */
import type { ErrorRequestHandler } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { isPassing, ofDatabase, type KnownError } from '../core/model/errors';
import { REQUEST_ID } from '../exchange/origin';
import { refuse } from '../graphql/handler';

type Headers = Record<string, string>;

const isGraphQL = (url: string) => url.startsWith('/graphql');

export class Failures {
  constructor(private readonly log: Logger) {}

  /** The server has no time for it now: nothing was done. */
  turnAway(request: IncomingMessage, response: ServerResponse, { message, extensions }: KnownError, further: Headers = {}): void {
    const { code, retryAfter } = extensions;
    if (retryAfter !== undefined) response.setHeader('Retry-After', String(retryAfter));
    this.refuse(request, response, 503, String(code), message, further);
  }

  /** Before anybody knows what is asked for. */
  refuse(request: IncomingMessage, response: ServerResponse, status: number, code: string, message: string, further: Headers = {}): void {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (isGraphQL(request.url!)) return refuse(request, response, status, code, message);
    const body = JSON.stringify({ detail: message });
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...further }).end(body);
  }

  failed(error: unknown, request: IncomingMessage, response: ServerResponse, further: Headers = {}): void {
    // The client went away, or took too long, while its body was read.
    if (request.destroyed && !request.complete) return void response.destroy();
    const id = String(request.headers[REQUEST_ID]);
    if (response.headersSent) {
      this.log.error({ id, err: error }, 'an answer could not be finished');
      return void response.destroy();
    }
    const refused = isPassing(error) ? (error as KnownError) : ofDatabase(error, this.log, id);
    if (refused) return this.turnAway(request, response, refused, further);
    this.log.error({ id, err: error }, 'unexpected error');
    const body = JSON.stringify({ detail: `Internal server error (id ${id}).` });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'X-Content-Type-Options': 'nosniff' };
    response.writeHead(500, { ...headers, ...further }).end(body);
  }

  /** What express or one of its handlers could not do. */
  readonly ofExpress: ErrorRequestHandler = (error, request, response, _next) => {
    const { status, message } = error as { status: number; message: string };
    if (!(status >= 400 && status < 500)) return this.failed(error, request, response);
    // A body that is too long is refused before its parser says so.
    if (response.headersSent) return void (response.writableEnded || response.destroy());
    if (isGraphQL(request.path)) return refuse(request, response, status, 'BAD_REQUEST', message);
    response.status(status).json({ detail: message });
  };
}
