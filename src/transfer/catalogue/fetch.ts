/** Fetches documents of other services, which are bounded in time and size. */
import { failImport } from '../dump';

const TIMEOUT_MS = 30_000;

/** Throws BAD_USER_INPUT, which names the file or URL. */
export function failUnreadable(location: string, error: unknown): never {
  const { cause, message } = error as Error;

  return failImport(`${location} cannot be read: ${String(cause ?? message)}`);
}

/** Throws an Error if the request fails or the response has more than `maxMegabytes`. */
export async function fetchDocument(url: string, maxMegabytes: number): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });

  if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;

  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > maxMegabytes * 1024 ** 2) throw new Error(`larger than ${maxMegabytes} MB`);
    chunks.push(chunk);
  }

  return Buffer.concat(chunks);
}
