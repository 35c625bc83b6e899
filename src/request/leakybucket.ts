/** Leaky bucket (https://en.wikipedia.org/wiki/Leaky_bucket) of a user or network, in which operations reserve cost before they run. */
import { ClientError } from '../core/model/errors';

/** Capacity of a bucket, in seconds: a bucket holds the cost that leaks out of it in this time. */
export const CAPACITY_SECONDS = 100;
/** Maximum number of operations per bucket that wait for the reservations of running operations to be replaced by their actual cost. */
const MAX_WAITING_RESERVATIONS = 100;

export class LeakyBucket {
  /** Level of the bucket: the cost spent and reserved, less what had leaked until `updatedAt`. */
  private level = 0;
  private updatedAt = performance.now();
  /** Cost spent by this instance that it has not yet reported to the others. */
  unreportedCost = 0;
  /** Cost reserved by running operations, whose actual cost is not known yet. It is included in the level. */
  private reservedCost = 0;
  private readonly resumeCallbacks = new Set<() => void>();

  constructor(readonly rate: number) {}

  get capacity(): number {
    return this.rate * CAPACITY_SECONDS;
  }

  /** Updates and returns the level of the bucket: the cost spent and reserved, less what has leaked since the last update. */
  currentLevel(): number {
    const now = performance.now();
    this.level = Math.max(0, this.level - ((now - this.updatedAt) / 1000) * this.rate);
    this.updatedAt = now;
    return this.level;
  }

  /**
   * Reserves the estimated cost and returns the reserved amount. It is at most the capacity less what the request has been charged (`chargedCost`): estimates
   * are often far too high, and otherwise an expensive operation would always be rejected. If only reservations of other requests are in the way, waits
   * up to `maxWaitMs` for them to be settled. Throws RATE_LIMITED if the capacity does not suffice. `ownUnsettledCost`: cost reserved by this request.
   */
  async reserve(
    cost: number,
    chargedCost: number,
    ownUnsettledCost: number,
    maxWaitMs: number,
  ): Promise<number> {
    const reservedAmount = Math.min(cost, Math.max(0, this.capacity - chargedCost));
    const deadline = performance.now() + maxWaitMs;
    for (;;) {
      const excessCost = this.currentLevel() + reservedAmount - this.capacity;
      if (excessCost <= 0) break;
      const waitMs = deadline - performance.now();
      if (
        excessCost > this.reservedCost - ownUnsettledCost ||
        this.resumeCallbacks.size >= MAX_WAITING_RESERVATIONS ||
        waitMs <= 0
      )
        throw this.rateLimitError(excessCost);
      await this.waitForSettlement(waitMs);
    }
    this.spend(reservedAmount);
    this.reservedCost += reservedAmount;
    return reservedAmount;
  }

  private waitForSettlement(maxMs: number): Promise<void> {
    return new Promise((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        this.resumeCallbacks.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, maxMs).unref();
      this.resumeCallbacks.add(resume);
    });
  }

  /** Replaces the reserved cost of an operation with its actual cost, which may overdraw the bucket. Resumes the operations that wait for this. */
  settle(reservedAmount: number, usedCost: number): void {
    this.reservedCost -= reservedAmount;
    this.level = Math.max(0, this.level + usedCost - reservedAmount);
    this.unreportedCost += usedCost - reservedAmount;
    for (const resume of [...this.resumeCallbacks]) resume();
  }

  /** Throws RATE_LIMITED if the cost spent, without reservations, exceeds the capacity. */
  requireCapacity(): void {
    const excessCost = this.currentLevel() - this.reservedCost - this.capacity;
    if (excessCost > 0) throw this.rateLimitError(excessCost);
  }

  private rateLimitError(excessCost: number): ClientError {
    const retryAfter = Math.max(1, Math.ceil(excessCost / this.rate));
    return new ClientError(
      'RATE_LIMITED',
      `The budget is exhausted. Expected available in ${retryAfter} seconds.`,
      {
        retryAfter,
      },
    );
  }

  spend(cost: number): void {
    this.level += cost;
    this.unreportedCost += cost;
  }

  /** Sets the level of the bucket to the level shared by all instances, plus what this instance has spent while exchanging it. */
  adoptSharedLevel(level: number): void {
    this.updatedAt = performance.now();
    this.level = Math.max(0, level + this.unreportedCost);
  }
}
