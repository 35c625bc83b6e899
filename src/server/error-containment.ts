/**
 * Request and response classes that contain uncaught errors: an error in the dispatch of a request
 * or in an event listener fails only that request. The request class also limits the number of
 * small body chunks.
 */
import { IncomingMessage, ServerResponse, type ServerOptions } from 'node:http';
import type { Logger } from 'pino';
import { REQUEST_ID_HEADER } from '../request/forwarded-headers';
import type { ErrorResponder } from './error-responder';

export type HttpMessageClasses = Required<
  Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
>;

/**
 * Number of listeners of a response event above which Node warns of a leak. A request adds four
 * `close` listeners and `stream.pipeline` seven, more than the default of ten.
 */
const MAX_RESPONSE_LISTENERS = 20;

/**
 * Chunks of a body below this size are small, and a request may send only MAX_SMALL_CHUNKS of them.
 * Clients send packets of more than 1,000 bytes.
 */
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

    class ErrorCatchingRequest extends IncomingMessage {
      response?: ServerResponse;
      private smallChunkCount = 0;

      /**
       * Receives a chunk of the body. Too many small ones close the connection, because each costs
       * as much as a large one.
       */
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

  /**
   * Runs a synchronous step of a request or WebSocket handshake (without `response`). An error
   * fails the request, and `true` is returned.
   */
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

    if (!response || response.headersSent || response.destroyed) {
      return void request.socket.destroy();
    }

    response.setHeader('Connection', 'close');
    this.errorResponder.handleError(error, request, response);
  }
}
