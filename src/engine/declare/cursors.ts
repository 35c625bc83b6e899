/** Encoding of opaque cursors: a JSON array in base64url. */
export const encodeCursor = (values: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

/**
 * Decodes an opaque cursor, if it is one. Callers must check the types of the values, because
 * clients can forge cursors.
 */
export function decodeCursor(cursor: string): unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());

    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}
