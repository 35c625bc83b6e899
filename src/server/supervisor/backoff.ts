/** Exponential backoff (https://en.wikipedia.org/wiki/Exponential_backoff): the delay after a failed attempt doubles with each consecutive failure. */
const MIN_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;

export class Backoff {
  failureCount = 0;
  /** Earliest time of the next attempt, by `performance.now()`. */
  private nextAttemptAt = 0;

  get isDelayOver(): boolean {
    return performance.now() >= this.nextAttemptAt;
  }

  /** Counts a failed attempt. Returns the delay before the next one, in milliseconds. */
  recordFailure(): number {
    this.failureCount += 1;
    const delayMs = Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** (this.failureCount - 1));
    this.nextAttemptAt = performance.now() + delayMs;
    return delayMs;
  }

  reset(): void {
    this.failureCount = 0;
    this.nextAttemptAt = 0;
  }
}
