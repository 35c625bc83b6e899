/** PostgreSQL's own way to stop a statement: a request on a connection of its own, which needs no signing in and takes none of the server's places. */
import net from 'node:net';
import type { PoolClient } from 'pg';
import { wired } from './pginternals';

/** https://www.postgresql.org/docs/current/protocol-message-formats.html (CancelRequest) */
const CANCEL_REQUEST = 80_877_102;
const LENGTH = 16;

const TIMEOUT_MS = 1_000;

/**
 * Asks for the end of whatever the connection runs. The server hangs up once it has passed that on; a connection that runs something else
 * before might have that stopped instead.
 */
export function cancelStatement(client: PoolClient): Promise<void> {
  const { host, port, processID, secretKey, connection } = wired(client);
  const message = Buffer.alloc(LENGTH);
  [LENGTH, CANCEL_REQUEST, processID ?? 0, secretKey].forEach((value, index) => message.writeInt32BE(value, index * 4));
  return new Promise((resolve) => {
    // A name may stand for several servers; the statement runs on the one that is connected.
    const socket = host.startsWith('/')
      ? net.connect(`${host}/.s.PGSQL.${port}`)
      : net.connect(port, connection.stream.remoteAddress ?? host);
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.once('connect', () => socket.write(message));
    // What cannot be cancelled ends by its timeout.
    socket.on('error', () => undefined);
    socket.once('close', () => resolve());
    socket.resume();
  });
}
