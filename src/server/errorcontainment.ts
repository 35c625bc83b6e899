/**
 * Classes of requests and responses. They limit the number of small body chunks, and contain uncaught errors: an error that is thrown while a request is
 * dispatched, or by an event listener of a request or response, fails only that request.
 */
import { ServerResponse, type IncomingMessage, type ServerOptions } from 'node:http';
import type { Logger } from 'pino';
import { REQUEST_ID_HEADER } from '../request/forwardedheaders';
import { UpgradeFilteringRequest } from '../internals/node';
import type { ErrorResponder } from './errorresponder';

export type HttpMessageClasses = Required<
  Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
>;

/**
 * Maximum number of listeners of one event of a response, above which Node warns of a leak. Handling a request adds four `close` listeners and
 * `stream.pipeline` seven, together more than Node's default of ten.
 */
const MAX_RESPONSE_LISTENERS = 20;

/** Size in bytes below which a chunk of a body is small, and the maximum number of small chunks of a request. Clients send packets of more than 1,000 bytes. */
const SMALL_CHUNK_BYTES = 512;
const MAX_SMALL_CHUNKS = 1_000;

export class ErrorContainment {
  readonly messageClasses: HttpMessageClasses;

  constructor(
    private readonly log: Logger,
    private readonly errorResponder: Pick<ErrorResponder, 'handleError'>,
  ) {
    this.messageClasses = this.createMessageClasses();
  }

  private createMessageClasses(): HttpMessageClasses {
    const catchErrors: ErrorContainment['catchErrors'] = (request, response, callback) =>
      this.catchErrors(request, response, callback);
    class ErrorCatchingRequest extends UpgradeFilteringRequest {
      response?: ServerResponse;
      private smallChunkCount = 0;

      /**
       * Whether the request switches to another protocol (CONNECT, WebSocket). Unknown protocols of an Upgrade header are ignored (RFC 9110, section 7.8).
       */
      protected override acceptsUpgrade(): boolean {
        return (
          this.method === 'CONNECT' ||
          /(?:^|,)\s*websocket\s*(?:,|$)/i.test(this.headers.upgrade ?? '')
        );
      }

      /** Adds a piece of the body. Closes the connection after too many small pieces, each of which costs as much as a large one. */
      override push(chunk: Buffer | null, encoding?: BufferEncoding): boolean {
        if (
          chunk &&
          chunk.length < SMALL_CHUNK_BYTES &&
          (this.smallChunkCount += 1) > MAX_SMALL_CHUNKS
        ) {
          this.socket.destroy();
          return false;
        }
        return super.push(chunk, encoding);
      }

      override emit(event: string | symbol, ...args: unknown[]): boolean {
        return catchErrors(this, this.response, () =>
          super.emit(event as 'close', ...(args as [])),
        );
      }
    }
    class ErrorCatchingResponse extends ServerResponse<ErrorCatchingRequest> {
      constructor(request: ErrorCatchingRequest) {
        super(request);
        request.response = this;
        this.setMaxListeners(MAX_RESPONSE_LISTENERS);
      }

      override emit(event: string | symbol, ...args: unknown[]): boolean {
        return catchErrors(this.req, this, () => super.emit(event as 'close', ...(args as [])));
      }
    }
    return {
      IncomingMessage: ErrorCatchingRequest,
      ServerResponse: ErrorCatchingResponse,
    } as unknown as HttpMessageClasses;
  }

  /** Runs a synchronous step of a request or of a WebSocket handshake (without `response`). If it throws, fails the request and returns true. */
  catchErrors<T>(
    request: IncomingMessage,
    response: ServerResponse | undefined,
    callback: () => T,
  ): T | true {
    try {
      return callback();
    } catch (error) {
      this.failRequest(error, request, response);
      return true;
    }
  }

  private failRequest(
    error: unknown,
    request: IncomingMessage,
    response: ServerResponse | undefined,
  ): void {
    this.log.error({ id: request.headers[REQUEST_ID_HEADER], err: error }, 'uncaught error');
    if (!response || response.headersSent || response.destroyed)
      return void request.socket.destroy();
    response.setHeader('Connection', 'close');
    this.errorResponder.handleError(error, request, response);
  }
}
