/**
 * Loads values by key in batches (https://github.com/graphql/dataloader), each key once. Hundreds
 * of thousands of fields may wait for a batch, so they are resumed in slices, between which the
 * event loop serves other requests.
 */
import DataLoader from 'dataloader';

export type LoaderKey = number | string;

/** Spreads the work of an operation over several turns of the event loop. */
export interface EventLoopPacer {
  /** Error with which all fields fail after the operation was aborted. */
  readonly abortError?: Error;

  /** Whether lists of the response wait for a later turn of the event loop. */
  hasPendingLists(this: void): boolean;

  /** Resumes one field of the response in this turn of the event loop or in a later one. */
  scheduleFieldResumption(this: void, resumeField: () => void): void;
}

/** A field that waits for the value of a key: settles the promise of its `load` call. */
interface WaitingField<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

interface KeyLoad<T> {
  waitingFields: WaitingField<T>[];

  /** Settles the promise of a waiting field. Set when the value of the key has been read. */
  settleField: ((field: WaitingField<T>) => void) | undefined;
  isLoaded: boolean;
  value?: T;
}

const MAX_BATCH_SIZE = 10_000;

export class BatchLoader<T> {
  private readonly loadsByKey = new Map<LoaderKey, KeyLoad<T>>();
  private readonly dataLoader: DataLoader<LoaderKey, unknown>;

  constructor(
    private readonly readBatch: (keys: readonly LoaderKey[]) => Promise<T[]>,
    private readonly getEventLoopPacer: () => EventLoopPacer | undefined,
  ) {
    this.dataLoader = new DataLoader<LoaderKey, unknown>((keys) => this.loadBatch(keys), {
      cache: false,
      maxBatchSize: MAX_BATCH_SIZE,
      batchScheduleFn: this.scheduleBatch,
    });
  }

  /** Loads the value of a key. A loaded value is returned without a promise. */
  get(key: LoaderKey): T | Promise<T> {
    const keyLoad = this.loadsByKey.get(key);

    return keyLoad?.isLoaded ? keyLoad.value! : this.load(key);
  }

  /** Loads several keys. If all values have been loaded, they are returned without a promise. */
  getAll(keys: readonly LoaderKey[]): T[] | Promise<T[]> {
    const values = keys.map((key) => this.get(key));

    return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as T[]);
  }

  load(key: LoaderKey): Promise<T> {
    const keyLoad = this.loadsByKey.get(key) ?? this.beginLoad(key);

    return new Promise((resolve, reject) => {
      if (keyLoad.settleField) keyLoad.settleField({ resolve, reject });
      else keyLoad.waitingFields.push({ resolve, reject });
    });
  }

  private beginLoad(key: LoaderKey): KeyLoad<T> {
    const keyLoad: KeyLoad<T> = { waitingFields: [], settleField: undefined, isLoaded: false };

    this.loadsByKey.set(key, keyLoad);
    void this.dataLoader.load(key);
    return keyLoad;
  }

  /**
   * Reads a batch after all promise jobs of the current tick (the default of DataLoader) and after
   * all pending lists of the response have been delivered, so that the loads of their objects share
   * the batch.
   */
  private readonly scheduleBatch = (dispatchBatch: () => void): void => {
    const dispatchWhenReady = () => {
      if (this.getEventLoopPacer()?.hasPendingLists()) setImmediate(dispatchWhenReady);
      else dispatchBatch();
    };

    void Promise.resolve().then(() => process.nextTick(dispatchWhenReady));
  };

  /**
   * Reads a batch and settles the promises of all waiting fields. DataLoader requires a result for
   * each key, but nothing uses these results.
   */
  private async loadBatch(keys: readonly LoaderKey[]): Promise<readonly unknown[]> {
    try {
      const values = await this.readBatch(keys);

      keys.forEach((key, index) => {
        Object.assign(this.loadsByKey.get(key)!, { isLoaded: true, value: values[index] });
        this.settleLoad(key, ({ resolve }) => resolve(values[index]!));
      });
    } catch (error) {
      // All fields share the error of an abort. Otherwise graphql-js would wrap the read error for
      // each waiting field, which takes longer than the rest of the field.
      const sharedError = this.getEventLoopPacer()?.abortError ?? error;

      for (const key of keys) this.settleLoad(key, ({ reject }) => reject(sharedError));
    }

    return keys;
  }

  private settleLoad(key: LoaderKey, settleField: (field: WaitingField<T>) => void): void {
    const keyLoad = this.loadsByKey.get(key)!;
    const { waitingFields } = keyLoad;

    keyLoad.settleField = settleField;
    keyLoad.waitingFields = [];
    const eventLoopPacer = this.getEventLoopPacer();

    for (const field of waitingFields) {
      if (eventLoopPacer) eventLoopPacer.scheduleFieldResumption(() => settleField(field));
      else settleField(field);
    }
  }
}

/**
 * DataLoaders of one request. The key of a loader identifies the rows and columns that it selects.
 */
export class Loaders {
  private loadersByKey = new Map<unknown, BatchLoader<unknown>>();
  derivedValuesByName = new Map<string, Promise<unknown>>();

  /** Spreads the work of the running operation over several turns of the event loop. */
  eventLoopPacer?: EventLoopPacer;

  getOrCreate<T>(
    key: unknown,
    readBatch: (keys: readonly LoaderKey[]) => Promise<T[]>,
  ): BatchLoader<T> {
    const existingLoader = this.loadersByKey.get(key);

    if (existingLoader) return existingLoader as BatchLoader<T>;

    const loader = new BatchLoader<T>(readBatch, () => this.eventLoopPacer);

    this.loadersByKey.set(key, loader as BatchLoader<unknown>);
    return loader;
  }

  /**
   * Discards loaded rows after a write. The maps are replaced, because V8 keeps the old tables of a
   * cleared map alive through chained references.
   */
  clear(): void {
    this.loadersByKey = new Map();
    this.derivedValuesByName = new Map();
  }
}
