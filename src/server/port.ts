/** The port of the server. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Checks that a port is free, or finds one for port 0, before a database is started or created. */
export async function choosePort(host: string, port = 0): Promise<number> {
  const server = createServer().listen(port, host);

  await once(server, 'listening');
  const chosenPort = (server.address() as AddressInfo).port;

  await once(server.close(), 'close');
  return chosenPort;
}
