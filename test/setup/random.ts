/**
 * Pseudo-random test inputs. Each case draws from a stream of its own, derived from its name and
 * from the base seed, so that adding a case does not change the inputs of the others. The
 * environment variable SEED (an integer) replaces the default base seed.
 */
import { createHash } from 'node:crypto';

const DEFAULT_SEED = 1;

function baseSeed(text: string | undefined): number {
  if (!text) return DEFAULT_SEED;
  if (!/^-?\d{1,15}$/.test(text)) throw new Error(`SEED must be an integer: ${text}`);

  return Number(text);
}

export const SEED = baseSeed(process.env.SEED);

/** A seeded pseudo-random number generator. */
export class Random {
  private readonly state: Uint32Array;

  /** Accepts any text as seed; different texts give unrelated streams. */
  constructor(seed: string) {
    const hash = createHash('sha256').update(seed).digest();

    this.state = Uint32Array.from([0, 4, 8, 12], (offset) => hash.readUInt32LE(offset));
  }

  /** Returns 32 bits of the generator sfc32 (Doty-Humphrey, "Small Fast Counting"). */
  private bits(): number {
    const [a, b, c, counter] = this.state as unknown as [number, number, number, number];
    const sum = (a + b + counter) >>> 0;

    this.state.set([b ^ (b >>> 9), c + (c << 3), ((c << 21) | (c >>> 11)) + sum, counter + 1]);
    return sum;
  }

  /** Returns a number in [0, 1). */
  next(): number {
    return this.bits() / 2 ** 32;
  }

  /** Returns an integer in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Returns an integer from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('there is no item to pick');

    return items[this.below(items.length)]!;
  }

  /** Returns the items in random order. */
  shuffled<T>(items: readonly T[]): T[] {
    const remaining = [...items];

    return items.map(() => remaining.splice(this.below(remaining.length), 1)[0]!);
  }

  /** Returns from one to `most` different items. */
  some<T>(items: readonly T[], most: number): T[] {
    return this.shuffled(items).slice(0, 1 + this.below(most));
  }

  /** Returns incompressible content, such as the pixels of a large image. */
  bytes(count: number): Buffer {
    return Buffer.from(Uint8Array.from({ length: count }, () => this.bits()));
  }
}

/** Returns the stream of the case with this name. */
export const randomFor = (name: string): Random => new Random(`${SEED} ${name}`);

/** Returns the title of a test with random inputs, with the seed that reproduces a failure. */
export const seeded = (title: string): string => `${title} (seed ${SEED})`;
