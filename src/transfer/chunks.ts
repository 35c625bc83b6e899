/** Reads the rows of imports in chunks, ahead of the writes. */

export async function* chunksOf<T>(
  items: Iterable<T> | AsyncIterable<T>,
  size: number,
): AsyncGenerator<T[]> {
  let chunk: T[] = [];

  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }

  if (chunk.length) yield chunk;
}

/**
 * Requests one item ahead, so that the next chunk of a file is read while the previous one is
 * written to PostgreSQL.
 */
export async function* prefetch<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let nextItem = items.next();

  try {
    for (;;) {
      const { done, value } = await nextItem;

      if (done) return;
      nextItem = items.next();
      // Avoids an unhandled rejection if the consumer fails before it requests the prefetched item.
      nextItem.catch(() => undefined);
      yield value as T;
    }
  } finally {
    await items.return(undefined);
  }
}
