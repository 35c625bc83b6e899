/** Admission control: starts a request, queues it, or rejects it with 503 under overload. Each rejection is counted and logged. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { overloadedError } from '../core/model/errors';
import type { ForwardedHeaders } from '../request/forwardedheaders';
import type { ErrorContainment } from './errorcontainment';
import type { ErrorResponder } from './errorresponder';
import { FairRequestQueue } from './requestqueue';
import { LoadShedder } from './loadshedding';
import { rejectWebSocketHandshake } from '../request/handshakerejection';
import { logRejectedRequest } from './rejectedrequests';

type RejectionReason = 'overload' | 'queue_timeout' | 'shutdown';

/** Minimum number of open requests for load shedding. With fewer, event-loop lag has another cause, and shedding requests would not reduce it. */
const MIN_OPEN_REQUESTS_FOR_SHEDDING = 16;

export class AdmissionControl {
  readonly rejectedCounts: Record<RejectionReason, number> = { overload: 0, queue_timeout: 0, shutdown: 0 };

  private readonly queue = new FairRequestQueue();
  private readonly loadShedder: LoadShedder;
  private isDraining = false;
  private openRequestCount = 0;

  /** `maxEventLoopLagMs`: tolerated event-loop lag in milliseconds; 0 disables load shedding. */
  constructor(
    maxEventLoopLagMs: number,
    private readonly forwardedHeaders: ForwardedHeaders,
    private readonly log: Logger,
    private readonly errorResponder: ErrorResponder,
    private readonly errorContainment: ErrorContainment,
    stolenCpuShare: () => number,
  ) {
    this.loadShedder = new LoadShedder(maxEventLoopLagMs, () => this.queueingDelay, stolenCpuShare);
  }

  /** Longest queueing delay, in milliseconds, of clients with a single queued request. */
  get queueingDelay(): number {
    return this.queue.queueingDelay;
  }

  readonly onConnection = this.queue.onConnection;

  /** Whether to reject new work, such as a subscription, from an anonymous client or from a signed-in user. */
  readonly shouldReject = (isAnonymous: boolean): boolean => this.isDraining || this.isOverloaded(isAnonymous);

  /** Calls `beginRequest` now or when it is the request's turn, or rejects the request. */
  admit(request: IncomingMessage, response: ServerResponse, beginRequest: RequestListener): void {
    const { authorization, cookie } = request.headers;
    // A request with credentials counts as one from a signed-in user. They are not verified here, because that would cost more than a rejection saves.
    if (this.isOverloaded(authorization === undefined && cookie === undefined)) return this.reject(request, response, 'overload');
    this.openRequestCount += 1;
    response.once('close', () => (this.openRequestCount -= 1));
    this.queue.enqueue(
      () => this.forwardedHeaders.clientNetwork(request),
      (waitedMs) =>
        this.errorContainment.catchErrors(request, response, () => {
          if (response.destroyed) return;
          if (this.openRequestCount <= MIN_OPEN_REQUESTS_FOR_SHEDDING || !this.loadShedder.hasWaitedTooLong(waitedMs))
            beginRequest(request, response);
          else this.reject(request, response, 'queue_timeout');
        }),
    );
  }

  /** Admits, queues or rejects a WebSocket handshake. It is treated as a request from an anonymous client, whatever its credentials. */
  admitSocket(request: IncomingMessage, socket: Duplex, beginRequest: () => void): void {
    if (this.isDraining) return this.rejectSocket(request, socket, 'shutdown');
    if (this.isOverloaded(true)) return this.rejectSocket(request, socket, 'overload');
    this.queue.enqueue(
      () => this.forwardedHeaders.clientNetwork(request),
      (waitedMs) =>
        this.errorContainment.catchErrors(request, undefined, () => {
          if (socket.destroyed) return;
          if (!this.loadShedder.hasWaitedTooLong(waitedMs)) beginRequest();
          else this.rejectSocket(request, socket, 'queue_timeout');
        }),
    );
  }

  /** Starts draining: new WebSockets and subscriptions are rejected. */
  startDraining(): void {
    this.isDraining = true;
  }

  stop(): void {
    this.loadShedder.stop();
  }

  private isOverloaded(isAnonymous: boolean): boolean {
    return this.openRequestCount >= MIN_OPEN_REQUESTS_FOR_SHEDDING && this.loadShedder.shouldReject(isAnonymous);
  }

  private reject(request: IncomingMessage, response: ServerResponse, reason: RejectionReason): void {
    this.recordRejection(request, reason);
    this.errorResponder.sendUnavailable(request, response, overloadedError());
  }

  private rejectSocket(request: IncomingMessage, socket: Duplex, reason: RejectionReason): void {
    this.recordRejection(request, reason);
    rejectWebSocketHandshake(request, socket, '503 Service Unavailable');
  }

  private recordRejection(request: IncomingMessage, reason: RejectionReason): void {
    this.rejectedCounts[reason] += 1;
    logRejectedRequest(request, reason, this.forwardedHeaders, this.log);
  }
}
