/**
 * Access to undocumented behaviour of Node's HTTP server.
 *
 * - `stopAcceptingConnections` calls the `close` method of the base class. `http.Server.close` also closes idle connections, which resets those on which a
 *   client has just sent a request. A documented alternative is a `net.Server` that passes its connections to the HTTP server through the event `connection`;
 *   but an HTTP server that does not listen itself checks no timeouts of headers and requests.
 * - `deferSocketClose` replaces the method by which Node closes a connection after its last response, even if received data are unread. In that case the kernel
 *   resets the connection, and the client loses the response. Node has no option for a lingering close.
 * - `UpgradeFilteringRequest` replaces a property that Node's parser sets and reads. Otherwise a request with `Upgrade: h2c` would be dropped
 *   instead of served. The documented option `shouldUpgradeCallback` requires Node 22.21 or 24.9.
 *
 * Checked with node 20.20.2.
 */
import { IncomingMessage, type Server as HttpServer } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';

/**
 * Stops accepting connections without closing idle ones. The server emits `close` when all connections are closed. Then call `server.close()`, which stops
 * the timer that checks the timeouts of connections.
 */
export const stopAcceptingConnections = (server: HttpServer): void =>
  void NetServer.prototype.close.call(server);

/**
 * Makes Node close only the sending side of a connection when the last response is finished, by replacing the socket's `destroySoon`. The returned function
 * restores `destroySoon`, and closes the connection completely if Node has called it in the meantime. Call this before Node's own `finish` listener.
 */
export function deferSocketClose(socket: Socket): () => void {
  let isCloseDue = false;
  socket.destroySoon = () => {
    isCloseDue = true;
    socket.end();
  };
  return () => {
    delete (socket as Partial<Socket>).destroySoon;
    if (isCloseDue) socket.destroySoon();
  };
}

/** Request class whose subclasses decide whether Node emits `upgrade` or `connect`. Node's parser sets the property `upgrade` and then reads it. */
export abstract class UpgradeFilteringRequest extends IncomingMessage {
  declare private isUpgradeRequested: boolean | null;

  /** Whether Node emits the event `upgrade` or `connect` for the request instead of `request`. Called when all headers are known. */
  protected abstract acceptsUpgrade(): boolean;

  get upgrade(): boolean | null {
    return this.isUpgradeRequested && this.acceptsUpgrade();
  }

  set upgrade(value: boolean | null) {
    this.isUpgradeRequested = value;
  }
}
