/**
 * Undocumented behaviour of Node's HTTP server.
 *
 * - `stopAccepting` calls the method of the base class. `http.Server.close` also closes idle connections, and a drain would then reset those on which a
 *   request is already on its way. A `net.Server` that passes connections on by the event `connection` would be documented, but without `listening` an
 *   HTTP server checks no timeouts of headers and requests.
 * - `deferClose` replaces the method by which Node closes a connection after its last response, even if data are unread. The kernel answers unread data
 *   with a reset, and the client loses the response. Node has no option for a lingering close.
 * - `bindPort` returns a bound socket that does not listen. A `net.Server` accepts connections as soon as it listens, and cannot stop without closing its
 *   socket; the supervisor keeps a socket open and lets only its workers accept. Node's cluster module does the same, but closes the socket with the last worker.
 * - `UpgradeFilteredRequest` replaces a property that Node's parser sets and reads. Without it Node would drop a request with `Upgrade: h2c` instead of
 *   serving it. The option `shouldUpgradeCallback` needs Node 22.21 or 24.9.
 *
 * Checked with node 20.20.2.
 */
import { IncomingMessage, type Server as HttpServer } from 'node:http';
import net, { Server as NetServer, type Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';

/**
 * Stops accepting connections and leaves idle ones open. The server emits `close` once all connections are closed. Call `server.close()` then: it
 * stops the timer that checks the timeouts of connections.
 */
export const stopAccepting = (server: HttpServer): void => void NetServer.prototype.close.call(server);

/**
 * Replaces the close of a connection, which Node performs by `destroySoon` when the last response is finished, by its first half: the end of our
 * data. The returned function restores `destroySoon` and performs a close that was due meanwhile. Call this before Node's own listener of `finish`.
 */
export function deferClose(socket: Socket): () => void {
  let isDue = false;
  socket.destroySoon = () => {
    isDue = true;
    socket.end();
  };
  return () => {
    delete (socket as Partial<Socket>).destroySoon;
    if (isDue) socket.destroySoon();
  };
}

/** A socket that can be sent to a child process, which passes it to `server.listen()`. */
export interface BoundSocket {
  close(): void;
}

type CreateHandle = (address: string, port: number, addressType: number) => BoundSocket | number;

/** Binds a TCP socket. Throws an error with `code` and `syscall`, as `listen()` does. */
export function bindPort(address: string, port: number, family: number): BoundSocket {
  const { _createServerHandle: createHandle } = net as unknown as { _createServerHandle: CreateHandle };
  const handle = createHandle(address, port, family);
  if (typeof handle !== 'number') return handle;
  const code = getSystemErrorName(handle);
  throw Object.assign(new Error(`bind ${code} ${address}:${port}`), { code, syscall: 'bind' });
}

/** A request that decides itself whether Node emits `upgrade` or `connect` for it. Node's parser sets `upgrade` and then reads it. */
export abstract class UpgradeFilteredRequest extends IncomingMessage {
  declare private upgradeRequested: boolean | null;

  /** Called when all headers are known. */
  protected abstract acceptsUpgrade(): boolean;

  get upgrade(): boolean | null {
    return this.upgradeRequested && this.acceptsUpgrade();
  }

  set upgrade(value: boolean | null) {
    this.upgradeRequested = value;
  }
}
