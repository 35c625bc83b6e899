/** Error responses to requests that Node's HTTP parser rejects. Unlike Node's own responses, they have a body with the reason: JSON, or HTML for browsers. */
import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { prefersHtml, renderFailurePage } from '../pages/failurepage';

interface ParserError extends Error {
  code?: string;
  /** Description of the error by Node's parser (llhttp). */
  reason?: string;
  /** Received bytes in which the error occurred, usually the whole head of the request. */
  rawPacket?: Buffer;
}

interface ErrorResponse {
  status: string;
  detail: string;
}

const RESPONSE_BY_ERROR_CODE: Readonly<Record<string, ErrorResponse>> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', detail: 'The URL and the headers are too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', detail: 'The request did not arrive in time.' },
  HPE_INVALID_URL: {
    status: '400 Bad Request',
    detail: 'The URL contains characters that must be percent-encoded, such as %C3%A4 for \u00e4 or %20 for a space.',
  },
  HPE_INVALID_METHOD: { status: '400 Bad Request', detail: 'The method is unknown.' },
};

const errorResponseTo = ({ code = '', reason }: ParserError): ErrorResponse =>
  RESPONSE_BY_ERROR_CODE[code] ?? { status: '400 Bad Request', detail: `The request cannot be read${reason ? `: ${reason}` : ''}.` };

const ACCEPT_HEADER_PATTERN = /\r\nAccept:([^\r\n]*)/i;

/** Returns the Accept header of the unreadable request. If it was not received, returns that of the previous request of the connection. */
const acceptHeaderOf = ({ rawPacket }: ParserError, previousResponse: ServerResponse | undefined): string | undefined =>
  ACCEPT_HEADER_PATTERN.exec(rawPacket?.toString('latin1') ?? '')?.[1]?.trim() ?? previousResponse?.req.headers.accept;

function responseText({ status, detail }: ErrorResponse, id: string, isHtmlPage: boolean): string {
  const page = isHtmlPage ? renderFailurePage({ status: Number.parseInt(status, 10), message: detail }) : undefined;
  const body = page?.htmlText ?? JSON.stringify({ detail });
  return [
    `HTTP/1.1 ${status}`,
    ...Object.entries(page?.headers ?? { 'Content-Type': 'application/json' }).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    ...(page ? [] : ['X-Content-Type-Options: nosniff']),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

export function respondToHttpParserErrors(server: Server, log: Logger): void {
  const lastResponses = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => void lastResponses.set(socket, response));
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    // While the response to an earlier request is being sent, an error response would corrupt it.
    const lastResponse = lastResponses.get(socket);
    const isResponding = lastResponse?.writableFinished === false;
    // Before the end of a TLS handshake, no response can be sent, although the socket is writable.
    const cannotRespond = error.code === 'ECONNRESET' || error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT' || !socket.writable;
    if (cannotRespond || isResponding) return void socket.destroy();
    const id = randomUUID();
    const response = errorResponseTo(error);
    log.info(
      { id, status: Number(response.status.slice(0, 3)), address: (socket as Socket).remoteAddress, code: error.code },
      'unreadable request',
    );
    const isHtmlPage = prefersHtml(acceptHeaderOf(error, lastResponse));
    socket.end(responseText(response, id, isHtmlPage), () => socket.destroy());
  });
}
