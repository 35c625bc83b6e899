import { createServer, type AddressInfo } from 'node:net';

/** One that is free, for all workers: each would get another one for 0. Or `port`, if that is; throws where it is taken. */
export function freePort(host: string, port = 0): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const free = (server.address() as AddressInfo).port;
      server.close(() => resolve(free));
    });
  });
}
