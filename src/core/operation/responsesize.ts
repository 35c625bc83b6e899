/**
 * Response size limit of one operation. The characters of each object are counted before graphql-js completes it, so that an oversized response fails
 * while little of it is in memory. Objects of a long response are completed in slices, between which the event loop serves other requests.
 */
import { isIntrospectionType, isObjectType, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import type { Context } from '../context';
import type { EventLoopPacer } from '../read/batchloader';
import { JSON_KEY_OVERHEAD_BYTES, responseKeyOf } from './cost';
import { resultTooLargeError } from '../model/errors';
import { selectedFieldNodesByName, selectionCacheKey } from '../read/queryplan';

/** Number of field values that an operation completes before it first yields to the event loop: a few milliseconds of work. */
const DEFAULT_VALUES_PER_EVENT_LOOP_TURN = 10_000;
/**
 * Factor by which later slices of a response contain fewer values than the first, because their values may take longer to complete, up to 50 µs each.
 */
const LATER_SLICE_DIVISOR = 5;
const LONG_RESPONSE_CHARACTERS = 1 << 16;
const ASSUMED_NON_STRING_LENGTH = 5;

/** Contribution of a selection set to the size of each object of the response. */
interface SelectionShape {
  fieldNames: readonly string[];
  /** Number of characters of all response keys, with quotes, colons and commas. */
  keyCharacters: number;
}

const shapesBySelection = new WeakMap<object, SelectionShape>();

function shapeOf({ fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>): SelectionShape {
  const selection = selectionCacheKey(fieldNodes);
  let shape = shapesBySelection.get(selection);
  if (!shape) {
    const nodes = [...selectedFieldNodesByName(fieldNodes, fragments).values()].flat();
    const fieldNamesByResponseKey = new Map(nodes.map((node) => [responseKeyOf(node), node.name.value]));
    const keyCharacters = [...fieldNamesByResponseKey.keys()].reduce((sum, key) => sum + key.length + JSON_KEY_OVERHEAD_BYTES, 0);
    shapesBySelection.set(selection, (shape = { fieldNames: [...fieldNamesByResponseKey.values()], keyCharacters }));
  }
  return shape;
}

/** Work that is deferred to a later turn of the event loop: an object to be completed by graphql-js, or a field whose value has been loaded. */
interface PendingObject {
  /** Number of field values that the pending object contributes to a slice. */
  valueCount: number;
  /** Maximum number of values in a slice that contains this object. */
  maxValuesPerSlice: number;
  complete(this: void): void;
}

/**
 * Queue of objects that wait for a later turn of the event loop. Each turn completes a slice of them, whichever requests they belong to. Objects
 * nested in them are completed in the same slice while it has room, without waiting: the promises of 400,000 waiting objects would take 400 MB.
 */
class PendingObjectQueue {
  private readonly pendingObjects: PendingObject[] = [];
  /** Number of pending objects that the current slice (the work of one event-loop turn) has completed; undefined between slices. */
  private completedCount?: number;
  /** Number of field values in the current slice. */
  private valueCount = 0;

  add(object: PendingObject): void {
    this.pendingObjects.push(object);
    if (this.pendingObjects.length === 1) setImmediate(this.completeSlice);
  }

  /** Adds an object to the current slice. Returns false if no slice is running or if it is full. */
  addToCurrentSlice(valueCount: number, maxValuesPerSlice: number): boolean {
    if (this.completedCount === undefined || this.valueCount >= maxValuesPerSlice) return false;
    this.valueCount += valueCount;
    return true;
  }

  private readonly completeSlice = (): void => {
    this.completedCount = 0;
    this.valueCount = 0;
    this.completeNextObject();
  };

  private readonly completeNextObject = (): void => {
    const object = this.pendingObjects[this.completedCount!];
    if (object && this.valueCount < object.maxValuesPerSlice) {
      this.completedCount! += 1;
      this.valueCount += object.valueCount;
      object.complete();
      // graphql-js completes the object, and counts the objects nested in it, in a microtask that is already queued. The next object follows in a
      // microtask after that one.
      queueMicrotask(this.completeNextObject);
      return;
    }
    this.pendingObjects.splice(0, this.completedCount);
    this.completedCount = undefined;
    if (object) setImmediate(this.completeSlice);
  };
}

const pendingObjectQueue = new PendingObjectQueue();

export class ResponseSizeCounter implements EventLoopPacer {
  objectCount = 0;
  private characterCount = 0;
  private valueCount = 0;
  private pendingObjectCount = 0;
  private allObjectsCompletion?: { promise: Promise<void>; resolve(this: void): void };

  constructor(
    private readonly limit: number,
    private readonly valuesPerEventLoopTurn = DEFAULT_VALUES_PER_EVENT_LOOP_TURN,
  ) {}

  /** Whether the response is so long that its serialization should yield to the event loop. */
  get isLong(): boolean {
    return this.characterCount > LONG_RESPONSE_CHARACTERS;
  }

  get exceedsLimit(): boolean {
    return this.characterCount > this.limit;
  }

  /**
   * Counts an object before graphql-js completes it. Returns true or, if enough values have been completed in this turn of the event loop, a promise
   * that resolves in a later turn. Throws RESULT_TOO_LARGE if the response exceeds the size limit.
   */
  countObject(object: unknown, { fieldNames, keyCharacters }: SelectionShape): true | Promise<true> {
    const row = object as Record<string, unknown>;
    this.objectCount += 1;
    this.characterCount += keyCharacters;
    for (const name of fieldNames) {
      const value = row[name];
      this.characterCount += typeof value === 'string' ? value.length : ASSUMED_NON_STRING_LENGTH;
    }
    if (this.exceedsLimit) throw resultTooLargeError(this.limit);
    return (
      this.fitsInEventLoopTurn(fieldNames.length) ||
      new Promise((resolve) => this.scheduleForLaterSlice(fieldNames.length, () => resolve(true)))
    );
  }

  readonly scheduleFieldResumption = (resumeField: () => void): void => {
    if (this.fitsInEventLoopTurn(1)) resumeField();
    else this.scheduleForLaterSlice(1, resumeField);
  };

  /** Returns a promise that resolves when all waiting objects have been completed; undefined if none is waiting now. */
  readonly waitForPendingResponseObjects = (): Promise<void> | undefined => {
    if (!this.pendingObjectCount) return undefined;
    if (!this.allObjectsCompletion) {
      let resolve!: () => void;
      const promise = new Promise<void>((done) => (resolve = done));
      this.allObjectsCompletion = { promise, resolve };
    }
    return this.allObjectsCompletion.promise;
  };

  /** Counts field values of the response. Returns whether they can be completed in this turn of the event loop. */
  private fitsInEventLoopTurn(valueCount: number): boolean {
    this.valueCount += valueCount;
    return (
      this.valueCount <= this.valuesPerEventLoopTurn ||
      pendingObjectQueue.addToCurrentSlice(valueCount, this.valuesPerEventLoopTurn / LATER_SLICE_DIVISOR)
    );
  }

  private scheduleForLaterSlice(valueCount: number, complete: () => void): void {
    this.pendingObjectCount += 1;
    pendingObjectQueue.add({
      valueCount,
      maxValuesPerSlice: this.valuesPerEventLoopTurn / LATER_SLICE_DIVISOR,
      complete: () => {
        complete();
        this.pendingObjectCount -= 1;
        if (this.pendingObjectCount) return;
        this.allObjectsCompletion?.resolve();
        this.allObjectsCompletion = undefined;
      },
    });
  }
}

/**
 * Installs the response size counter as `isTypeOf` of all object types, because graphql-js calls it before it completes an object. Introspection
 * needs no limit, because its cost bounds its size.
 */
export function limitResponseSize(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !isIntrospectionType(type))
      type.isTypeOf = (object, context: Context, info) => context.responseSizeCounter?.countObject(object, shapeOf(info)) ?? true;
  return schema;
}
