/**
 * Delivers the lists of a long response to graphql-js in slices, each in a fair turn of its client.
 * Lists nested in a slice are delivered with it as long as it has capacity left.
 */
import { queueWork, type TurnClient } from '../../shared/fair-turns';

/** Number of values in a slice: some milliseconds of work. */
const DEFAULT_VALUES_PER_SLICE = 5_000;

/**
 * Number of slices that an operation completes before it first yields to the event loop. Most
 * responses need no more.
 */
const INITIAL_SLICES = 4;

interface PendingWork {
  valueCount: number;
  resume(this: void): void;
}

export class EventLoopSlices {
  /** Number of values that the current slice can still take. */
  private capacity: number;
  private isDiscarded = false;
  private isScheduled = false;

  /**
   * Used as a stack: the innermost lists are resumed first, so that few lists are pending at a
   * time.
   */
  private readonly pendingWork: PendingWork[] = [];

  constructor(
    private readonly client: TurnClient,
    private readonly valuesPerSlice = DEFAULT_VALUES_PER_SLICE,
  ) {
    this.capacity = INITIAL_SLICES * valuesPerSlice;
  }

  /**
   * Calls `resume` now or in a later turn. `valueCount` is the number of values that it produces.
   */
  schedule(valueCount: number, resume: () => void): void {
    if (!this.isDiscarded && this.takeCapacity(valueCount)) resume();
    else this.defer(valueCount, resume);
  }

  /**
   * Delivers a list now or in a later turn. Items of a list longer than a slice are promises,
   * resolved slice by slice; they reject if the operation has been aborted. `valuesPerItem` is the
   * number of values that an item produces.
   */
  deliverList<T>(
    items: readonly T[],
    valuesPerItem: number,
    throwIfAborted: () => void,
  ): readonly (T | Promise<T>)[] | Promise<readonly T[]> {
    const sliceLength = Math.ceil(this.valuesPerSlice / valuesPerItem);

    if (items.length <= sliceLength) {
      const valueCount = items.length * valuesPerItem;

      if (this.takeCapacity(valueCount)) return items;

      return this.waitForTurn(valueCount, throwIfAborted).then(() => items);
    }

    const deliveredItems: (T | Promise<T>)[] = [];

    for (let start = 0; start < items.length; start += sliceLength) {
      const slice = items.slice(start, start + sliceLength);
      const valueCount = slice.length * valuesPerItem;

      if (this.takeCapacity(valueCount)) {
        deliveredItems.push(...slice);
        continue;
      }

      const turn = this.waitForTurn(valueCount, throwIfAborted);

      deliveredItems.push(...slice.map((item) => turn.then(() => item)));
    }

    return deliveredItems;
  }

  /** Whether deferred work has not been resumed yet. */
  get hasPending(): boolean {
    return this.pendingWork.length > 0;
  }

  /**
   * Drops all pending and future work. The promises of this work stay pending, because settling
   * them would take as long as the work.
   */
  discard(): void {
    this.isDiscarded = true;
    this.pendingWork.length = 0;
  }

  private waitForTurn(valueCount: number, throwIfAborted: () => void): Promise<void> {
    return new Promise<void>((resolve) => this.defer(valueCount, resolve)).then(throwIfAborted);
  }

  /** Takes values from the capacity of the current slice, if it has any left. */
  private takeCapacity(valueCount: number): boolean {
    const hasCapacity = this.capacity > 0;

    if (hasCapacity) this.capacity -= valueCount;

    return hasCapacity;
  }

  private defer(valueCount: number, resume: () => void): void {
    if (this.isDiscarded) return;
    this.pendingWork.push({ valueCount, resume });
    this.scheduleSlice();
  }

  private scheduleSlice(): void {
    if (!this.isScheduled) queueWork(this.client, this.startSlice);
    this.isScheduled = true;
  }

  private readonly startSlice = (): void => {
    this.capacity = this.valuesPerSlice;
    this.resumeNext();
  };

  private readonly resumeNext = (): void => {
    const work = this.capacity > 0 ? this.pendingWork.pop() : undefined;

    if (work) {
      this.capacity -= work.valueCount;
      work.resume();
      // graphql-js completes the list in microtasks that are already queued. The next list follows
      // them.
      queueMicrotask(this.resumeNext);
    } else {
      this.capacity = 0;
      this.isScheduled = false;
      if (this.hasPending) this.scheduleSlice();
    }
  };
}
