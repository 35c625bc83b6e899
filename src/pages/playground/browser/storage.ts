/**
 * localStorage without request headers. `shouldPersistHeaders` is not enough: the history of queries would still store them, and leave API keys on a
 * shared computer.
 */
export const storage = {
  getItem: (key: string) => localStorage.getItem(key),
  setItem: (key: string, value: string) => localStorage.setItem(key, withoutHeaders(value)),
  removeItem: (key: string) => localStorage.removeItem(key),
  clear: () => graphiqlKeys().forEach((key) => localStorage.removeItem(key)),
  get length() {
    return graphiqlKeys().length;
  },
};

/** Keys of GraphiQL only; the other pages of this origin keep theirs. */
const graphiqlKeys = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith('graphiql:'));

function withoutHeaders(value: string): string {
  try {
    return JSON.stringify(JSON.parse(value, (key, part: unknown) => (key === 'headers' ? null : part)));
  } catch {
    // Not JSON but a plain setting, such as the theme.
    return value;
  }
}
