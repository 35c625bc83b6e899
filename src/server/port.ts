/** The port of the server. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Returns `port`, or a free port if it is 0. Rejects if the port is in use, before a database is started or created. */
export async function choosePort(host: string, port = 0): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const chosenPort = (server.address() as AddressInfo).port;
  await once(server.close(), 'close');
  return chosenPort;
}
