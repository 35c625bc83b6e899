/** The port that all workers share: how it is chosen, and its socket, which the supervisor keeps open while no worker is running. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { bindPort, type BoundSocket } from '../../internals/node';

/** Returns `port`, or a free port if it is 0: with 0, each worker would listen on a different port. Rejects if the port is in use. */
export async function choosePort(host: string, port = 0): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const chosenPort = (server.address() as AddressInfo).port;
  await once(server.close(), 'close');
  return chosenPort;
}

/**
 * Binds the port without listening, so that connections are refused until the first worker listens. From then on, connections queue in the socket, even
 * while no worker is running, until the socket is closed in this process and in all workers.
 */
export async function reservePort(host: string, port: number): Promise<BoundSocket> {
  const { address, family } = await lookup(host);
  return bindPort(address, port, family);
}
