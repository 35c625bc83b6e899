/** Requests that Node cannot read: they are answered like others, so that their sender learns what was wrong with them. */
import { randomUUID } from 'node:crypto';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';

interface ReadingError extends Error {
  code?: string;
  /** What of the request was being read. */
  reason?: string;
}

interface Refusal {
  status: string;
  detail: string;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', detail: 'The address and the headers are too long.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', detail: 'The request did not arrive in time.' },
  HPE_INVALID_URL: {
    status: '400 Bad Request',
    detail: 'The address holds characters that must be percent-encoded, such as %C3%A4 for \u00e4 or %20 for a blank.',
  },
  HPE_INVALID_METHOD: { status: '400 Bad Request', detail: 'The method is none that is known.' },
};

const refusalOf = ({ code = '', reason }: ReadingError): Refusal =>
  REFUSALS[code] ?? { status: '400 Bad Request', detail: `The request cannot be read${reason ? `: ${reason}` : ''}.` };

function answerOf({ status, detail }: Refusal, id: string): string {
  const body = JSON.stringify({ detail });
  return [
    `HTTP/1.1 ${status}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Node's own answer has no body. */
export function answerUnreadable(server: Server, log: Logger): void {
  const last = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => void last.set(socket, response));
  server.on('clientError', (error: ReadingError, socket: Duplex) => {
    // What comes behind a request whose answer is under way must not be taken for a part of that answer.
    const isAnswering = last.get(socket)?.writableFinished === false;
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) return void socket.destroy();
    const id = randomUUID();
    const refusal = refusalOf(error);
    log.info(
      { id, status: Number(refusal.status.slice(0, 3)), address: (socket as Socket).remoteAddress, code: error.code },
      'unreadable request',
    );
    socket.end(answerOf(refusal, id), () => socket.destroy());
  });
}
