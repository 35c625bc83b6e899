/**
 * How long the answer of one operation becomes, counted object by object before graphql-js makes it. An answer that is too long ends with an error
 * while little of it is in memory, and the objects of a long one are made in slices, between which the event loop answers others.
 */
import { isIntrospectionType, isObjectType, type GraphQLResolveInfo, type GraphQLSchema } from 'graphql';
import type { Context } from '../context';
import { AROUND_KEY, keyOf } from './cost';
import { tooLong } from '../model/errors';
import { selected, selectionKey } from '../read/plan';

/** Values that an operation shows before it takes turns with others, and in each turn: some milliseconds of work. */
const VALUES_PER_TURN = 10_000;
const LONG_CHARACTERS = 1 << 16;
/** Characters of a value that is no text. */
const SHORT = 5;

/** What one object shows: the names of its fields by their keys in the answer. */
interface Shape {
  fields: readonly string[];
  /** Characters of the keys. */
  keys: number;
}

const shapes = new WeakMap<object, Shape>();

function shapeOf({ fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>): Shape {
  const selection = selectionKey(fieldNodes);
  let shape = shapes.get(selection);
  if (!shape) {
    const nodes = [...selected(fieldNodes, fragments).values()].flat();
    const names = new Map(nodes.map((node) => [keyOf(node), node.name.value]));
    const keys = [...names.keys()].reduce((sum, key) => sum + key.length + AROUND_KEY, 0);
    shapes.set(selection, (shape = { fields: [...names.values()], keys }));
  }
  return shape;
}

interface Waiting {
  values: number;
  /** Values of a turn in which it is made. */
  perTurn: number;
  make(this: void): void;
}

/** Objects that wait for a later turn of the event loop; each turn makes some of them, whichever request they belong to. */
class Slices {
  private waiting: Waiting[] = [];

  add(object: Waiting): void {
    this.waiting.push(object);
    if (this.waiting.length === 1) setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    let count = 0;
    let values = 0;
    while (count < this.waiting.length && values < this.waiting[count]!.perTurn) values += this.waiting[count++]!.values;
    const ready = this.waiting.splice(0, count);
    if (this.waiting.length) setImmediate(this.turn);
    for (const { make } of ready) make();
  };
}

const slices = new Slices();

export class AnswerSize {
  private characters = 0;
  private values = 0;
  private waiting = 0;
  private whenMade?: { promise: Promise<void>; resolve(this: void): void };

  constructor(
    private readonly limit: number,
    private readonly perTurn = VALUES_PER_TURN,
  ) {}

  /** Whether others should have a turn while it is written. */
  get isLong(): boolean {
    return this.characters > LONG_CHARACTERS;
  }

  get isOver(): boolean {
    return this.characters > this.limit;
  }

  /** Counts one object that is about to be made; answers when, and throws RESULT_TOO_LARGE instead of making more than is allowed. */
  add(object: unknown, { fields, keys }: Shape): true | Promise<true> {
    const row = object as Record<string, unknown>;
    this.characters += keys;
    for (const name of fields) {
      const value = row[name];
      this.characters += typeof value === 'string' ? value.length : SHORT;
    }
    if (this.isOver) throw tooLong(this.limit);
    this.values += fields.length;
    return this.values <= this.perTurn ? true : this.turn(fields.length);
  }

  private turn(values: number): Promise<true> {
    this.waiting += 1;
    return new Promise((resolve) => {
      const make = () => {
        resolve(true);
        this.waiting -= 1;
        if (this.waiting) return;
        this.whenMade?.resolve();
        this.whenMade = undefined;
      };
      slices.add({ values, perTurn: this.perTurn, make });
    });
  }

  /** Resolves once no object waits for its turn; undefined if none does. */
  readonly made = (): Promise<void> | undefined => {
    if (!this.waiting) return undefined;
    if (!this.whenMade) {
      let resolve!: () => void;
      const promise = new Promise<void>((done) => (resolve = done));
      this.whenMade = { promise, resolve };
    }
    return this.whenMade.promise;
  };
}

/** Has each object counted: `isTypeOf` is what graphql-js asks before it makes one. Objects of introspection are bounded by their cost. */
export function countObjects(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap()))
    if (isObjectType(type) && !isIntrospectionType(type))
      type.isTypeOf = (object, context: Context, info) => context.size?.add(object, shapeOf(info)) ?? true;
  return schema;
}
