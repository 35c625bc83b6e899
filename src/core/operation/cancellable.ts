/**
 * Makes an async generator end while it waits. Its own `return()` is queued behind the pending `next()`
 * (https://tc39.es/ecma262/#sec-asyncgenerator-prototype-return), so `cancel` must end that wait.
 */
export function cancellable<T>(generator: AsyncGenerator<T, void, void>, cancel: () => void): AsyncIterableIterator<T> {
  const end = () => {
    cancel();
    return generator.return();
  };
  return {
    next: () => generator.next(),
    return: end,
    throw: async (error) => {
      await end();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
