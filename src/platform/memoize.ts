/** Returns a function that calls `make` once, on first use, and then returns the same value. */
export function memoize<T>(make: () => T): () => T {
  let cachedValue: { value: T } | undefined;
  return () => (cachedValue ??= { value: make() }).value;
}
