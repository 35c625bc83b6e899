/**
 * localStorage without request headers, because API keys must not remain on a shared computer.
 * GraphiQL’s option `shouldPersistHeaders` is not enough, because the history of queries would
 * still store headers.
 */
export const storageWithoutHeaders = {
  getItem: (key: string) => tryStorageAccess(() => localStorage.getItem(key), null),
  // Errors of a full storage are not caught, because GraphiQL handles them.
  setItem: (key: string, value: string) => localStorage.setItem(key, removeRequestHeaders(value)),
  removeItem: (key: string) => tryStorageAccess(() => localStorage.removeItem(key), undefined),
  clear: () => graphiqlStorageKeys().forEach((key) => localStorage.removeItem(key)),
  get length() {
    return graphiqlStorageKeys().length;
  },
};

/**
 * Yields `fallback` if reading `localStorage` throws, because the browser blocks site data.
 */
function tryStorageAccess<T>(accessStorage: () => T, fallback: T): T {
  try {
    return accessStorage();
  } catch {
    return fallback;
  }
}

/** Keys of GraphiQL. Keys of other pages of this origin must not be deleted. */
const graphiqlStorageKeys = (): string[] =>
  tryStorageAccess(() => Object.keys(localStorage), []).filter((key) =>
    key.startsWith('graphiql:'),
  );

function removeRequestHeaders(value: string): string {
  try {
    return JSON.stringify(
      JSON.parse(value, (key, part: unknown) => (key === 'headers' ? null : part)),
    );
  } catch {
    // Values that are not JSON are plain settings, such as the theme.
    return value;
  }
}
