/**
 * Meter of one request: counts the objects of a response before graphql-js iterates their lists.
 * Aborts all resolvers at a limit or deadline, or when the client has left. Delivers long lists in
 * slices, between which the event loop serves other requests.
 */
import {
  getNamedType,
  GraphQLError,
  isCompositeType,
  valueFromASTUntyped,
  type ArgumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
} from 'graphql';
import type { DatabaseSession } from '../../database/session';
import type { TurnClient } from '../../shared/fair-turns';
import { ClientLimiters } from '../../shared/limiter';
import {
  overloadedError,
  resultTooLargeError,
  tooManyObjectsError,
  tooManyValuesError,
  type ClientError,
} from '../declare/errors';
import type { EventLoopPacer } from '../read/batch-loader';
import { selectedFieldNodesByName, selectionCacheKey } from '../declare/selections';
import { isInputObject } from './argument-cost';
import { responseKeyOf } from './cost';
import { EventLoopSlices } from './event-loop-slices';
import { groupBy } from '../../shared/multimap';

export interface MeterLimits {
  maxResponseBytes: number;

  /** Maximum number of values in the response, weighted by their work. */
  maxValues: number;

  /** Values that an operation completes in one turn of the event loop. */
  valuesPerEventLoopTurn?: number;
}

export const MAX_RESPONSE_OBJECTS = 200_000;

/**
 * Number of objects that makes a response large. Only a few large responses are in memory at a
 * time.
 */
const LARGE_RESPONSE_OBJECTS = 20_000;
const largeResponseLimiters = new ClientLimiters({
  slots: 3,
  slotsPerClient: 1,
  maxQueued: 100,
  maxWaitMs: 10_000,
});

/** Values and read bytes above which the serialization of a response yields to the event loop. */
const LONG_RESPONSE_VALUES = 20_000;
const LONG_RESPONSE_BYTES = 1 << 16;

/**
 * Maximum number of bytes that an operation reads from the database, as a multiple of the maximum
 * response size. It exceeds 1, because a response can be shorter than the rows read for it.
 */
const MAX_READ_BYTES_PER_RESPONSE_BYTE = 2;

/**
 * Weights of objects, lists and `@cost` units, as numbers of field values. A value takes about one
 * microsecond of CPU time from graphql-js to the JSON text, with garbage collection. An object
 * takes five, a list twenty, and the nutritional values of a diary entry (`@cost(weight: 2)`)
 * fifty.
 */
const VALUES_PER_OBJECT = 5;
const VALUES_PER_LIST = 20;
const VALUES_PER_COST_UNIT = 25;

/**
 * Minimum of JSON bytes in addition to a key: quotes, colon, comma and a value of one character.
 */
const MIN_JSON_BYTES_PER_KEY = 5;

/**
 * Weights of argument values and input objects, as numbers of field values. graphql-js and
 * type-graphql convert the arguments of a field again for each object that has the field.
 */
const VALUES_PER_INPUT_VALUE = 0.25;
const VALUES_PER_INPUT_OBJECT = 10;

/** Objects, id lists and root fields with more values than this wait for capacity in a slice. */
const MIN_SLICED_VALUES = 100;

/**
 * What a selection set adds to the response for each object: the number of objects, the weighted
 * number of values (not counting arguments), and the minimum number of bytes.
 */
interface SelectionShape {
  objects: number;
  values: number;
  bytes: number;
  argumentNodes: ArgumentNode[];
}

const shapesBySelection = new WeakMap<object, SelectionShape>();
const valuesByInput = new WeakMap<object, number>();

function selectionShapeOf({
  fieldNodes,
  fragments,
  returnType,
}: GraphQLResolveInfo): SelectionShape {
  const selection = selectionCacheKey(fieldNodes);
  const cachedShape = shapesBySelection.get(selection);

  if (cachedShape) return cachedShape;

  const shape = { objects: 0, values: 0, bytes: 0, argumentNodes: [] };

  addObjectToShape(shape, fieldNodes, getNamedType(returnType), fragments);
  shapesBySelection.set(selection, shape);
  return shape;
}

/**
 * Adds an object to a shape, including nested objects of fields without a resolver (such as the
 * node of an edge), which are not metered by themselves.
 */
