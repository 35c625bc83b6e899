/** Information about a request that is available before authentication. */
import type { RequestInfo } from '../core/context';
import { REQUEST_ID_HEADER, type ForwardedHeaders, type RequestHead } from './forwardedheaders';

export interface HttpRequestInfo extends RequestInfo {
  readonly clientAddress: string;
}

export function requestInfoOf(
  request: RequestHead,
  forwardedHeaders: ForwardedHeaders,
  countErrorCode?: (code: string) => void,
): HttpRequestInfo {
  const address = forwardedHeaders.clientAddress(request);
  return {
    id: request.headers[REQUEST_ID_HEADER] as string,
    startedAt: performance.now(),
    baseUrl: forwardedHeaders.baseUrl(request),
    languages: parseAcceptLanguage(request.headers['accept-language']),
    countErrorCode,
    clientAddress: address,
    clientNetwork: forwardedHeaders.clientNetwork(request, address),
  };
}

/** Maximum number of characters of Accept-Language that are read; the rest is ignored. Browsers send less than a tenth of that. */
const MAX_ACCEPT_LANGUAGE_LENGTH = 1000;
const MAX_ACCEPTED_LANGUAGES = 10;

/** Entry of Accept-Language: `de`, `de-AT` or `de_AT`, with an optional quality. Other entries are ignored. */
const LANGUAGE_ENTRY_PATTERN =
  /^([a-z]{1,8})(?:[-_][a-z0-9]{1,8})*(?: ?; ?q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Parses the Accept-Language header (RFC 9110, section 12.5.4) to language codes without regions, most preferred first. The library `negotiator` is
 * unsuitable: it parses headers of any length, and it does not understand `de_AT`, which some apps send.
 */
function parseAcceptLanguage(header: string | undefined): string[] {
  if (!header) return [];
  const endIndex =
    header.length > MAX_ACCEPT_LANGUAGE_LENGTH
      ? header.lastIndexOf(',', MAX_ACCEPT_LANGUAGE_LENGTH)
      : header.length;
  return header
    .slice(0, Math.max(endIndex, 0))
    .split(',')
    .map((part, index) => {
      const [, code, quality = '1'] =
        LANGUAGE_ENTRY_PATTERN.exec(part.trim().replace(/[ \t]+/g, ' ')) ?? [];
      return {
        code: code?.toLowerCase(),
        quality: code === undefined ? 0 : Number(quality),
        index,
      };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.index - b.index)
    .slice(0, MAX_ACCEPTED_LANGUAGES)
    .map(({ code }) => code!);
}
