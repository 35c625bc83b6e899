/** JSON of long values: written in pieces, between which the event loop answers others, and no longer than it may be. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters written before others have a turn: a millisecond or two. */
const TURN = 1 << 18;

export class TooLongError extends Error {}

const isComposite = (value: unknown): value is object => value !== null && typeof value === 'object';

/** Of what JSON.stringify leaves out of an object. */
const isLeftOut = (value: unknown) => value === undefined || typeof value === 'function' || typeof value === 'symbol';

/** Objects that hold no others are one piece. */
function* pieces(value: unknown): Generator<string, void, void> {
  if (Array.isArray(value) && value.some(isComposite)) {
    let before = '[';
    for (const item of value) {
      yield before;
      yield* pieces(item);
      before = ',';
    }
    yield ']';
  } else if (isComposite(value) && !Array.isArray(value) && !('toJSON' in value) && Object.values(value).some(isComposite)) {
    let before = '{';
    for (const [key, item] of Object.entries(value)) {
      if (isLeftOut(item)) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* pieces(item);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else yield value === undefined ? 'null' : JSON.stringify(value);
}

/** What JSON.stringify makes of plain objects, arrays and values. Throws a TooLongError where that is more than `max` characters. */
export async function jsonInPieces(value: unknown, max: number): Promise<string> {
  let text = '';
  let turn = TURN;
  for (const piece of pieces(value)) {
    text += piece;
    if (text.length > max) throw new TooLongError();
    if (text.length < turn) continue;
    turn = text.length + TURN;
    await nextTurn();
  }
  return text;
}
