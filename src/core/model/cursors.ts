/** Encoding of opaque cursors: a JSON array in base64url. */
export const encodeCursor = (values: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

/** Returns the values of a cursor; undefined if the string is not a cursor. Callers must check their types, because clients can forge cursors. */
export function decodeCursor(cursor: string): unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}
