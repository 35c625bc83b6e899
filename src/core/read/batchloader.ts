/**
 * Loads values by key in batches (https://github.com/graphql/dataloader), each key once. What waits for the same key is resumed in slices, between which
 * the event loop serves other requests: with aliases, hundreds of thousands of fields of a response can be the same row.
 */
import DataLoader from 'dataloader';

export type Key = number | string;

/** Spreads the work of an operation over several turns of the event loop. */
export interface Pacing {
  /** Returns a promise that resolves when no object of the response is pending; undefined if none is. */
  whenObjectsComplete(this: void): Promise<void> | undefined;
  /** Calls the function, which resumes one field of the response, now or in a later turn. */
  resume(this: void, field: () => void): void;
}

interface Load<T> {
  value: Promise<T>;
  isSettled: boolean;
  /** Further loads of the key before it is settled. */
  repeats: { resolve(value: T): void; reject(error: unknown): void }[] | undefined;
}

const MAX_BATCH_SIZE = 10_000;

export class BatchLoader<T> {
  private readonly loads = new Map<Key, Load<T>>();
  private readonly loader: DataLoader<Key, T>;

  constructor(
    private readonly readBatch: (keys: readonly Key[]) => Promise<T[]>,
    private readonly pacing: () => Pacing | undefined,
  ) {
    this.loader = new DataLoader<Key, T>((keys) => this.loadBatch(keys), {
      cache: false,
      maxBatchSize: MAX_BATCH_SIZE,
      batchScheduleFn: this.scheduleBatch,
    });
  }

  load(key: Key): Promise<T> {
    const load = this.loads.get(key);
    if (!load) {
      const value = this.loader.load(key);
      this.loads.set(key, { value, isSettled: false, repeats: undefined });
      return value;
    }
    if (load.isSettled) return load.value;
    return new Promise((resolve, reject) => {
      (load.repeats ??= []).push({ resolve, reject });
    });
  }

  /**
   * Reads a batch after all promise jobs of the current tick, which is the default of DataLoader, and after all pending objects of the response have been
   * completed, so that their loads share the batch.
   */
  private readonly scheduleBatch = (dispatch: () => void): void => {
    const dispatchWhenReady = () => {
      const pending = this.pacing()?.whenObjectsComplete();
      if (pending) void pending.then(() => this.scheduleBatch(dispatch));
      else dispatch();
    };
    void Promise.resolve().then(() => process.nextTick(dispatchWhenReady));
  };

  private async loadBatch(keys: readonly Key[]): Promise<T[]> {
    try {
      const values = await this.readBatch(keys);
      keys.forEach((key, index) => this.settle(key, ({ resolve }) => resolve(values[index]!)));
      return values;
    } catch (error) {
      for (const key of keys) this.settle(key, ({ reject }) => reject(error));
      throw error;
    }
  }

  private settle(key: Key, settleRepeat: (repeat: NonNullable<Load<T>['repeats']>[number]) => void): void {
    const load = this.loads.get(key)!;
    const { repeats = [] } = load;
    load.isSettled = true;
    load.repeats = undefined;
    const pacing = this.pacing();
    for (const repeat of repeats) {
      if (pacing) pacing.resume(() => settleRepeat(repeat));
      else settleRepeat(repeat);
    }
  }
}
