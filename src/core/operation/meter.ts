/**
 * Meter of one request: counts the objects of its answer where a list is returned, before graphql-js iterates it, and aborts the work when a limit is
 * exceeded, the deadline has passed or the client has left. After an abort every resolver of a list or relation fails at once. Lists of a long answer
 * are passed on in slices, between which the event loop serves other requests.
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
import type { TurnClient } from '../../platform/fairturns';
import { ClientLimiters } from '../../platform/limiter';
import {
  overloadedError,
  resultTooLargeError,
  tooManyObjectsError,
  tooManyValuesError,
  type ClientError,
} from '../model/errors';
import type { EventLoopPacer } from '../read/batchloader';
import { selectedFieldNodesByName, selectionCacheKey } from '../read/queryplan';
import { isInputObject } from './argumentcost';
import { responseKeyOf } from './cost';
import { EventLoopSlices } from './eventloopslices';

export interface MeterLimits {
  maxResponseBytes: number;
  /** Maximum number of values of the answer, as `shapeOf` weights them. */
  maxValues: number;
  /** Number of values that an operation completes in one turn of the event loop. */
  valuesPerEventLoopTurn?: number;
}

export const MAX_OBJECTS = 200_000;

/** Objects above which an answer is large. Only a few large answers are in memory at a time. */
const LARGE_ANSWER_OBJECTS = 20_000;
const largeAnswerLimiters = new ClientLimiters({
  slots: 3,
  slotsPerClient: 1,
  maxQueued: 100,
  maxWaitMs: 10_000,
});

/** Values and read bytes above which the serialization of an answer yields to the event loop. */
const LONG_ANSWER_VALUES = 20_000;
const LONG_ANSWER_BYTES = 1 << 16;

/** Factor by which the database may return more bytes than the maximum response size, because an answer can be shorter than the rows behind it. */
const MAX_READ_BYTES_PER_RESPONSE_BYTE = 2;

/**
 * Work per object and per unit of `@cost`, in field values. A value takes about one microsecond of CPU time from graphql-js to the JSON text, with garbage
 * collection; an object five, a list twenty, and the nutritional values of a diary entry (`@cost(weight: 2)`) fifty.
 */
const VALUES_PER_OBJECT = 5;
const VALUES_PER_LIST = 20;
const VALUES_PER_COST_UNIT = 25;

/** Bytes that JSON adds to each key and its value at least: quotes, colon, comma and one character. */
const MIN_JSON_BYTES_PER_KEY = 5;

/** Work per value and per object in an argument, which graphql-js and type-graphql convert again for each object with the field. */
const VALUES_PER_INPUT_VALUE = 0.25;
const VALUES_PER_INPUT_OBJECT = 10;
/** Values of a single object, of the ids of a list, or of the arguments of a field of the root, above which it waits for room in a slice. */
const LARGE_VALUES = 100;

/**
 * Contribution of a selection set for each object to which it applies: the objects, the values without arguments, the bytes of keys with the shortest values,
 * and all arguments.
 */
interface SelectionShape {
  objects: number;
  values: number;
  bytes: number;
  argumentNodes: ArgumentNode[];
}

const shapesBySelection = new WeakMap<object, SelectionShape>();
const valuesByInput = new WeakMap<object, number>();

function shapeOf({ fieldNodes, fragments, returnType }: GraphQLResolveInfo): SelectionShape {
  const selection = selectionCacheKey(fieldNodes);
  const knownShape = shapesBySelection.get(selection);
  if (knownShape) return knownShape;

  const shape = { objects: 0, values: 0, bytes: 0, argumentNodes: [] };
  addObject(shape, fieldNodes, getNamedType(returnType), fragments);
  shapesBySelection.set(selection, shape);
  return shape;
}

