/** Defers a computation until its result is first needed, and keeps the result. */
export function memoize<T>(compute: () => T): () => T {
  let cachedValue: { value: T } | undefined;

  return () => (cachedValue ??= { value: compute() }).value;
}
