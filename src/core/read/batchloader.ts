/**
 * Loads values by key in batches (https://github.com/graphql/dataloader), each key once. The fields of a response that wait for a batch, which can be
 * hundreds of thousands, are resumed in slices, between which the event loop serves other requests.
 */
import DataLoader from 'dataloader';

export type LoaderKey = number | string;

/** Spreads the work of an operation over several turns of the event loop. */
export interface EventLoopPacer {
  /** The error with which all fields fail after the operation was aborted; undefined while it was not. */
  readonly abortError?: Error;
  /** Whether lists of the response wait for a later turn of the event loop. */
  hasPendingLists(this: void): boolean;
  /** Calls the given function, which resumes one field of the response, in this turn of the event loop or in a later one. */
  scheduleFieldResumption(this: void, resumeField: () => void): void;
}

/** A field that waits for the value of a key: the functions that settle the promise of its call of `load`. */
interface WaitingField<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

interface KeyLoad<T> {
  waitingFields: WaitingField<T>[];
  /** Settles the promise of a waiting field; undefined until the value of the key has been read. */
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

  /** Returns the value of a key, without a promise if it has been loaded. */
  get(key: LoaderKey): T | Promise<T> {
    const keyLoad = this.loadsByKey.get(key);
    return keyLoad?.isLoaded ? keyLoad.value! : this.load(key);
  }

  /** Returns the values of several keys, without a promise if all have been loaded. */
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
   * Reads a batch after all promise jobs of the current tick, which is the default of DataLoader, and after all pending lists of the response have
   * been passed on, so that the loads of their objects share the batch.
   */
  private readonly scheduleBatch = (dispatchBatch: () => void): void => {
    const dispatchWhenReady = () => {
      if (this.getEventLoopPacer()?.hasPendingLists()) setImmediate(dispatchWhenReady);
      else dispatchBatch();
    };
    void Promise.resolve().then(() => process.nextTick(dispatchWhenReady));
  };

  /** Reads a batch and settles the promises of all fields that wait for its keys. Nothing uses the results that it returns to DataLoader. */
  private async loadBatch(keys: readonly LoaderKey[]): Promise<readonly unknown[]> {
    try {
      const values = await this.readBatch(keys);
      keys.forEach((key, index) => {
        Object.assign(this.loadsByKey.get(key)!, { isLoaded: true, value: values[index] });
        this.settleLoad(key, ({ resolve }) => resolve(values[index]!));
      });
    } catch (error) {
      // After an abort, graphql-js would wrap the error of the read for each waiting field, which takes longer than the rest of the field.
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