function addObjectToShape(
  shape: SelectionShape,
  fieldNodes: readonly FieldNode[],
  type: GraphQLNamedType,
  fragments: GraphQLResolveInfo['fragments'],
): void {
  const fields = 'getFields' in type ? type.getFields() : {};

  shape.objects += 1;
  shape.values += VALUES_PER_OBJECT;
  const nodesByKey = groupBy(
    [...selectedFieldNodesByName(fieldNodes, fragments).values()].flat(),
    responseKeyOf,
  );

  for (const [key, nodes] of nodesByKey) {
    const [node] = nodes as [FieldNode];
    const field = fields[node.name.value] as GraphQLField<unknown, unknown> | undefined;
    const fieldType = field && getNamedType(field.type);

    shape.values += 1 + (field?.extensions.cost?.weight ?? 0) * VALUES_PER_COST_UNIT;
    shape.bytes += key.length + MIN_JSON_BYTES_PER_KEY;
    shape.argumentNodes.push(...(node.arguments ?? []));

    if (fieldType && !field.resolve && isCompositeType(fieldType)) {
      addObjectToShape(shape, nodes, fieldType, fragments);
    }
  }
}

function valuesOfInput(input: unknown): number {
  if (!Array.isArray(input) && !isInputObject(input)) return VALUES_PER_INPUT_VALUE;
  const cachedValues = valuesByInput.get(input);

  if (cachedValues !== undefined) return cachedValues;

  const nestedValues = Object.values(input).reduce(
    (sum: number, value) => sum + valuesOfInput(value),
    0,
  );
  const values = nestedValues + (Array.isArray(input) ? 0 : VALUES_PER_INPUT_OBJECT);

  valuesByInput.set(input, values);
  return values;
}

const valuesOfArguments = (
  nodes: readonly ArgumentNode[],
  { variableValues }: GraphQLResolveInfo,
): number =>
  nodes.reduce(
    (sum, { value }) => sum + valuesOfInput(valueFromASTUntyped(value, variableValues)),
    0,
  );

export class Meter implements EventLoopPacer {
  objectCount = 0;
  private valueCount = 0;

  /** Lower bound of the response size in bytes. */
  private minResponseBytes = 0;

  /** Error with which all fields fail after an abort. Wraps `abortReason`. */
  abortError?: GraphQLError;
  private rejectRun?: (error: GraphQLError) => void;
  private readonly slices: EventLoopSlices;

  /** Weighted values per object, for selections with arguments. */
  private readonly valuesBySelection = new Map<object, number>();
  private slotPromise?: Promise<void>;
  private releaseSlot?: () => void;

  constructor(
    private readonly session: DatabaseSession,
    client: TurnClient,
    private readonly limits: MeterLimits,
  ) {
    session.limitReadBytes(MAX_READ_BYTES_PER_RESPONSE_BYTE * limits.maxResponseBytes, () =>
      this.abortTooLarge(),
    );
    this.slices = new EventLoopSlices(client, limits.valuesPerEventLoopTurn);
  }

  /** Whether the response is so long that its serialization should yield to the event loop. */
  get isLong(): boolean {
    return this.valueCount > LONG_RESPONSE_VALUES || this.session.readBytes > LONG_RESPONSE_BYTES;
  }

  get abortReason(): ClientError | undefined {
    return this.abortError?.originalError as ClientError | undefined;
  }

  /**
   * Rejected promise that resolvers return after an abort. If they threw at once instead,
   * graphql-js would abandon the promises of sibling fields, whose rejections would be unhandled.
   */
  rejectAborted(): Promise<never> {
    return Promise.reject(this.abortError!);
  }

  /** Makes all resolvers and reads fail with `reason`. */
  abort(reason: ClientError): void {
    if (this.abortError) return;
    // graphql-js reuses an error that has a path, so that all fields share one object.
    this.abortError = new GraphQLError(reason.message, { path: [], originalError: reason });
    this.session.stopReads(reason);
    if (!this.rejectRun) return;
    this.rejectRun(this.abortError);
    this.slices.discard();
  }

  /** Aborts the work, but lets a write that has begun complete. */
  abortUnlessWriting(reason: ClientError): void {
    if (!this.session.isWriting) this.abort(reason);
  }

  throwIfAborted(): void {
    if (this.abortError) throw this.abortError;
  }

  /**
   * Runs work until it ends or is aborted. After an abort, the promise rejects at once, while the
   * remaining resolvers fail.
   */
  runUntilAborted<T>(work: () => Promise<T>): Promise<T> {
    // `Promise.race` would keep the result in memory for longer, which costs five percent of the
    // time of a request.
    return new Promise((resolve, reject) => {
      if (this.abortError) return reject(this.abortError);
      this.rejectRun = reject;
      work().then(resolve, reject);
    });
  }

  /** Releases the slot of a large response. */
  finish(): void {
    this.releaseSlot?.();
    this.releaseSlot = undefined;
    this.rejectRun = undefined;
  }

