/** Random choices that a seed repeats. */
export class Random {
  constructor(private state: number) {}

  /** Mulberry32: at least 0 and less than 1. */
  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  upTo(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  one<T>(items: readonly T[]): T {
    return items[this.upTo(items.length)]!;
  }

  some<T>(items: readonly T[], most: number): T[] {
    const left = [...items];
    return Array.from({ length: Math.min(left.length, 1 + this.upTo(most)) }, () => left.splice(this.upTo(left.length), 1)[0]!);
  }
}
