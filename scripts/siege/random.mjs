// Pseudo-random choices of the load generator. SEED (an integer) replaces the default seed.
export const seed = Number(process.env.SEED || 1);
if (!Number.isSafeInteger(seed)) throw new Error(`SEED must be an integer: ${process.env.SEED}`);

let state = seed >>> 0;

/** Returns a number in [0, 1) (Mulberry32). */
export function randomFraction() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);

  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

/** Returns an integer in [0, limit). */
export const randomBelow = (limit) => Math.floor(randomFraction() * limit);
export const pick = (list) => list[randomBelow(list.length)];

/** Returns the items in random order. */
export function shuffled(items) {
  const left = [...items];

  return items.map(() => left.splice(randomBelow(left.length), 1)[0]);
}
