/**
 * Admission control: starts a request in a fair turn of its network, or rejects it with 503 under
 * overload.
 */
import { ServerResponse, type IncomingMessage, type RequestListener } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { overloadedError } from '../engine/declare/errors';
import { longestWaitMs, startRequestInTurn } from '../shared/fair-turns';
import { REJECTED_REQUEST_LOG_MESSAGE } from '../shared/logging';
import { MAX_LOGGED_TEXT_LENGTH } from '../request/access-log';
import { REQUEST_ID_HEADER, type ForwardedHeaders } from '../request/forwarded-headers';
import { rejectWebSocketHandshake } from '../request/handshake-rejection';
import type { ErrorContainment } from './error-containment';
import type { ErrorResponder } from './error-responder';

/** Interval of the timer with which Node measures the event-loop delay. */
const TIMER_RESOLUTION_MS = 10;
const MEASURE_INTERVAL_MS = 100;
const NANOSECONDS_PER_MS = 1e6;

/**
 * Overload level below which nothing is shed, so that a single pause (such as a garbage collection)
 * has no effect.
 */
const MAX_LEVEL_WITHOUT_SHEDDING = 0.3;
const MAX_LEVEL = 2 + MAX_LEVEL_WITHOUT_SHEDDING;
const MAX_RISE_PER_SECOND = 3;
const FALL_PER_SECOND = 1;

/** Maximum waiting time of a request before it is rejected, as a multiple of the tolerated lag. */
const MAX_WAIT_TO_LAG_RATIO = 5;

/**
 * Sheds load by event-loop lag and waiting time. The share of rejected requests rises while the lag
 * exceeds MAX_LAG, and falls otherwise. Anonymous clients are rejected before signed-in users.
 */
class LoadShedder {
  private readonly eventLoopDelay = monitorEventLoopDelay({ resolution: TIMER_RESOLUTION_MS });
  private measuredAt = performance.now();
  private timer?: NodeJS.Timeout;

  /**
   * Overload level. Its excess over MAX_LEVEL_WITHOUT_SHEDDING is the probability of rejecting an
   * anonymous client. The probability is lower by 1 for signed-in users.
   */
  private level = 0;

  /** Sheds nothing if `maxLagMs` is 0. */
  constructor(private readonly maxLagMs: number) {
    if (!maxLagMs) return;
    this.eventLoopDelay.enable();
    this.timer = setInterval(() => this.updateLevel(), MEASURE_INTERVAL_MS).unref();
  }

  /** Whether to reject a new request. Randomness makes the load settle instead of oscillating. */
  shouldReject(isAnonymous: boolean): boolean {
    return Math.random() < this.level - MAX_LEVEL_WITHOUT_SHEDDING - (isAnonymous ? 0 : 1);
  }

  hasWaitedTooLong(waitedMs: number): boolean {
    return this.maxLagMs > 0 && waitedMs > this.maxLagMs * MAX_WAIT_TO_LAG_RATIO;
  }

  stop(): void {
    clearInterval(this.timer);
    this.eventLoopDelay.disable();
  }

  private updateLevel(): void {
    const now = performance.now();
    const seconds = Math.min(now - this.measuredAt, 2 * MEASURE_INTERVAL_MS) / 1_000;

    this.measuredAt = now;
    const lagMs = Math.max(
      (this.eventLoopDelay.mean || 0) / NANOSECONDS_PER_MS - TIMER_RESOLUTION_MS,
      longestWaitMs(),
    );

    this.eventLoopDelay.reset();
    let changePerSecond = -FALL_PER_SECOND;

    if (lagMs > this.maxLagMs) {
      changePerSecond = Math.min(MAX_RISE_PER_SECOND, lagMs / this.maxLagMs);
    }

    const maxLevel = this.level === 0 ? MAX_LEVEL_WITHOUT_SHEDDING : MAX_LEVEL;

    this.level = Math.min(maxLevel, Math.max(0, this.level + changePerSecond * seconds));
  }
}

type RejectionReason = 'overload' | 'queue_timeout' | 'shutdown';

/**
 * Minimum number of open requests for load shedding. With fewer, event-loop lag has another cause.
 */
const MIN_OPEN_REQUESTS_FOR_SHEDDING = 16;

