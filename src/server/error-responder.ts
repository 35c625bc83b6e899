/**
 * Error responses outside of GraphQL and REST handlers: overload (503), invalid requests (4xx) and
 * unexpected errors (500).
 */
import type { ErrorRequestHandler } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { isTransientError, toClientError, type ClientError } from '../engine/declare/errors';
import { isProcessResourceError } from '../database/errors';
import { REQUEST_ID_HEADER } from '../request/forwarded-headers';
import { sendGraphQLError } from '../graphql/http-errors';
import { prefersHtml, renderFailurePage } from '../web/failure-page';

const isGraphQLPath = (url: string) => url.startsWith('/graphql');

export class ErrorResponder {
  /** `basePath`: path of PUBLIC_URL; usually empty. */
  constructor(
    private readonly log: Logger,
    private readonly basePath: string,
  ) {}

  /** Responds with 503 and Retry-After to a request that has not been executed. */
  sendUnavailable(
    request: IncomingMessage,
    response: ServerResponse,
    { message, extensions }: ClientError,
  ): void {
    const { code, ...details } = extensions;

    if (details.retryAfter !== undefined) {
      response.setHeader('Retry-After', String(details.retryAfter));
    }

    this.sendError(request, response, 503, String(code), message, details);
  }

  /**
   * Responds in the error format of the API to which the path belongs. `details` are further
   * extensions of a GraphQL error.
   */
  sendError(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    code: string,
    message: string,
    details?: Readonly<Record<string, unknown>>,
  ): void {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (this.sendFailurePage(request, response, status, message)) return;

    if (isGraphQLPath(request.url!)) {
      return sendGraphQLError(request, response, status, code, message, details);
    }

    const body = JSON.stringify({ detail: message });

    response
      .writeHead(status, {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
      })
      .end(body);
  }

  /**
   * Responds to an error that a handler has thrown: 503 if the request can be repeated, else 500.
   */
  handleError(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    // Sends no response to a client that disconnected or timed out before the body was complete.
    if (request.destroyed && !request.complete) return void response.destroy();
    const id = String(request.headers[REQUEST_ID_HEADER]);

    if (response.headersSent) {
      if (!request.socket.destroyed) {
        this.log.error({ id, err: error }, 'a response could not be completed');
      }

      return void response.destroy();
    }

    const clientError = isTransientError(error) ? (error as ClientError) : undefined;
    const retryableError = clientError ?? toClientError(error, this.log, id);

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

    // A lack of system resources is no client error, although body parsers set a 4xx status on it.
    if (isProcessResourceError(error) || !(status >= 400 && status < 500)) {
      return this.handleError(error, request, response);
    }

    // A body over its size limit has already been rejected with 413 before its parser failed.
    if (response.headersSent) return void (response.writableEnded || response.destroy());
    this.sendError(request, response, status, 'BAD_REQUEST', message);
  };

  /** Sends the error as an HTML page if the client prefers HTML. Returns whether it was sent. */
  private sendFailurePage(
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
      basePath: this.basePath,
    });

    response
      .writeHead(status, { 'Content-Length': Buffer.byteLength(htmlText), ...headers })
      .end(htmlText);

    return true;
  }
}
