/**
 * Incremental JSON serialization with a maximum length. It yields to the event loop repeatedly, so
 * that large values do not delay other requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Number of characters between two yields to the event loop. Producing them takes 1 to 2 ms. */
const CHARACTERS_PER_TURN = 1 << 18;

/**
 * Objects and arrays with up to this many nested values are serialized in one piece. A long string
 * counts as several values.
 */
const MAX_NESTED_VALUES_PER_PIECE = 100;
const CHARACTERS_PER_VALUE = 128;

const isComposite = (value: unknown): value is object =>
  value !== null && typeof value === 'object';

/** Whether JSON.stringify omits object members with this value. */
const isOmittedFromJson = (value: unknown) =>
  value === undefined || typeof value === 'function' || typeof value === 'symbol';

/**
 * Subtracts the number of values in a value, including the value itself. Stops as soon as the
 * result is negative.
 */
function subtractNestedValues(value: unknown, remaining: number): number {
  if (typeof value === 'string') {
    return remaining - 1 - Math.floor(value.length / CHARACTERS_PER_VALUE);
  }

  if (!isComposite(value)) return remaining - 1;

  let rest = remaining - 1;

  for (const key in value) {
    if (rest < 0) break;
    rest = subtractNestedValues((value as Record<string, unknown>)[key], rest);
  }

  return rest;
}

const isSmall = (value: unknown): boolean =>
  subtractNestedValues(value, MAX_NESTED_VALUES_PER_PIECE) >= 0;

/**
 * Generates JSON in pieces. Small values are one piece, because each piece passes through the
 * generators of all values around it.
 */
function* jsonPieces(value: unknown): Generator<string, void, void> {
  if (!isComposite(value) || 'toJSON' in value || isSmall(value)) {
    yield value === undefined ? 'null' : JSON.stringify(value);
  } else if (Array.isArray(value)) {
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

/**
 * Serializes plain objects, arrays and scalars like JSON.stringify. Gives up when the result
 * exceeds `maxLength` characters.
 */
export async function stringifyIncrementally(
  value: unknown,
  maxLength: number,
): Promise<string | undefined> {
  let json = '';
  let nextYieldLength = CHARACTERS_PER_TURN;

  for (const piece of jsonPieces(value)) {
    json += piece;
    if (json.length > maxLength) return undefined;
    if (json.length < nextYieldLength) continue;
    nextYieldLength = json.length + CHARACTERS_PER_TURN;
    await nextTurn();
  }

  return json;
}
