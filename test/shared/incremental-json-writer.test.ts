/** Incremental JSON serialization equals JSON.stringify and stops at its limit. */
import { stringifyIncrementally } from '../../src/shared/incremental-json-writer';
import { randomFor, seeded, type Random } from '../setup/random';

const LEAVES = [null, true, 0, -1.5, 1e21, '', 'a"\\\n', '\u2028', '😀', undefined];

function value(random: Random, depth: number): unknown {
  const length = random.below(4);

  if (depth === 0 || random.chance(0.3)) return random.pick(LEAVES);
  if (random.chance(0.5)) return Array.from({ length }, () => value(random, depth - 1));
  const entries = Array.from(
    { length },
    (_, index) =>
      [random.pick(['a', '', '__proto__', `k${index}`]), value(random, depth - 1)] as const,
  );

  return Object.fromEntries(entries);
}

test(
  seeded('serializes random values like JSON.stringify and rejects those longer than the limit'),
  async () => {
    const random = randomFor('json in pieces');

    for (let run = 0; run < 2_000; run += 1) {
      const data = { data: value(random, 5) };
      const text = JSON.stringify(data);

      expect(await stringifyIncrementally(data, text.length)).toBe(text);
      expect(await stringifyIncrementally(data, text.length - 1)).toBeUndefined();
    }
  },
);
