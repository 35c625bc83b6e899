/** Normalization of the request target (RFC 9110, section 7.1) to a canonical path and query, and detection of repeated headers. */
import type { IncomingMessage } from 'node:http';

const SCHEME_AND_HOST_PATTERN = /^https?:\/\/[^/?#]*/i;

/** Percent-encoded characters that are decoded: the slash and unreserved characters (RFC 3986, section 2.3). */
const DECODABLE_CHARACTER_PATTERN = /%(?:2[DEF]|3\d|[46][1-9A-F]|[57][0-9A]|5F|7E)/gi;

const decodeCharacter = (escapeSequence: string): string =>
  String.fromCharCode(parseInt(escapeSequence.slice(1), 16));

/** In the path, decodes percent-encoded slashes and unreserved characters and replaces repeated slashes by one. Removes the fragment of the URL. */
function normalizePath(url: string): string {
  const [target = ''] = url.split('#', 1);
  const queryStart = target.indexOf('?');
  const path = queryStart < 0 ? target : target.slice(0, queryStart);
  const normalizedPath = path
    .replace(DECODABLE_CHARACTER_PATTERN, decodeCharacter)
    .replace(/\/{2,}/g, '/');
  return `${normalizedPath.startsWith('/') ? normalizedPath : `/${normalizedPath}`}${queryStart < 0 ? '' : target.slice(queryStart)}`;
}

/**
 * Normalizes a request target. Some clients send paths such as `//api/v2/workout/`, and proxies send absolute URLs. The host of an absolute URL is ignored:
 * links use the one in the `Host` header, which proxies set.
 */
export function normalizeTarget(url: string): string {
  return url === '*' ? url : normalizePath(url.replace(SCHEME_AND_HOST_PATTERN, ''));
}

const UNREPEATABLE_HEADERS = ['host', 'authorization'];

/** Returns the name of a header that is repeated but must not be. Its value is ambiguous: Node uses the first occurrence, a proxy perhaps the last. */
export const findRepeatedHeader = ({ rawHeaders }: IncomingMessage): string | undefined =>
  UNREPEATABLE_HEADERS.find(
    (name) =>
      rawHeaders.filter(
        (rawHeader, index) =>
          index % 2 === 0 && rawHeader.length === name.length && rawHeader.toLowerCase() === name,
      ).length > 1,
  );
