/**
 * localStorage without any headers. `shouldPersistHeaders` alone is not enough: the history of queries would still write them, and so
 * leave API keys on a shared computer.
 */
export const storage = {
  getItem: (key: string) => localStorage.getItem(key),
  setItem: (key: string, value: string) => localStorage.setItem(key, withoutHeaders(value)),
  removeItem: (key: string) => localStorage.removeItem(key),
  clear: () => keys().forEach((key) => localStorage.removeItem(key)),
  get length() {
    return keys().length;
  },
};

/** GraphiQL's own keys; the other pages of this origin keep theirs. */
const keys = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith('graphiql:'));

function withoutHeaders(value: string): string {
  try {
    return JSON.stringify(JSON.parse(value, (key, part: unknown) => (key === 'headers' ? null : part)));
  } catch {
    // Not JSON: a plain setting, such as the theme.
    return value;
  }
}
