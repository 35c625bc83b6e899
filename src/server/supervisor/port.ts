import { createServer, type AddressInfo } from 'node:net';

/** Throws where it is taken. With 0 it is one that all workers take, those too that come later; else each might get another. */
export function freePort(host: string, port: number): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const free = (server.address() as AddressInfo).port;
      server.close(() => resolve(free));
    });
  });
}
