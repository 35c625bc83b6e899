/** Encoding of opaque cursors: a JSON array in base64url. */
export const encodeCursor = (parts: readonly unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url');

/** Returns the parts of a cursor; undefined if the string is not a cursor. Their types are unknown, because clients can forge cursors. */
export function decodeCursor(cursor: string): unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : undefined;
  } catch {
    return undefined;
  }
}
