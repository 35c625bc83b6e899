/**
 * Passes on the lists of a long answer in slices, each in a fair turn of its client. Lists nested in a slice are passed on in the same slice while it has
 * room, without waiting.
 */
import { takeTurnLater, type TurnClient } from '../../platform/fairturns';

/** Number of values of a slice: some milliseconds of work. */
const DEFAULT_VALUES_PER_SLICE = 5_000;
/** Number of slices that an operation completes before it first yields to the event loop, because most answers end within them. */
const SLICES_AT_ONCE = 4;

interface PendingWork {
  valueCount: number;
  resume(this: void): void;
}

export class EventLoopSlices {
  /** Number of values that fit into the current slice. */
  private room: number;
  private isDiscarded = false;
  private isScheduled = false;
  /** A stack: the innermost lists come first, so that few of them are pending at a time. */
  private readonly pendingWork: PendingWork[] = [];

  constructor(
    private readonly client: TurnClient,
    private readonly valuesPerSlice = DEFAULT_VALUES_PER_SLICE,
  ) {
    this.room = SLICES_AT_ONCE * valuesPerSlice;
  }

  /** Calls `resume` now or in a later turn. `valueCount`: number of values that follow from it. */
  schedule(valueCount: number, resume: () => void): void {
    if (!this.isDiscarded && this.fits(valueCount)) resume();
    else this.defer(valueCount, resume);
  }

  /**
   * Returns a list now or in a later turn. Of a list that is longer than a slice, the items are promises, of which each turn resolves a slice. A promise
   * rejects if `check` throws then. `valuesPerItem`: number of values that follow from an item.
   */
  passOnList<T>(
    items: readonly T[],
    valuesPerItem: number,
    check: () => void,
  ): readonly (T | Promise<T>)[] | Promise<readonly T[]> {
    const sliceLength = Math.ceil(this.valuesPerSlice / valuesPerItem);
    if (items.length <= sliceLength) {
      const valueCount = items.length * valuesPerItem;
      return this.fits(valueCount) ? items : this.inLaterTurn(valueCount, check).then(() => items);
    }

    const passedItems: (T | Promise<T>)[] = [];
    for (let start = 0; start < items.length; start += sliceLength) {
      const slice = items.slice(start, start + sliceLength);
      const valueCount = slice.length * valuesPerItem;
      const resumption = this.fits(valueCount) ? undefined : this.inLaterTurn(valueCount, check);
      passedItems.push(...(resumption ? slice.map((item) => resumption.then(() => item)) : slice));
    }
    return passedItems;
  }

  /** Whether work is deferred that has not been resumed. */
  get hasPending(): boolean {
    return this.pendingWork.length > 0;
  }

  /** Drops all pending and future work: the promises for it are never settled. Settling them would take as long as the work. */
  discard(): void {
    this.isDiscarded = true;
    this.pendingWork.length = 0;
  }

  private inLaterTurn(valueCount: number, check: () => void): Promise<void> {
    return new Promise<void>((resolve) => this.defer(valueCount, resolve)).then(check);
  }

  /** Returns whether values fit into the current slice, and takes their room. */
  private fits(valueCount: number): boolean {
    const hasRoom = this.room > 0;
    if (hasRoom) this.room -= valueCount;
    return hasRoom;
  }

  private defer(valueCount: number, resume: () => void): void {
    if (this.isDiscarded) return;
    this.pendingWork.push({ valueCount, resume });
    this.scheduleSlice();
  }

  private scheduleSlice(): void {
    if (!this.isScheduled) takeTurnLater(this.client, this.startSlice);
    this.isScheduled = true;
  }

  private readonly startSlice = (): void => {
    this.room = this.valuesPerSlice;
    this.resumeNext();
  };

  private readonly resumeNext = (): void => {
    const work = this.room > 0 ? this.pendingWork.pop() : undefined;
    if (work) {
      this.room -= work.valueCount;
      work.resume();
      // graphql-js completes the list in microtasks that are already queued. The next one follows after them.
      queueMicrotask(this.resumeNext);
    } else {
      this.room = 0;
      this.isScheduled = false;
      if (this.hasPending) this.scheduleSlice();
    }
  };
}
