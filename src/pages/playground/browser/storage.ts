/**
 * Stores values in localStorage without request headers, which may contain API keys that must not remain on a shared computer. GraphiQL’s option
 * `shouldPersistHeaders` is not enough: the history of queries would still store headers. If the browser blocks site data, nothing is stored.
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

/** Returns `fallback` if the browser blocks site data: merely reading `localStorage` then throws. */
function tryStorageAccess<T>(accessStorage: () => T, fallback: T): T {
  try {
    return accessStorage();
  } catch {
    return fallback;
  }
}

/** Returns the localStorage keys of GraphiQL. Keys of other pages of this origin must not be deleted. */
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
    // A stored value that is not JSON is a plain setting, such as the theme, and contains no headers.
    return value;
  }
}
