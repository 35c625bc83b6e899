/**
 * Passes on the lists of a long answer in slices, each in a fair turn of its client. Lists nested in a slice are passed on in the same slice while it has
 * room, without waiting.
 */
import { takeTurnLater, type TurnClient } from '../../platform/fairturns';

/** Number of field values that an operation completes before it first yields to the event loop: a few milliseconds of work. */
const DEFAULT_VALUES_PER_EVENT_LOOP_TURN = 10_000;
/** Factor by which later slices are smaller than the first, because their values may take longer to complete, up to 50 µs each. */
const LATER_SLICE_DIVISOR = 5;

interface PendingWork {
  valueCount: number;
  resume(this: void): void;
}

export class EventLoopSlices {
  private valueCount = 0;
  private sliceValueCount = 0;
  private isDiscarded = false;
  /** A stack: the innermost lists come first, so that few of them are pending at a time. */
  private readonly pendingWork: PendingWork[] = [];
  private completion?: { promise: Promise<void>; resolve(this: void): void };
  private state: 'idle' | 'waiting' | 'running' = 'idle';

  constructor(
    private readonly client: TurnClient,
    private readonly valuesPerTurn = DEFAULT_VALUES_PER_EVENT_LOOP_TURN,
  ) {}

  private get maxValuesPerSlice(): number {
    return this.valuesPerTurn / LATER_SLICE_DIVISOR;
  }

  /** Calls `resume` now or in a later turn. `valueCount`: number of field values that follow from it. */
  schedule(valueCount: number, resume: () => void): void {
    if (!this.isDiscarded && this.fitsInTurn(valueCount)) resume();
    else this.defer(valueCount, resume);
  }

  /**
   * Returns a list now or in a later turn. Of a list that is longer than a slice, the items are promises, of which each turn resolves a slice. A promise
   * rejects if `check` throws then. `valuesPerItem`: number of field values that follow from an item.
   */
  passOnList<T>(items: readonly T[], valuesPerItem: number, check: () => void): readonly (T | Promise<T>)[] | Promise<readonly T[]> {
    const sliceLength = Math.max(1, Math.floor(this.maxValuesPerSlice / Math.max(1, valuesPerItem)));
    if (items.length <= sliceLength) {
      const valueCount = items.length * valuesPerItem;
      return this.fitsInTurn(valueCount) ? items : this.inLaterTurn(valueCount, check).then(() => items);
    }
    const passedItems: (T | Promise<T>)[] = [];
    for (let start = 0; start < items.length; start += sliceLength) {
      const slice = items.slice(start, start + sliceLength);
      const valueCount = slice.length * valuesPerItem;
      if (this.fitsInTurn(valueCount)) {
        passedItems.push(...slice);
        continue;
      }
      const resumed = this.inLaterTurn(valueCount, check);
      passedItems.push(...slice.map((item) => resumed.then(() => item)));
    }
    return passedItems;
  }

  private inLaterTurn(valueCount: number, check: () => void): Promise<void> {
    return new Promise<void>((resolve) => this.defer(valueCount, resolve)).then(check);
  }

  /** Returns a promise that resolves when all deferred work has been resumed; undefined if there is none. */
  waitForPending(): Promise<void> | undefined {
    if (!this.pendingWork.length) return undefined;
    if (!this.completion) {
      let resolve!: () => void;
      const promise = new Promise<void>((done) => (resolve = done));
      this.completion = { promise, resolve };
    }
    return this.completion.promise;
  }

  /** Drops all pending and future work: the promises for it are never settled. Settling them would take as long as the work. */
  discard(): void {
    this.isDiscarded = true;
    this.pendingWork.length = 0;
  }

  private readonly runSlice = (): void => {
    this.state = 'running';
    this.sliceValueCount = 0;
    this.resumeNext();
  };

  private readonly resumeNext = (): void => {
    const work = this.sliceValueCount < this.maxValuesPerSlice ? this.pendingWork.pop() : undefined;
    if (!work) {
      this.state = 'idle';
      return this.scheduleSlice();
    }
    this.sliceValueCount += work.valueCount;
    work.resume();
    if (!this.pendingWork.length) {
      this.completion?.resolve();
      this.completion = undefined;
    }
    // graphql-js completes the list in microtasks that are already queued. The next one follows after them.
    queueMicrotask(this.resumeNext);
  };

  private scheduleSlice(): void {
    if (this.state !== 'idle' || !this.pendingWork.length) return;
    this.state = 'waiting';
    takeTurnLater(this.client, this.runSlice);
  }

  /** Counts field values. Returns whether they can be completed in this turn of the event loop. */
  private fitsInTurn(valueCount: number): boolean {
    this.valueCount += valueCount;
    if (this.valueCount <= this.valuesPerTurn) return true;
    if (this.state !== 'running' || this.sliceValueCount >= this.maxValuesPerSlice) return false;
    this.sliceValueCount += valueCount;
    return true;
  }

  private defer(valueCount: number, resume: () => void): void {
    if (this.isDiscarded) return;
    this.pendingWork.push({ valueCount, resume });
    this.scheduleSlice();
  }
}
