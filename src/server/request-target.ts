/**
 * Normalizes the request target (RFC 9110, section 7.1) to a canonical path and query, and detects
 * repeated headers.
 */
import type { IncomingMessage } from 'node:http';

/** An optional scheme and host, the path, the query and an optional fragment. */
const TARGET_PATTERN = /^(?:https?:\/\/[^/?#]*)?([^?#]*)([^#]*)/i;

/**
 * Percent-encoded characters to decode: the slash and unreserved characters (RFC 3986, section
 * 2.3).
 */
const DECODABLE_CHARACTER_PATTERN = /%(?:2[DEF]|3\d|[46][1-9A-F]|[57][0-9A]|5F|7E)/gi;

/**
 * Normalizes a request target, because some clients send paths such as `//api/v2/workout/`, and
 * proxies send absolute URLs. The host of an absolute URL is ignored: links use the `Host` header,
 * which proxies set.
 */
export function normalizeTarget(url: string): string {
  const [, path = '', query = ''] = TARGET_PATTERN.exec(url)!;

  const decodedPath = path.replace(DECODABLE_CHARACTER_PATTERN, decodeURIComponent);

  return `/${decodedPath}`.replace(/\/{2,}/g, '/') + query;
}

/**
 * Finds a header that occurs more than once although its value would be ambiguous: Node uses the
 * first occurrence, a proxy perhaps the last.
 */
export const findRepeatedHeader = ({ headersDistinct }: IncomingMessage): string | undefined =>
  ['host', 'authorization'].find((name) => (headersDistinct[name]?.length ?? 0) > 1);
