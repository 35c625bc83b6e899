import { createServer, type AddressInfo } from 'node:net';

/** One that all workers take, those too that come later; with 0 each might get another. */
export function freePort(host: string): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
