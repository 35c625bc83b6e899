/**
 * Cancels running statements by a CancelRequest message on a separate connection, which needs no
 * login and does not count against the connection limit.
 */
import net from 'node:net';
import type { PoolClient } from 'pg';
import { backendKeyOf, socketOf } from './internals/pg';

/**
 * Request code of a CancelRequest message
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html).
 */
const CANCEL_REQUEST_CODE = 80_877_102;
const CANCEL_REQUEST_LENGTH = 16;

const CANCEL_TIMEOUT_MS = 1_000;

/**
 * Cancels the statement that the connection is running. Until the promise has resolved, send no
 * other statement, because PostgreSQL could cancel that one instead. Resolves to false if the
 * cancellation may still arrive.
 */
export function cancelStatement(client: PoolClient): Promise<boolean> {
  const { host, port } = client;
  const { processID, secretKey } = backendKeyOf(client);
  const message = Buffer.alloc(CANCEL_REQUEST_LENGTH);

  [CANCEL_REQUEST_LENGTH, CANCEL_REQUEST_CODE, processID ?? 0, secretKey ?? 0].forEach(
    (value, index) => message.writeInt32BE(value, index * 4),
  );

  return new Promise((resolve) => {
    // Uses the address of the existing connection, because the host name may resolve to several
    // servers, of which only one runs the statement.
    const address = host.startsWith('/')
      ? { path: `${host}/.s.PGSQL.${port}` }
      : { port, host: socketOf(client).remoteAddress ?? host };
    const socket = net.connect(address);

    socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
    let isRequestSent = false;
    let isRequestProcessed = false;

    socket.once('connect', () => {
      isRequestSent = true;
      socket.write(message);
    });
    // PostgreSQL closes the connection when it has processed the request.
    socket.once('end', () => (isRequestProcessed = true));
    // Ignores errors of the CancelRequest: the statement is then ended by its own timeout.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(isRequestProcessed || !isRequestSent));
    socket.resume();
  });
}
