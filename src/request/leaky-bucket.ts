/**
 * Leaky bucket (https://en.wikipedia.org/wiki/Leaky_bucket) of a user or network, in which
 * operations reserve cost before they run.
 */
import { ClientError } from '../engine/declare/errors';

/** Capacity of a bucket, in seconds of its leak rate. */
export const BUCKET_CAPACITY_SECONDS = 100;

/**
 * Maximum number of operations per bucket that wait until reservations of other operations are
 * settled.
 */
const MAX_WAITING_RESERVATIONS = 100;

export class LeakyBucket {
  /** Level of the bucket: the cost spent and reserved, less what had leaked until `updatedAt`. */
  private level = 0;
  private updatedAt = performance.now();

  /** Cost spent by this instance and not yet reported to the others. */
  unreportedCost = 0;

  /** Cost reserved by running operations; part of the level. */
  private reservedCost = 0;
  private readonly resumeCallbacks = new Set<() => void>();

  /** `rate`: cost units per second that leak out. */
  constructor(readonly rate: number) {}

  get capacity(): number {
    return this.rate * BUCKET_CAPACITY_SECONDS;
  }

  /** Updates the level of the bucket by what has leaked since the last update. */
  updateLevel(): number {
    const now = performance.now();

    this.level = Math.max(0, this.level - ((now - this.updatedAt) / 1000) * this.rate);
    this.updatedAt = now;
    return this.level;
  }

  /**
   * Reserves the estimated cost, limited to the capacity minus what the request has already been
   * charged, because estimates are often far too high. Waits up to `maxWaitMs` if the bucket would
   * have room without the reservations of other requests.
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
      const excessCost = this.updateLevel() + reservedAmount - this.capacity;

      if (excessCost <= 0) break;
      const waitMs = deadline - performance.now();

      if (
        excessCost > this.reservedCost - ownUnsettledCost ||
        this.resumeCallbacks.size >= MAX_WAITING_RESERVATIONS ||
        waitMs <= 0
      ) {
        throw this.rateLimitError(excessCost);
      }

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

  /**
   * Replaces the reserved cost of an operation by its actual cost, which may overdraw the bucket,
   * and resumes waiting operations.
   */
  settle(reservedAmount: number, usedCost: number): void {
    this.reservedCost -= reservedAmount;
    this.level = Math.max(0, this.level + usedCost - reservedAmount);
    this.unreportedCost += usedCost - reservedAmount;
    for (const resume of [...this.resumeCallbacks]) resume();
  }

  /** Cost spent, without reservations, beyond the capacity; negative if some is left. */
  get excessCost(): number {
    return this.updateLevel() - this.reservedCost - this.capacity;
  }

  /** Throws RATE_LIMITED if the cost spent, without reservations, exceeds the capacity. */
  requireCapacity(): void {
    const { excessCost } = this;

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

  /**
   * Takes over the level shared by all instances, plus the cost that this instance has spent in the
   * meantime.
   */
  adoptSharedLevel(level: number): void {
    this.updatedAt = performance.now();
    this.level = Math.max(0, level + this.unreportedCost);
  }
}