/** Adds an object to a shape, with the objects in fields without a resolver, such as the node of an edge, which are not metered by themselves. */
function addObject(
  shape: SelectionShape,
  fieldNodes: readonly FieldNode[],
  type: GraphQLNamedType,
  fragments: GraphQLResolveInfo['fragments'],
): void {
  const fields = 'getFields' in type ? type.getFields() : {};
  shape.objects += 1;
  shape.values += VALUES_PER_OBJECT;
  const nodesByKey = new Map<string, FieldNode[]>();
  for (const node of [...selectedFieldNodesByName(fieldNodes, fragments).values()].flat()) {
    const nodesOfKey = nodesByKey.get(responseKeyOf(node));
    if (nodesOfKey) nodesOfKey.push(node);
    else nodesByKey.set(responseKeyOf(node), [node]);
  }
  for (const [key, nodes] of nodesByKey) {
    const [node] = nodes as [FieldNode];
    const field = fields[node.name.value] as GraphQLField<unknown, unknown> | undefined;
    const fieldType = field && getNamedType(field.type);
    shape.values += 1 + (field?.extensions.cost?.weight ?? 0) * VALUES_PER_COST_UNIT;
    shape.bytes += key.length + MIN_JSON_BYTES_PER_KEY;
    shape.argumentNodes.push(...(node.arguments ?? []));
    if (fieldType && !field.resolve && isCompositeType(fieldType))
      addObject(shape, nodes, fieldType, fragments);
  }
}

