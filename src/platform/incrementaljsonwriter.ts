/** Incremental JSON serialization of large values with a maximum length. Yields to the event loop repeatedly, so that other requests are not delayed. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Number of characters after which the serialization yields to the event loop. Producing them takes 1 to 2 ms. */
const CHARACTERS_PER_EVENT_LOOP_TURN = 1 << 18;

/** Number of values in an object or array up to which it is one piece with everything nested in it. Long strings count several times. */
const MAX_NESTED_VALUES_PER_PIECE = 100;
const CHARACTERS_PER_VALUE = 128;

const isComposite = (value: unknown): value is object =>
  value !== null && typeof value === 'object';

/** Whether JSON.stringify omits members of objects that have this value. */
const isOmittedFromJson = (value: unknown) =>
  value === undefined || typeof value === 'function' || typeof value === 'symbol';

/** Returns `remaining` less the number of values nested in a value; a negative number if there are more. */
function subtractValueCount(value: unknown, remaining: number): number {
  if (typeof value === 'string')
    return remaining - 1 - Math.floor(value.length / CHARACTERS_PER_VALUE);
  if (!isComposite(value)) return remaining - 1;

  let rest = remaining - 1;

  for (const key in value) {
    if (rest < 0) break;
    rest = subtractValueCount((value as Record<string, unknown>)[key], rest);
  }

  return rest;
}

const isSmall = (value: unknown): boolean =>
  subtractValueCount(value, MAX_NESTED_VALUES_PER_PIECE) >= 0;

/**
 * Generates the JSON text in pieces. A small object or array, and a string or number, is a single piece, because a piece passes through the generators of all
 * values around it.
 */
function* jsonPieces(value: unknown): Generator<string, void, void> {
  if (!isComposite(value) || 'toJSON' in value || isSmall(value))
    yield value === undefined ? 'null' : JSON.stringify(value);
  else if (Array.isArray(value)) {
    let separator = '[';
    for (const item of value) {
      yield separator;
      yield* jsonPieces(item);
      separator = ',';
    }
    yield ']';
  } else {
    let separator = '{';
    for (const [key, item] of Object.entries(value)) {
      if (isOmittedFromJson(item)) continue;
      yield `${separator}${JSON.stringify(key)}:`;
      yield* jsonPieces(item);
      separator = ',';
    }
    yield separator === '{' ? '{}' : '}';
  }
}

/** Returns the same text as JSON.stringify, for plain objects, arrays and scalars. Returns undefined if it exceeds `max` characters. */
export async function stringifyIncrementally(
  value: unknown,
  max: number,
): Promise<string | undefined> {
  let json = '';
  let nextYieldLength = CHARACTERS_PER_EVENT_LOOP_TURN;
  for (const piece of jsonPieces(value)) {
    json += piece;
    if (json.length > max) return undefined;
    if (json.length < nextYieldLength) continue;
    nextYieldLength = json.length + CHARACTERS_PER_EVENT_LOOP_TURN;
    await nextTurn();
  }
  return json;
}
