/** Choice of the port that all workers share. */
import { createServer, type AddressInfo } from 'node:net';

/** Returns `port`, or a free one for 0, for which each worker would choose a different one. Rejects if it is in use. */
export function choosePort(host: string, port = 0): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const chosenPort = (server.address() as AddressInfo).port;
      server.close(() => resolve(chosenPort));
    });
  });
}