function valuesOfInput(input: unknown): number {
  if (!Array.isArray(input) && !isInputObject(input)) return VALUES_PER_INPUT_VALUE;
  const knownValues = valuesByInput.get(input);
  if (knownValues !== undefined) return knownValues;

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
  /** Lower bound of the bytes of the answer. */
  private answerBytes = 0;
  abortError?: GraphQLError;
  private endRun?: (error: GraphQLError) => void;
  private readonly slices: EventLoopSlices;
  /** Values of objects by their selections, for those with arguments. */
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

  /** Whether the answer is so long that its serialization should yield to the event loop. */
  get isLong(): boolean {
    return this.valueCount > LONG_ANSWER_VALUES || this.session.readBytes > LONG_ANSWER_BYTES;
  }

  /** The reason for which the work was aborted; undefined while it was not. */
  get abortReason(): ClientError | undefined {
    return this.abortError?.originalError as ClientError | undefined;
  }

  /**
   * Returns a rejected promise, which resolvers return after an abort. If they threw at once instead, graphql-js would abandon the promises of sibling
   * fields, whose rejections would be unhandled.
   */
  rejectAborted(): Promise<never> {
    return Promise.reject(this.abortError!);
  }

  /** Makes all resolvers and reads fail with `reason`. */
  abort(reason: ClientError): void {
    if (this.abortError) return;
    // graphql-js passes on an error that has a path as it is, so that all fields share one object.
    this.abortError = new GraphQLError(reason.message, { path: [], originalError: reason });
    this.session.stopReads(reason);
    if (!this.endRun) return;
    this.endRun(this.abortError);
    this.slices.discard();
  }

  /** Aborts the work unless a write has begun, which is completed. */
  abortUnlessWriting(reason: ClientError): void {
    if (!this.session.isWriting) this.abort(reason);
  }

  throwIfAborted(): void {
    if (this.abortError) throw this.abortError;
  }

  /** Runs work until it has ended or is aborted. Then the promise rejects, while the remaining resolvers fail. */
  runUntilAborted<T>(work: () => Promise<T>): Promise<T> {
    // `Promise.race` would keep the result in memory for longer, which costs a twentieth of a request.
    return new Promise((resolve, reject) => {
      if (this.abortError) return reject(this.abortError);
      this.endRun = reject;
      work().then(resolve, reject);
    });
  }

  /** Releases what the request holds when its answer is complete. */
  finish(): void {
    this.releaseSlot?.();
    this.releaseSlot = undefined;
    this.endRun = undefined;
  }

  /** Counts a list of the answer with so many objects. Returns whether the work may go on. */
  countList(count: number, info: GraphQLResolveInfo): boolean {
    this.valueCount += VALUES_PER_LIST;
    return this.countObjects(count, info);
  }

  /** Resolves a field of the root, whose arguments belong to no counted object; if they are large, in a slice of its own. */
  resolveRootField(info: GraphQLResolveInfo, resolve: () => unknown): unknown {
    const values = valuesOfArguments(info.fieldNodes[0]!.arguments ?? [], info);
    this.valueCount += values;
    if (!this.countObjects(0, info)) return this.rejectAborted();
    return this.resolveInSlice(values, resolve);
  }

  /** Resolves a field at once or, if many values follow from it, when a slice has room. */
  resolveInSlice(values: number, resolve: () => unknown): unknown {
    return values <= LARGE_VALUES ? resolve() : this.waitForSlice(values).then(resolve);
  }

  /** Passes an object on to graphql-js, at once or in a later turn of the event loop. */
  passOnObject(object: unknown, info: GraphQLResolveInfo): unknown {
    const values = this.valuesOf(info);
    return values <= LARGE_VALUES
      ? object
      : Promise.resolve(object).then((result) => this.waitForSlice(values).then(() => result));
  }

  private waitForSlice(values: number): Promise<void> {
    return new Promise((start) => this.slices.schedule(values, start));
  }

  /** Counts objects of the answer, and aborts the work if there are too many. Returns whether the work may go on. */
  countObjects(count: number, info: GraphQLResolveInfo): boolean {
    if (this.abortError) return false;
    const { objects, bytes } = shapeOf(info);
    this.objectCount += count * objects;
    this.valueCount += count * this.valuesOf(info);
    this.answerBytes += count * bytes;
    if (this.objectCount > MAX_OBJECTS) this.abort(tooManyObjectsError(MAX_OBJECTS));
    else if (this.answerBytes > this.limits.maxResponseBytes) this.abortTooLarge();
    else if (this.valueCount > this.limits.maxValues)
      this.abort(tooManyValuesError(this.limits.maxValues));
    return !this.abortError;
  }

  /** Passes a list on to graphql-js, at once or in a later turn of the event loop. */
  passOnList(list: readonly unknown[], info: GraphQLResolveInfo): unknown {
    const slotPromise = this.objectCount > LARGE_ANSWER_OBJECTS ? this.waitForSlot() : undefined;
    const passOn = () => this.slices.passOnList(list, this.valuesOf(info), this.rethrowAbort);
    return slotPromise && !this.releaseSlot ? slotPromise.then(passOn) : passOn();
  }

  readonly scheduleFieldResumption = (resumeField: () => void): void =>
    this.slices.schedule(VALUES_PER_OBJECT, resumeField);

  readonly hasPendingLists = (): boolean => this.slices.hasPending;

  /** Returns the values of an object with the selection of a field. */
  private valuesOf(info: GraphQLResolveInfo): number {
    const { values, argumentNodes } = shapeOf(info);
    if (argumentNodes.length === 0) return values;

    const selection = selectionCacheKey(info.fieldNodes);
    let allValues = this.valuesBySelection.get(selection);
    if (allValues === undefined)
      this.valuesBySelection.set(
        selection,
        (allValues = values + valuesOfArguments(argumentNodes, info)),
      );
    return allValues;
  }

  private readonly rethrowAbort = (): void => this.throwIfAborted();

  private abortTooLarge(): void {
    this.abort(resultTooLargeError(this.limits.maxResponseBytes));
  }

  /** Waits for a slot for a large answer; not in a transaction, for whose connection and locks other requests would wait meanwhile. */
  private waitForSlot(): Promise<void> | undefined {
    if (this.session.isInTransaction) return undefined;
    return (this.slotPromise ??= this.acquireSlot());
  }

  private async acquireSlot(): Promise<void> {
    const { clientKey } = this.session;
    const limiter = largeAnswerLimiters.of(clientKey);
    const release = () => limiter.release(clientKey);
    await limiter.waitForSlot(clientKey).then(
      () => (this.releaseSlot = release),
      () => this.abort(overloadedError()),
    );
    if (this.abortError) this.finish();
    this.throwIfAborted();
  }
}