  /** Counts a list of the response. Returns false after an abort. */
  countList(count: number, info: GraphQLResolveInfo): boolean {
    this.valueCount += VALUES_PER_LIST;
    return this.countObjects(count, info);
  }

  /**
   * Resolves a root field, whose arguments belong to no counted object. Large arguments take a
   * slice of their own.
   */
  resolveRootField(info: GraphQLResolveInfo, resolve: () => unknown): unknown {
    const values = valuesOfArguments(info.fieldNodes[0]!.arguments ?? [], info);

    this.valueCount += values;
    if (!this.countObjects(0, info)) return this.rejectAborted();

    return this.resolveInSlice(values, resolve);
  }

  /** Resolves a field at once, or when a slice has capacity if the field produces many values. */
  resolveInSlice(values: number, resolve: () => unknown): unknown {
    return values <= MIN_SLICED_VALUES ? resolve() : this.waitForSlice(values).then(resolve);
  }

  /** Delivers an object to graphql-js, at once or in a later turn of the event loop. */
  deliverObject(object: unknown, info: GraphQLResolveInfo): unknown {
    const values = this.valuesPerObject(info);

    if (values <= MIN_SLICED_VALUES) return object;

    return Promise.resolve(object).then((result) => this.waitForSlice(values).then(() => result));
  }

  private waitForSlice(values: number): Promise<void> {
    return new Promise((start) => this.slices.schedule(values, start));
  }

  /**
   * Counts objects of the response and aborts the work if there are too many. Returns false after
   * an abort.
   */
  countObjects(count: number, info: GraphQLResolveInfo): boolean {
    if (this.abortError) return false;
    const { objects, bytes } = selectionShapeOf(info);

    this.objectCount += count * objects;
    this.valueCount += count * this.valuesPerObject(info);
    this.minResponseBytes += count * bytes;

    if (this.objectCount > MAX_RESPONSE_OBJECTS) {
      this.abort(tooManyObjectsError(MAX_RESPONSE_OBJECTS));
    } else if (this.minResponseBytes > this.limits.maxResponseBytes) this.abortTooLarge();
    else if (this.valueCount > this.limits.maxValues) {
      this.abort(tooManyValuesError(this.limits.maxValues));
    }

    return !this.abortError;
  }

  /** Delivers a list to graphql-js, at once or in a later turn of the event loop. */
  deliverList(list: readonly unknown[], info: GraphQLResolveInfo): unknown {
    const slotPromise = this.objectCount > LARGE_RESPONSE_OBJECTS ? this.waitForSlot() : undefined;
    const deliver = () =>
      this.slices.deliverList(list, this.valuesPerObject(info), this.rethrowAbort);

    return slotPromise && !this.releaseSlot ? slotPromise.then(deliver) : deliver();
  }

  readonly scheduleFieldResumption = (resumeField: () => void): void =>
    this.slices.schedule(VALUES_PER_OBJECT, resumeField);

  readonly hasPendingLists = (): boolean => this.slices.hasPending;

  /** Weighted number of values of an object with the selected fields. */
  private valuesPerObject(info: GraphQLResolveInfo): number {
    const { values, argumentNodes } = selectionShapeOf(info);

    if (argumentNodes.length === 0) return values;

    const selection = selectionCacheKey(info.fieldNodes);
    const cachedValues = this.valuesBySelection.get(selection);

    if (cachedValues !== undefined) return cachedValues;

    const valuesWithArguments = values + valuesOfArguments(argumentNodes, info);

    this.valuesBySelection.set(selection, valuesWithArguments);
    return valuesWithArguments;
  }

  private readonly rethrowAbort = (): void => this.throwIfAborted();

  private abortTooLarge(): void {
    this.abort(resultTooLargeError(this.limits.maxResponseBytes));
  }

  /**
   * Waits for a slot of a large response. A transaction never waits, because others need its
   * connection and locks.
   */
  private waitForSlot(): Promise<void> | undefined {
    if (this.session.isInTransaction) return undefined;

    return (this.slotPromise ??= this.acquireSlot());
  }

  private async acquireSlot(): Promise<void> {
    const { clientKey } = this.session;
    const limiter = largeResponseLimiters.forClient(clientKey);
    const release = () => limiter.release(clientKey);

    await limiter.waitForSlot(clientKey).then(
      () => (this.releaseSlot = release),
      () => this.abort(overloadedError()),
    );
    if (this.abortError) this.finish();
    this.throwIfAborted();
  }
}
