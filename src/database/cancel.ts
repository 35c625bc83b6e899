/** Cancels a running statement by a CancelRequest on a separate connection, which needs no authentication and no connection slot. */
import net from 'node:net';
import type { PoolClient } from 'pg';
import { backendKeyOf, socketOf } from '../internals/pg';

/** https://www.postgresql.org/docs/current/protocol-message-formats.html (CancelRequest) */
const CANCEL_REQUEST = 80_877_102;
const LENGTH = 16;

const TIMEOUT_MS = 1_000;

/**
 * Cancels whatever the connection is running and resolves once the server has processed the request. Send no other statement on the connection before that:
 * it could be cancelled instead.
 */
export function cancelStatement(client: PoolClient): Promise<void> {
  const { host, port } = client;
  const { processID, secretKey } = backendKeyOf(client);
  const message = Buffer.alloc(LENGTH);
  [LENGTH, CANCEL_REQUEST, processID ?? 0, secretKey ?? 0].forEach((value, index) => message.writeInt32BE(value, index * 4));
  return new Promise((resolve) => {
    // A host name can resolve to several servers; the statement runs on the connected one.
    const socket = host.startsWith('/')
      ? net.connect(`${host}/.s.PGSQL.${port}`)
      : net.connect(port, socketOf(client).remoteAddress ?? host);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.once('connect', () => socket.write(message));
    // If cancelling fails, the statement ends by its timeout.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
    socket.resume();
  });
}
