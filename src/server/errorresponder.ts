/** Error responses outside of the GraphQL and REST handlers: overload (503), invalid requests (4xx) and unexpected errors (500). */
import type { ErrorRequestHandler } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { isTransientError, toClientError, type ClientError } from '../core/model/errors';
import { isProcessResourceError } from '../database/errors';
import { REQUEST_ID_HEADER } from '../request/forwardedheaders';
import { sendGraphQLError } from '../graphql/httperrors';
import { prefersHtml, renderFailurePage } from '../pages/failurepage';

/** Sends the error as an HTML page if the client prefers HTML. Returns whether it was sent. */
function sendFailurePage(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
): boolean {
  if (!prefersHtml(request.headers.accept, request.url)) return false;
  const retryAfter = response.getHeader('Retry-After')?.toString();
  const { htmlText, headers } = renderFailurePage({
    status,
    message,
    retryAfterSeconds: retryAfter,
    request,
  });
  response
    .writeHead(status, { 'Content-Length': Buffer.byteLength(htmlText), ...headers })
    .end(htmlText);
  return true;
}

const isGraphQLPath = (url: string) => url.startsWith('/graphql');

export class ErrorResponder {
  constructor(private readonly log: Logger) {}

  /** Responds with 503 to a request that has not been executed, and with Retry-After if the error contains one. */
  sendUnavailable(
    request: IncomingMessage,
    response: ServerResponse,
    { message, extensions }: ClientError,
  ): void {
    const { code, ...details } = extensions;
    if (details.retryAfter !== undefined)
      response.setHeader('Retry-After', String(details.retryAfter));
    this.sendError(request, response, 503, String(code), message, details);
  }

  /** Responds with an error, in the format of the API to which the path belongs. `furtherExtensions`: further extensions of a GraphQL error. */
  sendError(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    code: string,
    message: string,
    furtherExtensions?: Readonly<Record<string, unknown>>,
  ): void {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (sendFailurePage(request, response, status, message)) return;
    if (isGraphQLPath(request.url!))
      return sendGraphQLError(request, response, status, code, message, furtherExtensions);
    const body = JSON.stringify({ detail: message });
    response
      .writeHead(status, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      })
      .end(body);
  }

  /** Responds with an error that a handler has thrown: 503 if the request can be repeated, else 500. */
  handleError(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    // Sends no response if the client has disconnected, or exceeded its timeout, before the body was read completely.
    if (request.destroyed && !request.complete) return void response.destroy();
    const id = String(request.headers[REQUEST_ID_HEADER]);
    if (response.headersSent) {
      if (!request.socket.destroyed)
        this.log.error({ id, err: error }, 'a response could not be completed');
      return void response.destroy();
    }
    const retryableError = isTransientError(error)
      ? (error as ClientError)
      : toClientError(error, this.log, id);
    if (retryableError) return this.sendUnavailable(request, response, retryableError);
    this.log.error({ id, err: error }, 'unexpected error');
    this.sendError(
      request,
      response,
      500,
      'INTERNAL_SERVER_ERROR',
      `Internal server error (id ${id}).`,
      { id },
    );
  }

  readonly expressErrorHandler: ErrorRequestHandler = (error, request, response, _next) => {
    const { status, message } = error as { status: number; message: string };
    // A lack of system resources is not an error of the client, although body parsers set a 4xx status even on errors of the operating system.
    if (isProcessResourceError(error) || !(status >= 400 && status < 500))
      return this.handleError(error, request, response);
    // If the request body exceeded its size limit, the response headers have already been sent: the body was rejected with 413 before its parser failed.
    if (response.headersSent) return void (response.writableEnded || response.destroy());
    if (sendFailurePage(request, response, status, message)) return;
    if (isGraphQLPath(request.path))
      return sendGraphQLError(request, response, status, 'BAD_REQUEST', message);
    response.status(status).json({ detail: message });
  };
}