export class AdmissionControl {
  readonly rejectedCounts: Record<RejectionReason, number> = {
    overload: 0,
    queue_timeout: 0,
    shutdown: 0,
  };

  private readonly loadShedder: LoadShedder;
  private isDraining = false;
  private openRequestCount = 0;

  /** `maxLagMs` is the tolerated event-loop lag. If it is 0, no load is shed. */
  constructor(
    maxLagMs: number,
    private readonly forwardedHeaders: ForwardedHeaders,
    private readonly log: Logger,
    private readonly errorResponder: ErrorResponder,
    private readonly errorContainment: ErrorContainment,
  ) {
    this.loadShedder = new LoadShedder(maxLagMs);
  }

  /** Whether to reject new work, such as a subscription, of an anonymous or signed-in client. */
  readonly shouldReject = (isAnonymous: boolean): boolean =>
    this.isDraining || this.isOverloaded(isAnonymous);

  /** Starts a request when it is its turn, or rejects it. */
  admit(request: IncomingMessage, response: ServerResponse, beginRequest: RequestListener): void {
    const { authorization, cookie } = request.headers;

    // A request with credentials counts as signed in. They are not verified here, because that
    // would cost more than a rejection saves.
    if (this.isOverloaded(authorization === undefined && cookie === undefined)) {
      return this.reject(request, response, 'overload');
    }

    this.openRequestCount += 1;
    response.once('close', () => (this.openRequestCount -= 1));
    this.startInTurn(request, response, () => beginRequest(request, response));
  }

  /**
   * Admits, queues or rejects a WebSocket handshake. It is treated as anonymous, whatever its
   * credentials.
   */
  admitWebSocket(request: IncomingMessage, socket: Duplex, beginRequest: () => void): void {
    if (this.isDraining) return this.reject(request, socket, 'shutdown');
    if (this.isOverloaded(true)) return this.reject(request, socket, 'overload');
    this.startInTurn(request, socket, beginRequest);
  }

  /** From now on, rejects new WebSockets and subscriptions. */
  startDraining(): void {
    this.isDraining = true;
  }

  stop(): void {
    this.loadShedder.stop();
  }

  private startInTurn(
    request: IncomingMessage,
    channel: ServerResponse | Duplex,
    beginRequest: () => void,
  ): void {
    const response = channel instanceof ServerResponse ? channel : undefined;

    startRequestInTurn(this.forwardedHeaders.clientNetwork(request), (waitedMs) =>
      this.errorContainment.catchErrors(request, response, () => {
        if (channel.destroyed) return;
        if (this.isSheddingUseful && this.loadShedder.hasWaitedTooLong(waitedMs)) {
          this.reject(request, channel, 'queue_timeout');
        } else beginRequest();
      }),
    );
  }

  private get isSheddingUseful(): boolean {
    return this.openRequestCount >= MIN_OPEN_REQUESTS_FOR_SHEDDING;
  }

  private isOverloaded(isAnonymous: boolean): boolean {
    return this.isSheddingUseful && this.loadShedder.shouldReject(isAnonymous);
  }

  private reject(
    request: IncomingMessage,
    channel: ServerResponse | Duplex,
    reason: RejectionReason,
  ): void {
    this.rejectedCounts[reason] += 1;
    this.logRejection(request, reason);
    if (channel instanceof ServerResponse) {
      this.errorResponder.sendUnavailable(request, channel, overloadedError());
    } else rejectWebSocketHandshake(request, channel, '503 Service Unavailable');
  }

  /**
   * Writes a line to the access log. Rejected requests are not authenticated, so the user is
   * unknown.
   */
  private logRejection(request: IncomingMessage, reason: RejectionReason): void {
    if (!this.log.isLevelEnabled('info')) return;
    const { method, url, headers } = request;
    const path = url!.split('?', 1)[0]!.slice(0, MAX_LOGGED_TEXT_LENGTH);
    const address = this.forwardedHeaders.clientAddress(request).slice(0, MAX_LOGGED_TEXT_LENGTH);

    this.log.info(
      { id: headers[REQUEST_ID_HEADER], method, path, status: 503, address, reason },
      REJECTED_REQUEST_LOG_MESSAGE,
    );
  }
}
