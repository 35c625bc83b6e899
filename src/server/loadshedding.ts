/**
 * Load shedding by the lag of the event loop and the waiting time of requests. The share of new requests that is rejected rises while the lag exceeds MAX_LAG,
 * and falls otherwise. Requests from anonymous clients are rejected before those from signed-in users.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { longestWaitMs } from '../platform/fairturns';

/** Interval of the timer by which Node measures the event-loop delay. */
const TIMER_RESOLUTION_MS = 10;
const MEASURE_INTERVAL_MS = 100;
const NANOSECONDS_PER_MS = 1e6;
/** Overload level up to which no request is shed, so that a single pause, such as a garbage collection, has no effect. */
const MAX_LEVEL_WITHOUT_SHEDDING = 0.3;
const MAX_LEVEL = 2 + MAX_LEVEL_WITHOUT_SHEDDING;
const MAX_RISE_PER_SECOND = 3;
const FALL_PER_SECOND = 1;
/** Maximum waiting time, as a multiple of the tolerated lag: a request that has waited for longer is rejected instead of started. */
const MAX_WAIT_TO_LAG_RATIO = 5;

export class LoadShedder {
  private readonly eventLoopDelay = monitorEventLoopDelay({ resolution: TIMER_RESOLUTION_MS });
  private measuredAt = performance.now();
  private timer?: NodeJS.Timeout;
  /**
   * Overload level. Its excess over MAX_LEVEL_WITHOUT_SHEDDING is the probability with which a request from an anonymous client is rejected; the excess over
   * one more is the probability for a signed-in user.
   */
  private level = 0;

  /** `maxLagMs`: tolerated event-loop lag in milliseconds; 0 disables shedding. */
  constructor(private readonly maxLagMs: number) {
    if (!maxLagMs) return;
    this.eventLoopDelay.enable();
    this.timer = setInterval(() => this.updateLevel(), MEASURE_INTERVAL_MS).unref();
  }

  /** Whether to reject a new request. Decided at random, so that the load settles instead of oscillating. */
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
    const lagMs = Math.max((this.eventLoopDelay.mean || 0) / NANOSECONDS_PER_MS - TIMER_RESOLUTION_MS, longestWaitMs());
    this.eventLoopDelay.reset();
    const change = lagMs > this.maxLagMs ? Math.min(MAX_RISE_PER_SECOND, lagMs / this.maxLagMs) : -FALL_PER_SECOND;
    const maxLevel = this.level === 0 ? MAX_LEVEL_WITHOUT_SHEDDING : MAX_LEVEL;
    this.level = Math.min(maxLevel, Math.max(0, this.level + change * seconds));
  }
}
