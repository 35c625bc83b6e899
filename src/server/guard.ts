/**
 * The classes of requests and responses. They contain errors that no handler catches: one thrown by a listener of a request or response fails that
 * request, any other one is logged. Neither ends the process, in which other requests are being answered.
 */
import { IncomingMessage, ServerResponse, type ServerOptions } from 'node:http';
import type { Logger } from 'pino';
import { REQUEST_ID } from '../exchange/origin';
import type { Failures } from './failures';

export class Guard {
  constructor(
    private readonly log: Logger,
    private readonly failures: Pick<Failures, 'failed'>,
  ) {}

  /** For `http.createServer`. */
  get options(): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
    const fail = (error: unknown, request: IncomingMessage, response: ServerResponse | undefined) => this.fail(error, request, response);
    class GuardedRequest extends IncomingMessage {
      response?: ServerResponse;
      declare asksForUpgrade: boolean | null;

      /** Node hands the connection over if it is true. Protocols that are not known are ignored (RFC 9110, section 7.8). */
      get upgrade(): boolean | null {
        return this.asksForUpgrade && (this.method === 'CONNECT' || /(?:^|,)\s*websocket\s*(?:,|$)/i.test(this.headers.upgrade ?? ''));
      }

      set upgrade(value: boolean | null) {
        this.asksForUpgrade = value;
      }

      override emit(event: string | symbol, ...args: unknown[]): boolean {
        try {
          return super.emit(event as 'close', ...(args as []));
        } catch (error) {
          fail(error, this, this.response);
          return true;
        }
      }
    }
    class GuardedResponse extends ServerResponse<GuardedRequest> {
      constructor(request: GuardedRequest) {
        super(request);
        request.response = this;
      }

      override emit(event: string | symbol, ...args: unknown[]): boolean {
        try {
          return super.emit(event as 'close', ...(args as []));
        } catch (error) {
          fail(error, this.req, this);
          return true;
        }
      }
    }
    return { IncomingMessage: GuardedRequest, ServerResponse: GuardedResponse } as Pick<
      ServerOptions,
      'IncomingMessage' | 'ServerResponse'
    >;
  }

  /** For what no request is known of: timers, promises, connections to other servers. */
  containOthers(): void {
    process.on('uncaughtException', (error, origin) => this.log.error({ err: error, origin }, 'uncaught error'));
  }

  private fail(error: unknown, request: IncomingMessage, response: ServerResponse | undefined): void {
    this.log.error({ id: request.headers[REQUEST_ID], err: error }, 'uncaught error');
    if (!response || response.headersSent || response.destroyed) return void request.socket.destroy();
    response.shouldKeepAlive = false;
    this.failures.failed(error, request, response);
  }
}
