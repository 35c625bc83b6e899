/**
 * Load shedding by event-loop lag and queueing delay. The share of new requests that is rejected rises while the lag exceeds MAX_LAG, and falls otherwise.
 * Requests from anonymous clients are rejected before those from signed-in users.
 */
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

/** Interval of the timer by which Node measures the event-loop delay. */
const TIMER_RESOLUTION_MS = 10;
const MEASURE_INTERVAL_MS = 100;
const NANOSECONDS_PER_MS = 1e6;
/** Overload level up to which no request is shed, so that a single pause, such as a garbage collection, has no effect. */
const MAX_OVERLOAD_LEVEL_WITHOUT_SHEDDING = 0.3;
const MAX_OVERLOAD_LEVEL = 2 + MAX_OVERLOAD_LEVEL_WITHOUT_SHEDDING;
/** Maximum time in the queue, as a multiple of the tolerated lag: a request that was queued for longer is rejected instead of started. */
const MAX_WAIT_TO_LAG_RATIO = 5;
const MAX_OVERLOAD_LEVEL_RISE_PER_SECOND = 3;
const OVERLOAD_LEVEL_FALL_PER_SECOND = 1;

export class LoadShedder {
  private readonly eventLoopDelay: IntervalHistogram = monitorEventLoopDelay({ resolution: TIMER_RESOLUTION_MS });
  private measuredAt = performance.now();
  private timer?: NodeJS.Timeout;
  /**
   * Overload level. Its excess over MAX_OVERLOAD_LEVEL_WITHOUT_SHEDDING is the probability with which a request from an anonymous client is rejected; its excess over
   * MAX_OVERLOAD_LEVEL_WITHOUT_SHEDDING + 1 is the probability for a signed-in user.
   */
  private overloadLevel = 0;

  /**
   * `maxEventLoopLagMs`: tolerated lag in milliseconds; 0 disables shedding. `queueingDelay`: longest wait of queued requests in milliseconds. `stolenCpuShare`:
   * share of the CPU time that the hypervisor withholds. This share of the lag is disregarded, because shedding requests would not shorten it.
   */
  constructor(
    private readonly maxEventLoopLagMs: number,
    private readonly queueingDelay: () => number = () => 0,
    private readonly stolenCpuShare: () => number = () => 0,
  ) {
    if (!maxEventLoopLagMs) return;
    this.eventLoopDelay.enable();
    this.timer = setInterval(() => this.updateOverloadLevel(), MEASURE_INTERVAL_MS).unref();
  }

  /** Whether to reject a new request. Decided at random, so that the load settles instead of oscillating. */
  shouldReject(isAnonymous: boolean): boolean {
    const sheddingProbability = this.overloadLevel - MAX_OVERLOAD_LEVEL_WITHOUT_SHEDDING - (isAnonymous ? 0 : 1);
    return sheddingProbability > 0 && Math.random() < sheddingProbability;
  }

  hasWaitedTooLong(waitedMs: number): boolean {
    return this.maxEventLoopLagMs > 0 && waitedMs > this.maxEventLoopLagMs * MAX_WAIT_TO_LAG_RATIO;
  }

  stop(): void {
    clearInterval(this.timer);
    this.eventLoopDelay.disable();
  }

  private updateOverloadLevel(): void {
    const now = performance.now();
    const seconds = Math.min(now - this.measuredAt, 2 * MEASURE_INTERVAL_MS) / 1000;
    this.measuredAt = now;
    const measuredLag = Math.max((this.eventLoopDelay.mean || 0) / NANOSECONDS_PER_MS - TIMER_RESOLUTION_MS, this.queueingDelay());
    const lag = measuredLag * (1 - this.stolenCpuShare());
    this.eventLoopDelay.reset();
    const levelChangePerSecond =
      lag > this.maxEventLoopLagMs
        ? Math.min(MAX_OVERLOAD_LEVEL_RISE_PER_SECOND, lag / this.maxEventLoopLagMs)
        : -OVERLOAD_LEVEL_FALL_PER_SECOND;
    const maxLevel = this.overloadLevel === 0 ? MAX_OVERLOAD_LEVEL_WITHOUT_SHEDDING : MAX_OVERLOAD_LEVEL;
    this.overloadLevel = Math.min(maxLevel, Math.max(0, this.overloadLevel + levelChangePerSecond * seconds));
  }
}
