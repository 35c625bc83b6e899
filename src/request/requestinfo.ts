/** What is known of a request before it is authenticated. */
import type { RequestInfo } from '../core/context';
import { REQUEST_ID_HEADER, type ClientOrigin, type RequestHead } from './clientorigin';
import { parseAcceptLanguage } from './languages';

export interface HttpRequestInfo extends RequestInfo {
  /** Client address, for the log. */
  readonly address: string;
  /** Key of per-client limits: the address, or its network. */
  readonly network: string;
}

export function describeRequest(request: RequestHead, origin: ClientOrigin, countErrorCode?: (code: string) => void): HttpRequestInfo {
  const address = origin.clientAddress(request);
  return {
    id: request.headers[REQUEST_ID_HEADER] as string,
    startedAt: performance.now(),
    baseUrl: origin.baseUrl(request),
    languages: parseAcceptLanguage(request.headers['accept-language']),
    countErrorCode,
    address,
    network: origin.clientNetwork(request, address),
  };
}
